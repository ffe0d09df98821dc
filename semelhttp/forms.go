package semelhttp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"html/template"
	"net/http"
	"time"

	"github.com/semel-go/semel/onetime"
)

// Forms hands the tokens of forms out over HTTP and takes them back: a token for the
// page that shows a form, an endpoint for scripts, and the key of the middleware that
// guards the handler of the form. See package onetime for what a token is.
//
//	forms, err := semelhttp.NewForms(issuer, semelhttp.CookiePrincipal("session"), nil)
//
//	field, err := forms.Field(r, "order") // for the page's template, inside <form>
//
//	guard, err := semelhttp.New(engine, semelhttp.CookiePrincipal("session"), &semelhttp.Options{
//		Keys:       []semelhttp.KeySource{forms.Key("order")},
//		RequireKey: true,
//		Wait:       10 * time.Second,
//	})
//
// All methods may be called concurrently.
type Forms struct {
	issuer    *onetime.Issuer
	principal PrincipalFunc
	opts      FormsOptions
}

// FormsOptions are the settings of [Forms]. The zero value of each field means its
// default.
type FormsOptions struct {
	// Header is the header in which scripts send the token. Default Form-Token.
	Header string
	// Field is the name of the hidden field: letters, digits, - and _. Default
	// form_token.
	Field string
	// Anonymous is the rule for callers without a principal, the same as that of the
	// middleware: see [Options.Anonymous]. Default none: they get no token.
	Anonymous PrincipalFunc
	// Challenge is the WWW-Authenticate of a caller without a principal. Default Bearer.
	Challenge string
	// ProblemBase is the page that explains the problems. Default [DefaultProblemBase].
	ProblemBase string
}

// ErrNoPrincipal: nobody knows whose request it is, so it gets no token.
var ErrNoPrincipal = errors.New("semelhttp: a form token belongs to a user, and the request has no principal; let the user log in first, or set Anonymous")

// NewForms returns forms whose tokens belong to the principal of the request that asks
// for them. It has to be the function of the middleware that takes them, or every token
// is refused. opts may be nil. All mistakes in opts are reported at once.
func NewForms(issuer *onetime.Issuer, principal PrincipalFunc, opts *FormsOptions) (*Forms, error) {
	f := &Forms{issuer: issuer, principal: principal}
	if opts != nil {
		f.opts = *opts
	}
	o := &f.opts
	o.Header = http.CanonicalHeaderKey(cmp.Or(o.Header, "Form-Token"))
	o.Field = cmp.Or(o.Field, "form_token")
	o.Challenge = cmp.Or(o.Challenge, "Bearer")
	err := errors.Join(
		refuse(issuer == nil, "the issuer is nil; make one with onetime.NewIssuer"),
		refuse(principal == nil, "principal is nil: whose forms are they? Use the function of the middleware"),
		refuse(!isToken(o.Header), "Header %q is no header name", o.Header),
		refuse(!isFieldName(o.Field), "Field %q is no plain name; use letters, digits, - and _", o.Field),
	)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// isFieldName is true for a name that needs no escaping in any form.
func isFieldName(s string) bool {
	for i := range len(s) {
		letter := 'a' <= s[i]|0x20 && s[i]|0x20 <= 'z'
		if !letter && !isDigit(s[i]) && s[i] != '-' && s[i] != '_' {
			return false
		}
	}
	return s != ""
}

// Key is the place of the token of a form, for [Options.Keys]. A request whose token is
// genuine runs its handler once:
//
//   - An answer of 2xx or 3xx spends the token: it is recorded, and replayed to the same
//     form again. Another form with a spent token is refused, 409 token-used.
//   - An answer of 4xx or 5xx gives the token back, so that a corrected form passes. A
//     handler that shows its mistakes with 200 or by a redirect says so itself:
//     semelhttp.Decide(ctx, semel.Retryable(err)).
//   - A forged token, another user's and one of another purpose are refused alike, 403
//     token-refused; an expired one that was not used, 403 token-expired.
//
// The token stands in the header, else in the field of an urlencoded or multipart form;
// both are read before it is known whether they hold one, so MaxRequestBody counts for
// all guarded requests. Where a request has a token, other keys in it do not count; what
// the options say of the form of keys is not for tokens. A middleware takes the tokens of
// one purpose.
func (f *Forms) Key(purpose string) KeySource {
	k := &tokenKey{issuer: f.issuer, purpose: purpose, header: f.opts.Header, field: formField(f.opts.Field)}
	return KeySource{header: f.opts.Header, token: k, err: onetime.CheckPurpose(purpose)}
}

// Issue returns a new token for whoever sent the request. Errors: [ErrNoPrincipal], or
// what is wrong about the purpose.
func (f *Forms) Issue(r *http.Request, purpose string) (token string, expires time.Time, err error) {
	who, ok := callerOf(r, f.principal, f.opts.Anonymous)
	if !ok {
		return "", time.Time{}, ErrNoPrincipal
	}
	return f.issuer.Issue(purpose, who)
}

// Field returns a hidden field with a new token, for html/template. The page that shows
// it must not be cached: it is one user's, and for one form that is sent once.
func (f *Forms) Field(r *http.Request, purpose string) (template.HTML, error) {
	token, _, err := f.Issue(r, purpose)
	if err != nil {
		return "", err
	}
	field := fmt.Sprintf(`<input type="hidden" name="%s" value="%s">`, html.EscapeString(f.opts.Field), html.EscapeString(token))
	return template.HTML(field), nil
}

// Endpoint returns a handler that answers GET and POST with a new token, as JSON:
//
//	{"token": "…", "expires_at": "2030-01-02T15:04:05Z", "expires_in": 43200, "header": "Form-Token", "field": "form_token"}
//
// Nobody may cache it. A caller without a principal gets 401 no-principal. The error
// says what is wrong about the purpose.
func (f *Forms) Endpoint(purpose string) (http.Handler, error) {
	if err := onetime.CheckPurpose(purpose); err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodPost {
			w.Header().Set("Allow", "GET, POST")
			http.Error(w, "ask for a token with GET or POST", http.StatusMethodNotAllowed)
			return
		}
		f.answer(w, r, purpose)
	}), nil
}

// issued is the answer of the endpoint.
type issued struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expires_at"`
	ExpiresIn int64     `json:"expires_in"`
	Header    string    `json:"header"`
	Field     string    `json:"field"`
}

func (f *Forms) answer(w http.ResponseWriter, r *http.Request, purpose string) {
	token, expires, err := f.Issue(r, purpose)
	if err != nil {
		p := NewProblem(CodeNoPrincipal) // the purpose was checked
		p.Challenge, p.Base = f.opts.Challenge, f.opts.ProblemBase
		WriteProblem(w, p)
		return
	}
	body, err := json.Marshal(issued{
		Token: token, ExpiresAt: expires, ExpiresIn: int64(f.issuer.Lifetime() / time.Second),
		Header: f.opts.Header, Field: f.opts.Field,
	})
	if err != nil { // strings and numbers always encode
		http.Error(w, "the token cannot be encoded", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.Write(body)
}
