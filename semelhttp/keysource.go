package semelhttp

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/semel-go/semel/internal/canonjson"
)

// KeySource is a place of a request where its key may stand. What is wrong with
// one is reported by [New]. The zero KeySource is refused.
type KeySource struct {
	header  string // canonical name; or else
	pointer string // into the body
	path    []string
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

func (s KeySource) check() error {
	if s.err == nil && s.place() == "" {
		return errors.New("semelhttp: Keys: a source is empty; make it with KeyHeader, KeyBody, KeyWebhook or Forms.Key")
	}
	return s.err
}

func (s KeySource) place() string             { return s.header + s.pointer }
func (s KeySource) same(other KeySource) bool { return s.place() == other.place() }
func (s KeySource) inBody() bool              { return s.header == "" }
func (s KeySource) needsBody() bool           { return s.inBody() || s.token != nil }

// keyReader reads keys as the options say.
type keyReader struct {
	headers  []KeySource
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

// find returns the key in the headers; found is false when no line of any of them
// is present, which an empty line is.
func (k *keyReader) find(h http.Header) (key sentKey, found bool, err error) {
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
