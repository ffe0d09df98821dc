package semelhttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

var (
	errKeyNotJSON = errors.New("the key of this service stands in a JSON body, and the body is no JSON")
	errKeyEncoded = errors.New("the key of this service stands in the body; send the body without a content coding")
	errKeyTwice   = errors.New("the body names the place of the key twice; send it once")
	errKeyKind    = errors.New("the key in the body is neither a string nor an integer")
	errKeyText    = errors.New("the key in the body is no valid Unicode text")
	errKeyBlank   = errors.New("the key in the body is empty; send a new one for each operation")
)

// findInBody returns the key in the body, at the first of the places that exists.
func (k *keyReader) findInBody(r *http.Request, text []byte) (key sentKey, found bool, err error) {
	if len(k.bodies) == 0 || len(text) == 0 {
		return key, false, nil
	}
	if contentCoding(r) != "" {
		return key, true, errKeyEncoded
	}
	if !json.Valid(text) {
		if isJSONType(contentType(r)) {
			return key, true, errKeyNotJSON
		}
		return key, false, nil // a form, say
	}
	for _, source := range k.bodies {
		key.text, found, err = keyAt(text, source.path)
		if err == nil && found {
			err = k.check(key.text)
		}
		if found || err != nil {
			return key, true, err
		}
	}
	return key, false, nil
}

// keyAt returns the key at the end of path in valid JSON; found is false where
// path leads nowhere.
func keyAt(text []byte, path []string) (key string, found bool, err error) {
	w := pointerWalk{json.NewDecoder(bytes.NewReader(text))}
	w.dec.UseNumber()
	value, found, err := w.find(path)
	if !found || err != nil {
		return "", found, err
	}
	key, err = keyOf(value)
	return key, true, err
}

// keyOf makes a key of the first token of a value.
func keyOf(value json.Token) (string, error) {
	switch v := value.(type) {
	case string:
		switch {
		case strings.ContainsRune(v, utf8.RuneError): // as which half a surrogate pair and what is no UTF-8 are read
			return "", errKeyText
		case strings.TrimSpace(v) == "":
			return "", errKeyBlank
		}
		return v, nil
	case json.Number:
		if s := v.String(); s != "-0" && !strings.ContainsAny(s, ".eE") {
			return s, nil
		}
	}
	return "", errKeyKind
}

// pointerWalk looks for one value of a JSON text and keeps nothing of what it
// passes. It recurses as deep as the path, not as the text.
type pointerWalk struct{ dec *json.Decoder }

// find consumes one value and returns the first token of what is at the end of
// path in it.
func (w pointerWalk) find(path []string) (value json.Token, found bool, err error) {
	tok, err := w.dec.Token()
	switch {
	case err != nil:
		return nil, false, err
	case len(path) == 0:
		return tok, true, w.leave(tok)
	case tok == json.Delim('{'):
		return w.member(path)
	case tok == json.Delim('['):
		return w.element(path)
	}
	return nil, false, nil
}

// member looks through an object to its end, since a name may come twice.
func (w pointerWalk) member(path []string) (value json.Token, found bool, err error) {
	seen := false
	for w.dec.More() {
		name, err := w.dec.Token()
		switch {
		case err != nil:
			return nil, false, err
		case name != path[0]:
			err = w.skip()
		case seen:
			err = errKeyTwice
		default:
			seen = true
			value, found, err = w.find(path[1:])
		}
		if err != nil {
			return nil, false, err
		}
	}
	_, err = w.dec.Token()
	return value, found, err
}

func (w pointerWalk) element(path []string) (value json.Token, found bool, err error) {
	for i := 0; w.dec.More(); i++ {
		if strconv.Itoa(i) == path[0] {
			value, found, err = w.find(path[1:])
		} else {
			err = w.skip()
		}
		if err != nil {
			return nil, false, err
		}
	}
	_, err = w.dec.Token()
	return value, found, err
}

// skip consumes one value.
func (w pointerWalk) skip() error {
	tok, err := w.dec.Token()
	if err != nil {
		return err
	}
	return w.leave(tok)
}

// leave consumes the rest of the value that begins with tok.
func (w pointerWalk) leave(tok json.Token) error {
	for depth := 0; ; {
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		var err error
		if tok, err = w.dec.Token(); err != nil {
			return err
		}
	}
}
