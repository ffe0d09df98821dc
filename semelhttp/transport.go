package semelhttp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Transport is an [http.RoundTripper] that gives each POST and PATCH a key, made
// above its retry loop, and sends the same bytes with the same key again while
// there is no answer: after a network error, a lost or cut answer, 429, 503, and
// a problem whose retry member says same-key, such as in-progress. It waits as
// Retry-After asks, and no longer than [TransportOptions.Horizon]. Every other
// answer is returned as it is, a service's own 409 included.
//
// The key is, in this order: the one in the request's key header or body field;
// that of [WithKey]; inside a semel operation the one derived from it
// ([WithLabel]); a new one. GET, HEAD, OPTIONS, TRACE, CONNECT and upgrades pass
// untouched.
//
// If there is no answer at all, the error is a [*NoAnswerError], which holds the
// key. Redirects of an [http.Client] keep the key, unless they lead to another
// origin.
//
// net/http's own Transport sends a request with the header Idempotency-Key or
// X-Idempotency-Key again by itself when a reused connection dies. A server that
// honours keys makes that harmless; for one that ignores them say
// [TransportOptions.SingleTry].
//
// A Transport may be used concurrently.
type Transport struct {
	base http.RoundTripper
	opts TransportOptions
}

// NewTransport returns a transport over base; nil means [http.DefaultTransport].
// All contradictory options are refused at once, each with its fix.
func NewTransport(base http.RoundTripper, opts *TransportOptions) (*Transport, error) {
	t := &Transport{base: base, opts: opts.withDefaults()}
	if t.base == nil {
		t.base = http.DefaultTransport
	}
	if err := t.opts.validate(); err != nil {
		return nil, err
	}
	return t, nil
}

// CloseIdleConnections does so for the transport beneath, if it can.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// RoundTrip is [http.RoundTripper]'s.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	op := redirectedFrom(req)
	switch {
	case op != nil && (op.origin != originOf(req.URL) || !takesKey(req.Method)):
		return t.pass(op, req)
	case op == nil && !t.guards(req):
		return t.base.RoundTrip(req)
	}
	x, err := t.prepare(op, req)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	return x.run()
}

// guards reports whether a request is to have a key.
func (t *Transport) guards(req *http.Request) bool {
	switch {
	case !takesKey(req.Method) || req.Header.Get("Upgrade") != "" || req.URL.Host == "":
		return false
	case req.URL.Scheme != "http" && req.URL.Scheme != "https":
		return false
	}
	return slices.Contains(t.opts.Methods, req.Method) || from(req.Context(), givenKey{}) != "" || len(t.lines(req)) > 0
}

// lines are the lines of the key header, under whatever spelling.
func (t *Transport) lines(req *http.Request) (lines []string) {
	if t.opts.Preset.Header == "" {
		return nil
	}
	for name, values := range req.Header {
		if strings.EqualFold(name, t.opts.Preset.Header) {
			lines = append(lines, values...)
		}
	}
	return lines
}

// pass sends a redirected request without the key of its operation: to another
// origin, or with a method that takes none.
func (t *Transport) pass(op *operation, req *http.Request) (*http.Response, error) {
	out := req.Clone(op.context(req.Context()))
	t.setKey(out.Header, "")
	resp, err := t.base.RoundTrip(out)
	if resp != nil {
		resp.Request = out
	}
	return resp, err
}

// setKey puts a key into a header, or takes it out.
func (t *Transport) setKey(h http.Header, wire string) {
	name := t.opts.Preset.Header
	if name == "" {
		return
	}
	for have := range h {
		if strings.EqualFold(have, name) {
			delete(h, have)
		}
	}
	if wire == "" {
		return
	}
	if t.opts.SingleTry {
		name = strings.ToLower(name) // a name by which net/http does not know that it may send again
	}
	h[name] = []string{wire}
}

// operation is one logical operation: what is the same over all its tries and
// redirects.
type operation struct {
	key    string
	wire   string // the key as it goes into the header
	origin string
	until  time.Time // no try begins later
}

type operationKey struct{}

// context lets the operation be found again from an answer's request, which is
// all that an [http.Client] hands on when it follows a redirect.
func (op *operation) context(ctx context.Context) context.Context {
	return context.WithValue(ctx, operationKey{}, op)
}

func operationFrom(ctx context.Context) *operation {
	op, _ := ctx.Value(operationKey{}).(*operation)
	return op
}

func redirectedFrom(req *http.Request) *operation {
	if req.Response == nil || req.Response.Request == nil {
		return nil
	}
	return operationFrom(req.Response.Request.Context())
}

// originOf is scheme, host and port (RFC 6454).
func originOf(u *url.URL) string {
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// prepare reads what all tries share. It closes the body of req if it returns no
// error.
func (t *Transport) prepare(op *operation, req *http.Request) (*tries, error) {
	body, err := t.takeBody(req)
	if err != nil {
		return nil, err
	}
	if op == nil {
		if op, err = t.begin(req, body); err != nil {
			return nil, err
		}
	}
	if field := t.opts.Preset.BodyField; field != "" {
		if body.data, err = withMember(body.data, field, op.key); err != nil {
			return nil, err
		}
	}
	closeBody(req)
	template := req.Clone(op.context(req.Context()))
	template.Body, template.GetBody, template.Response = nil, nil, nil
	t.setKey(template.Header, op.wire)
	return &tries{t: t, op: op, template: template, body: body}, nil
}

// begin starts a new operation.
func (t *Transport) begin(req *http.Request, body *sentBody) (*operation, error) {
	op := &operation{origin: originOf(req.URL), until: time.Now().Add(t.opts.Horizon)}
	var err error
	if lines := t.lines(req); len(lines) > 0 {
		op.key, op.wire, err = t.given(lines)
	} else if op.key, err = t.findKey(req, body); err == nil {
		op.wire = t.opts.Preset.wire(op.key)
	}
	if err != nil {
		return nil, err
	}
	return op, t.opts.Preset.check(op.key)
}

// given reads the key that the caller put into the header; it is sent as it came.
func (t *Transport) given(lines []string) (key, wire string, err error) {
	if len(lines) != 1 {
		return "", "", errors.New("semelhttp: the request has several key headers; set one")
	}
	wire = strings.Trim(lines[0], " \t")
	key = wire
	if strings.HasPrefix(wire, `"`) {
		if key, err = parseStringItem(wire); err != nil {
			return "", "", errors.Join(errors.New("semelhttp: the request's key header is unusable"), err)
		}
	}
	return key, wire, nil
}

var errNoLabel = errors.New("semelhttp: this call is made inside a semel operation and has no name; " +
	"name it with semelhttp.WithLabel(ctx, label), another label for each call, so that it has the same key on every attempt; or give it a key with WithKey")

// findKey returns the key that is not in a header.
func (t *Transport) findKey(req *http.Request, body *sentBody) (string, error) {
	ctx := req.Context()
	key := from(ctx, givenKey{})
	if field := t.opts.Preset.BodyField; field != "" {
		inBody, err := memberOf(body.data, field)
		switch {
		case err != nil:
			return "", err
		case inBody != "" && key != "" && inBody != key:
			return "", errors.New("semelhttp: the body and WithKey have different keys; give one of them")
		case inBody != "":
			return inBody, nil
		}
	}
	if key != "" {
		return key, nil
	}
	run := runOf(ctx)
	if run == nil {
		return t.opts.NewKey(), nil
	}
	label := from(ctx, givenLabel{})
	if label == "" && t.opts.Label != nil {
		label = t.opts.Label(req)
	}
	if label == "" {
		return "", errNoLabel
	}
	return run.Derive(label), nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}
