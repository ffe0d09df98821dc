package semelhttp

import (
	"errors"
	"regexp"
	"strings"
)

// KeyUUID is a [Options.KeyFormat]: a UUID in its usual form of 36 characters
// (RFC 9562), in either case, of any version.
func KeyUUID(key string) error {
	const form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	ok := len(key) == len(form)
	for i := 0; ok && i < len(form); i++ {
		if form[i] == '-' {
			ok = key[i] == '-'
		} else {
			ok = isDigit(key[i]) || 'a' <= key[i]|0x20 && key[i]|0x20 <= 'f'
		}
	}
	if !ok {
		return errors.New("the key is not a UUID")
	}
	return nil
}

// KeyULID is a [Options.KeyFormat]: a ULID of 26 characters of Crockford's
// alphabet, in either case.
func KeyULID(key string) error {
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	if len(key) != 26 || key[0] > '7' || strings.Trim(strings.ToUpper(key), alphabet) != "" {
		return errors.New("the key is not a ULID")
	}
	return nil
}

// KeyPattern makes a [Options.KeyFormat] of a pattern that has to match the whole
// key.
func KeyPattern(pattern *regexp.Regexp) func(string) error {
	whole, err := regexp.Compile(`\A(?:` + pattern.String() + `)\z`)
	return func(key string) error {
		if err != nil || !whole.MatchString(key) {
			return errors.New("the key does not match the pattern")
		}
		return nil
	}
}
