package semelhttp

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/semel-go/semel/internal/canonjson"
)

// KeySource is a place of a request where its key may stand. What is wrong with
// one is reported by [New]. The zero KeySource is refused.
type KeySource struct {
	header  string // canonical name; or else
	pointer string // into the body
	path    []string
	field   formField // of a form; or else
	segment string    // a wildcard of the pattern, without its braces; or else
	sender  string    // whose webhook it is; such a key is taken as it comes, and not echoed
	token   *tokenKey // whose form token it is, which may stand in a field of the body as well
	err     error
}

// KeyHeader is a header that holds a key: see [ParseKey]. Two headers with
// different keys are refused.
func KeyHeader(name string) KeySource {
	return KeySource{header: http.CanonicalHeaderKey(name), err: refuse(!isToken(name), "Keys: %q is no header name", name)}
}

// KeyBody is a value of the JSON body, named by a JSON pointer (RFC 6901), such as
// /event/id. It has to be a string or an integer that stands there once; anything
// else there is refused with invalid-key. So is a body whose content coding hides
// the place, and one of a JSON type that is no JSON. Bodies are read before it is
// known whether they hold a key, so MaxRequestBody counts for all guarded requests.
func KeyBody(pointer string) KeySource {
	s := KeySource{pointer: pointer}
	var err error
	if s.path, err = canonjson.ParsePointer(pointer); err != nil {
		s.err = fmt.Errorf("semelhttp: Keys: %w", err)
	}
	if pointer == "" {
		s.err = errors.New("semelhttp: Keys: the pointer names the whole body; name the value that is the key, such as /event/id")
	}
	return s
}

// KeyForm is the value of a field of an HTML form, urlencoded or multipart: what a page
// can send that sets no header, such as the native submission of the JavaScript client.
// A blank one, one that is no valid UTF-8, one that comes twice and a form with a content
// coding are refused with invalid-key; files are no values, and a body that is no form
// has no key. It is not echoed. Bodies are read as for [KeyBody].
func KeyForm(field string) KeySource {
	return KeySource{field: formField(field), err: refuse(field == "", "Keys: a field of a form needs a name, such as idempotency_key")}
}

// KeyPath is the value of a wildcard of the pattern that [http.ServeMux] matched, as
// [http.Request.PathValue] has it: KeyPath("poll") for POST /polls/{poll}/votes. It
// is decoded, and not echoed. One that is blank or no valid UTF-8 is refused with
// invalid-key. So that a client cannot choose another key, let it be the only source.
//
// It is for middleware around the handler of a pattern: around the mux, where no
// pattern has matched, no request has a key, which is why [Options.RequireKey] has to
// be set. Where [Options.PerRoute] names the route, the path is not compared: other
// wildcards that tell operations apart belong into that name.
func KeyPath(name string) KeySource {
	return KeySource{segment: name, err: refuse(name == "" || strings.ContainsAny(name, "{}/."), "Keys: %q is no name of a wildcard; write poll for {poll}", name)}
}

func (s KeySource) check() error {
	if s.err == nil && s.place() == "" {
		return errors.New("semelhttp: Keys: a source is empty; make it with KeyHeader, KeyBody, KeyForm, KeyPath, KeyWebhook or Forms.Key")
	}
	return s.err
}

func (s KeySource) place() string {
	switch {
	case s.inPath():
		return "{" + s.segment + "}"
	case s.inForm():
		return string(s.field) + "="
	}
	return s.header + s.pointer
}

// where is the place in words.
func (s KeySource) where() string {
	switch {
	case s.inPath():
		return "in the path, at {" + s.segment + "}"
	case s.inForm():
		return "in the form field " + string(s.field)
	case s.pointer != "":
		return "at " + s.pointer + " of the JSON body"
	}
	return "in the header " + s.header
}

// missingKey is the problem of a request that has no key in any of the places.
func missingKey(places []KeySource) Problem {
	p := NewProblem(CodeMissingKey)
	var where []string
	for _, s := range places {
		where = append(where, s.where())
	}
	switch {
	case slices.ContainsFunc(places, func(s KeySource) bool { return s.token != nil }):
		p.Detail = "This operation needs the token of its form: load the form, and send it with the token that came with it."
	case !slices.ContainsFunc(places, KeySource.isKeyHeader):
		p.Detail = "This operation needs a key, the same one in every retry: send it " + strings.Join(where, ", or ") + "."
	}
	return p
}

func (s KeySource) same(other KeySource) bool { return s.place() == other.place() }
func (s KeySource) isKeyHeader() bool         { return s.header != "" && s.sender == "" }
func (s KeySource) inPath() bool              { return s.segment != "" }
func (s KeySource) inForm() bool              { return s.field != "" }
func (s KeySource) inBody() bool              { return s.header == "" && !s.inPath() }
func (s KeySource) needsBody() bool           { return s.inBody() || s.token != nil }

// keyReader reads keys as the options say.
type keyReader struct {
	headers  []KeySource
	segments []KeySource
	fields   []formField
	bodies   []KeySource
	token    *tokenKey // nil: no form tokens
	strict   bool
	min, max int
	format   func(string) error
}

func newKeyReader(o *Options) keyReader {
	k := keyReader{strict: o.StrictKeys, min: o.MinKeyLength, max: o.MaxKeyLength, format: o.KeyFormat}
	for _, source := range o.Keys {
		switch {
		case source.token != nil:
			k.token = source.token
		case source.inPath():
			k.segments = append(k.segments, source)
		case source.inForm():
			k.fields = append(k.fields, source.field)
		case source.inBody():
			k.bodies = append(k.bodies, source)
		default:
			k.headers = append(k.headers, source)
		}
	}
	return k
}

// sentKey is a key as it came: decoded, and the field value to echo, if it is. A form
// token is verified before it counts.
type sentKey struct {
	text string
	wire []string
}

// find returns the key in the headers, or else in the path.
func (k *keyReader) find(r *http.Request) (key sentKey, found bool, err error) {
	key, found, err = k.findInHeaders(r.Header)
	if found || err != nil {
		return key, found, err
	}
	for _, source := range k.segments {
		if text := r.PathValue(source.segment); text != "" {
			return sentKey{text: text}, true, k.checkSegment(text)
		}
	}
	return key, false, nil
}

func (k *keyReader) checkSegment(text string) error {
	if !isKeyText(text) {
		return errors.New("the key in the path is blank or no valid Unicode text")
	}
	return k.check(text)
}

// findInHeaders returns the key in the headers; found is false when no line of any of
// them is present, which an empty line is.
func (k *keyReader) findInHeaders(h http.Header) (key sentKey, found bool, err error) {
	for i := range k.headers {
		source := &k.headers[i]
		lines := h[source.header]
		if len(lines) == 0 {
			continue
		}
		text, err := ParseKey(lines, k.strict && source.sender == "")
		if err != nil {
			return key, true, err
		}
		if found && text != key.text {
			return key, true, errors.New("two headers carry different keys; send one of them")
		}
		if !found {
			key, found = sentKey{text: text}, true
			if source.sender == "" {
				key.wire = lines
			}
		}
	}
	if !found {
		return key, false, nil
	}
	return key, true, k.check(key.text)
}

func (k *keyReader) check(key string) error {
	switch {
	case len(key) > k.max:
		return fmt.Errorf("the key has more than %d characters; send a shorter one", k.max)
	case len(key) < k.min:
		return fmt.Errorf("the key has fewer than %d characters; send a longer one", k.min)
	case k.format != nil:
		if k.format(key) != nil { // its text might quote the key
			return errors.New("the key does not have the format that this service asks for")
		}
	}
	return nil
}
