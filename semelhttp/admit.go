package semelhttp

import (
	"errors"
	"io"
	"net/http"

	"github.com/semel-go/semel/internal/canonjson"
)

// origin says where the key of a request comes from.
type origin uint8

const (
	noKey origin = iota
	sent
	derived
	issuedToken
)

// admit finds out what is asked for before anything is claimed: signature, key,
// principal, body. It returns the problem that refuses the request. A request
// without a problem and without a key is none to guard.
func (x *exchange) admit(found bool, keyErr error) *Problem {
	if x.m.bodyFirst {
		return x.admitByBody(found, keyErr)
	}
	if p := x.findKey(found, keyErr); p != nil || x.from == noKey {
		return p
	}
	if p := x.findPrincipal(); p != nil {
		return p
	}
	if p := x.readBody(); p != nil {
		return p
	}
	return x.identify()
}

// admitByBody is admit where the body comes first. The principal is asked before
// that, whose share of the memory it takes; nobodies have one together.
func (x *exchange) admitByBody(found bool, keyErr error) *Problem {
	nobody := x.findPrincipal()
	if p := x.readVerified(); p != nil {
		return p
	}
	if p := x.findKey(found, keyErr); p != nil || x.from == noKey {
		return p
	}
	if nobody != nil {
		return nobody
	}
	if x.from == issuedToken {
		return x.identifyToken()
	}
	return x.identify()
}

// identifyToken is identify for a request with a form token.
func (x *exchange) identifyToken() *Problem {
	if p := x.verifyToken(); p != nil {
		return p
	}
	if p := x.identify(); p != nil {
		return p
	}
	return x.digestContent()
}

// readVerified reads the body of a request whose signature or key needs it.
func (x *exchange) readVerified() *Problem {
	if p := x.readBody(); p != nil {
		return p
	}
	text, err := x.body.flatten()
	if err != nil {
		return problemOfBody(err)
	}
	if x.m.opts.Verify != nil && x.m.opts.Verify(x.r, text) != nil {
		p := NewProblem(CodeInvalidSignature)
		p.Challenge = x.m.opts.Challenge
		return &p
	}
	return nil
}

// findKey completes the search that began in the headers.
func (x *exchange) findKey(found bool, err error) *Problem {
	if err == nil && x.m.bodyFirst {
		found, err = x.search(found)
	}
	switch {
	case err == errOverloaded:
		return problemOfBody(err)
	case err != nil:
		p := NewProblem(CodeInvalidKey)
		p.Detail = "The key cannot be used: " + err.Error() + "."
		return &p
	case x.from == issuedToken:
	case found:
		x.from = sent
	case x.m.opts.Derived != nil:
		x.from = derived
	case x.m.opts.RequireKey:
		p := missingKey(x.m.opts.Keys)
		return &p
	}
	return nil
}

// search looks for what needs the body: a form token, which counts before any key, and
// a key that is in no header.
func (x *exchange) search(inHeader bool) (found bool, err error) {
	if k := x.m.keys.token; k != nil {
		token, found, err := k.find(x.r, &x.body)
		if found || err != nil {
			x.key, x.from = sentKey{text: token}, issuedToken
			return found, err
		}
	}
	if inHeader {
		return true, nil
	}
	if x.key, found, err = x.m.keys.findInForm(x.r, &x.body); found {
		return found, err
	}
	text, err := x.body.flatten()
	if err != nil {
		return false, err
	}
	x.key, found, err = x.m.keys.findInBody(x.r, text)
	return found, err
}

func (x *exchange) findPrincipal() *Problem {
	principal, ok := x.m.principalOf(x.r)
	if ok {
		x.principal = principal
		return nil
	}
	p := NewProblem(CodeNoPrincipal)
	p.Challenge = x.m.opts.Challenge
	return &p
}

// readBody reads the body whole. A body that does not arrive makes no claim.
func (x *exchange) readBody() *Problem {
	limit := x.m.opts.MaxRequestBody
	x.body.pool, x.body.purse = x.m.blocks, x.m.shares.purseOf(x.principal)
	if x.r.ContentLength > limit {
		return problemOfBody(errTooLarge)
	}
	if x.r.Body == nil || x.r.Body == http.NoBody {
		return nil
	}
	bound := x.boundBody()
	err := x.body.fill(x.r.Body, limit)
	if err == nil {
		bound.lift()
		return nil
	}
	x.body.rest = restOf(x.r.Body, err)
	return problemOfBody(err)
}

// restOf is what follows the part of a body that was read before err.
func restOf(body io.Reader, err error) io.Reader {
	if err == errTooLarge || err == errOverloaded {
		return body
	}
	return failedReader{err}
}

// failedReader fails as the body did.
type failedReader struct{ err error }

func (f failedReader) Read([]byte) (int, error) { return 0, f.err }

// identify makes the input of the request's fingerprint, and those by which it may
// be known from before.
func (x *exchange) identify() *Problem {
	if x.m.opts.PerRoute != nil {
		x.route = x.m.opts.PerRoute(x.r)
	}
	d := &x.memory.identity
	d.begin(x.r, x.route)
	now, err := x.m.contents[0].contentOf(x.r, &x.body)
	if err != nil {
		return problemOfBody(err)
	}
	d.addContent(now)
	for _, rule := range x.m.contents[1:] {
		former, err := rule.contentOf(x.r, &x.body)
		if err == errOverloaded {
			return problemOfBody(err)
		}
		if err == nil && former != now { // by a rule that refuses it, it has no record
			x.former = append(x.former, d.inputWith(former))
		}
	}
	return nil
}

// problemOfBody says what is wrong about a body that was not read or understood.
func problemOfBody(err error) *Problem {
	_, outerLimit := errors.AsType[*http.MaxBytesError](err)
	code := CodeIncompleteBody
	switch {
	case err == errTooLarge || outerLimit:
		code = CodePayloadTooLarge
	case err == errOverloaded:
		code = CodeOverloaded
	case errors.Is(err, canonjson.ErrDuplicate):
		code = CodeAmbiguousBody
	}
	p := NewProblem(code)
	return &p
}
