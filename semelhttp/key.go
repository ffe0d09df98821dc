package semelhttp

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/semel-go/semel"
)

// KeyFor is the key under which the middleware keeps the record of a request: by
// it an operator finds the record. Route is what [Options.PerRoute] returned for
// the request, empty without it.
func KeyFor(principal, route, key string) semel.Key {
	return semel.KeyOf(semel.Scope{Principal: principal, Operation: route}, key)
}

// ParseKey reads an idempotency key from the field lines of one header. There
// has to be exactly one line. A value in double quotes is a structured-field
// String (RFC 9651, section 4.2.5): its escapes are decoded, its parameters
// checked and dropped. Anything else is taken as it is if it consists of letters,
// digits and !#$%&'*+-.^_`|~:/=@, or refused if strict. "k" and k are the same
// key. An empty or blank key is refused. Errors never contain the value.
//
// Source: draft-ietf-httpapi-idempotency-key-header-07, section 2.1.
func ParseKey(lines []string, strict bool) (string, error) {
	if len(lines) != 1 {
		return "", errors.New("send the key in exactly one field line")
	}
	value := strings.Trim(lines[0], " \t")
	key := value
	var err error
	switch {
	case strings.HasPrefix(value, `"`):
		key, err = parseStringItem(value)
	case strict:
		err = errors.New("put the key in double quotes: it is a structured-field String (RFC 9651)")
	default:
		err = checkBareKey(value)
	}
	if err == nil && strings.Trim(key, " ") == "" {
		err = errors.New("the key is empty; send a new UUID for each operation")
	}
	if err != nil {
		return "", err
	}
	return key, nil
}

func checkBareKey(s string) error {
	for i := range len(s) {
		if !isTokenByte(s[i]) && !strings.ContainsRune(":/=@", rune(s[i])) {
			return errors.New("the key holds a character that a bare key may not have; use letters, digits and -._~:/=@+, or put it in double quotes")
		}
	}
	return nil
}

// keySource reads keys as the options say.
type keySource struct {
	headers  []string // canonical names
	strict   bool
	min, max int
	format   func(string) error
}

// sentKey is a key as it came: decoded, and the field value to echo.
type sentKey struct {
	text string
	wire []string
}

// find returns the request's key; found is false when no line of any of the
// headers is present, which an empty line is.
func (s *keySource) find(h http.Header) (key sentKey, found bool, err error) {
	for _, name := range s.headers {
		lines := h[name]
		if len(lines) == 0 {
			continue
		}
		text, err := ParseKey(lines, s.strict)
		if err != nil {
			return key, true, err
		}
		if found && text != key.text {
			return key, true, errors.New("two headers carry different keys; send one of them")
		}
		if !found {
			key, found = sentKey{text: text, wire: lines}, true
		}
	}
	if !found {
		return key, false, nil
	}
	return key, true, s.check(key.text)
}

func (s *keySource) check(key string) error {
	switch {
	case len(key) > s.max:
		return fmt.Errorf("the key has more than %d characters; send a shorter one", s.max)
	case len(key) < s.min:
		return fmt.Errorf("the key has fewer than %d characters; send a longer one", s.min)
	case s.format != nil:
		if s.format(key) != nil { // its text might quote the key
			return errors.New("the key does not have the format that this service asks for")
		}
	}
	return nil
}
