package semelhttp

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
)

var errFormCut = errors.New("the key of this service stands in a field of the form, and the form cannot be read; send it whole, as browsers do")

// formField is the name of a field of HTML forms.
type formField string

// values returns the field's values in the form that r brings; files are none, and who
// brings no form has none. Of a value with more than longest bytes some are missing, but
// longest+1 are there. What is wrongly escaped is empty.
func (f formField) values(r *http.Request, body *requestBody, longest int) ([]string, error) {
	read := f.urlencoded
	switch essence(contentType(r)) {
	case "application/x-www-form-urlencoded":
	case "multipart/form-data":
		read = f.multipart
	default:
		return nil, nil
	}
	if contentCoding(r) != "" {
		return nil, errKeyEncoded
	}
	return read(contentType(r), body, longest)
}

// urlencoded reads a form of names and values.
func (f formField) urlencoded(_ string, body *requestBody, longest int) (values []string, err error) {
	text, err := body.flatten()
	if err != nil {
		return nil, err
	}
	for pair := range bytes.SplitSeq(text, []byte("&")) {
		name, value, _ := bytes.Cut(pair, []byte("="))
		if f.named(name) {
			values = append(values, unescaped(value, longest))
		}
	}
	return values, nil
}

const longestEscape = len("%00") // of one byte

// named reports whether an escaped name is that of the field.
func (f formField) named(name []byte) bool {
	if len(name) > longestEscape*len(f) {
		return false
	}
	plain, err := url.QueryUnescape(string(name))
	return err == nil && plain == string(f)
}

func unescaped(value []byte, longest int) string {
	if len(value) > longestEscape*longest { // longer, however it is written
		return string(value[:longest+1])
	}
	plain, err := url.QueryUnescape(string(value))
	if err != nil {
		return ""
	}
	return plain
}

// multipart reads a form of parts.
func (f formField) multipart(contentType string, body *requestBody, longest int) (values []string, err error) {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil || params["boundary"] == "" {
		return nil, errFormCut
	}
	body.rewind()
	defer body.rewind()
	form := multipart.NewReader(body, params["boundary"])
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			return values, nil
		}
		if err != nil {
			return nil, errFormCut
		}
		if part.FormName() != string(f) || part.FileName() != "" {
			continue
		}
		value, err := io.ReadAll(io.LimitReader(part, int64(longest)+1))
		if err != nil {
			return nil, errFormCut
		}
		values = append(values, string(value))
	}
}
