package semelhttp

import (
	"errors"
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
			return errors.New("the key holds a character that a bare key may not have; use letters, digits and !#$%&'*+-.^_`|~:/=@, or put it in double quotes")
		}
	}
	return nil
}
