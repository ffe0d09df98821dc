package semelhttp

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/onetime"
)

// tokenKey says whose form tokens are the keys of a middleware, and where they stand.
type tokenKey struct {
	issuer        *onetime.Issuer
	purpose       string
	header, field string
}

// heldToken is a genuine token of a request.
type heldToken struct {
	onetime.Verified
	expired bool
	content string // digest of what the request says
}

// maxToken is longer than any token.
const maxToken = 256

var errFormCut = errors.New("the key of this service stands in a field of the form, and the form cannot be read; send it whole, as browsers do")

// find returns the token of a request: in the header, else in a field of its form.
// found is false where there is none. What can be no token, such as two of them, is an
// empty one, so that it is refused as a forged one is.
func (k *tokenKey) find(r *http.Request, body *requestBody) (token string, found bool, err error) {
	if lines := r.Header[k.header]; len(lines) > 0 {
		return single(lines), true, nil
	}
	read := k.urlencoded
	switch essence(contentType(r)) {
	case "application/x-www-form-urlencoded":
	case "multipart/form-data":
		read = k.multipart
	default:
		return "", false, nil
	}
	if contentCoding(r) != "" {
		return "", true, errKeyEncoded
	}
	values, err := read(contentType(r), body)
	return single(values), len(values) > 0 || err != nil, err
}

func single(values []string) string {
	if len(values) != 1 {
		return ""
	}
	return values[0]
}

// urlencoded returns the values of the field in a form of names and values.
func (k *tokenKey) urlencoded(_ string, body *requestBody) (values []string, err error) {
	text, err := body.flatten()
	if err != nil {
		return nil, err
	}
	for pair := range bytes.SplitSeq(text, []byte("&")) {
		name, value, _ := bytes.Cut(pair, []byte("="))
		if k.named(name) {
			values = append(values, unescaped(value))
		}
	}
	return values, nil
}

// named reports whether an escaped name is that of the field.
func (k *tokenKey) named(name []byte) bool {
	const longest = len("%00") // of one byte
	if len(name) > longest*len(k.field) {
		return false
	}
	plain, err := url.QueryUnescape(string(name))
	return err == nil && plain == k.field
}

// unescaped is a value, or nothing for one that can be no token.
func unescaped(value []byte) string {
	if len(value) > maxToken {
		return ""
	}
	plain, err := url.QueryUnescape(string(value))
	if err != nil {
		return ""
	}
	return plain
}

// multipart returns the values of the field in a form of parts; files are none.
func (k *tokenKey) multipart(contentType string, body *requestBody) (values []string, err error) {
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
		if part.FormName() != k.field || part.FileName() != "" {
			continue
		}
		value, err := io.ReadAll(io.LimitReader(part, maxToken))
		if err != nil {
			return nil, errFormCut
		}
		values = append(values, string(value))
	}
}

// verifyToken makes the request's token its key. What is wrong with it is not told.
func (x *exchange) verifyToken() *Problem {
	k := x.m.keys.token
	v, err := k.issuer.Verify(x.key.text, k.purpose, x.principal)
	expired := errors.Is(err, onetime.ErrExpired)
	if err != nil && !expired {
		p := NewProblem(CodeTokenRefused)
		return &p
	}
	x.memory.token = &heldToken{Verified: v, expired: expired}
	return nil
}

// digestContent keeps what was sent with the token. It is no part of the fingerprint: a
// form that was refused and corrected comes with the same token. A route that stands for
// method and path counts in their place.
func (x *exchange) digestContent() *Problem {
	x.memory.identity.add(x.route)
	sum, err := x.memory.token.Digest(x.memory.identity.input())
	if err != nil { // only an input that was never set
		p := NewProblem(CodeTokenRefused)
		return &p
	}
	x.memory.token.content = base64.RawURLEncoding.EncodeToString(sum[:])
	return nil
}

// spend makes op the operation that spends the request's token: one for all routes, or
// the token would be good once on each of those that take its purpose.
func (x *exchange) spend(op *semel.Op) {
	op.Key = x.memory.token.Key()
	op.Input, op.Former = semel.NoInput, nil
	op.Retention = max(op.Retention, x.memory.token.Retention())
	if x.m.engine != nil { // a box counts no attempts
		op.MaxAttempts = -1 // a form may be corrected as often as it takes
	}
}

// timely returns [onetime.ErrExpired] for an expired token under which nothing was done.
func (t *heldToken) timely(ctx context.Context, store semel.Store, key semel.Key) error {
	if t == nil || !t.expired {
		return nil
	}
	used, err := t.UsedBefore(ctx, store, key)
	if err == nil && !used {
		err = onetime.ErrExpired
	}
	return err
}

// The digest of the content is kept beside a recorded answer as a header field that is
// never sent, and in the remark of a tombstone.
const (
	contentField  = "Semel-Content"
	contentRemark = "content"
)

// remark adds the digest of the content to what a tombstone says.
func (t *heldToken) remark(text []byte) []byte {
	if t == nil {
		return text
	}
	return append(text, " "+contentRemark+"="+t.content...)
}

// takeContent takes the digest out of a recorded answer.
func (r *Response) takeContent() string {
	content := r.find(contentField)
	if content != "" {
		r.Header = slices.DeleteFunc(r.Header, func(p HeaderPair) bool { return p.Name == contentField })
	}
	return content
}

// differs reports whether something else was recorded than what came with the token. A
// record without a digest, such as one that an operator has decided, is for any content.
func (t *heldToken) differs(recorded string) bool {
	return t != nil && recorded != "" && recorded != t.content
}
