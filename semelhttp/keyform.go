package semelhttp

import (
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"
)

var (
	errFieldTwice = errors.New("the form brings the field of the key twice; send it once")
	errFieldText  = errors.New("the key in the form is blank or no valid Unicode text; send a new one for each operation")
)

// findInForm returns the key in the first of the fields that the form of r brings.
func (k *keyReader) findInForm(r *http.Request, body *requestBody) (key sentKey, found bool, err error) {
	for _, field := range k.fields {
		values, err := field.values(r, body, k.max)
		if err == nil && len(values) == 0 {
			continue
		}
		if err == nil {
			key.text, err = k.ofField(values)
		}
		return key, true, err
	}
	return key, false, nil
}

// ofField returns the key of a field's values.
func (k *keyReader) ofField(values []string) (string, error) {
	key := values[0]
	switch {
	case len(values) > 1:
		return "", errFieldTwice
	case !isKeyText(key):
		return "", errFieldText
	}
	return key, k.check(key)
}

// isKeyText reports whether a decoded value can be a key.
func isKeyText(value string) bool {
	return utf8.ValidString(value) && strings.TrimSpace(value) != ""
}
