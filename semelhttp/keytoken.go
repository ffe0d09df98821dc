package semelhttp

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/onetime"
)

// tokenKey says whose form tokens are the keys of a middleware, and where they stand.
type tokenKey struct {
	issuer  *onetime.Issuer
	purpose string
	header  string
	field   formField
}

// heldToken is a genuine token of a request.
type heldToken struct {
	onetime.Verified
	expired bool
	content string // digest of what the request says
}

// maxToken is longer than any token.
const maxToken = 256

// find returns the token of a request: in the header, else in a field of its form.
// found is false where there is none. What can be no token, such as two of them, is an
// empty one, so that it is refused as a forged one is.
func (k *tokenKey) find(r *http.Request, body *requestBody) (token string, found bool, err error) {
	if lines := r.Header[k.header]; len(lines) > 0 {
		return single(lines), true, nil
	}
	values, err := k.field.values(r, body, maxToken)
	return single(values), len(values) > 0 || err != nil, err
}

func single(values []string) string {
	if len(values) != 1 {
		return ""
	}
	return values[0]
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
