package sqlcode

import (
	"strconv"
	"strings"
)

// Number looks for MySQL's number in an error and all that it wraps, and returns the
// server's text with it. No driver tells the number through a method, but all of them
// put it in front of the text, as the server's own client does. The innermost error
// counts, since a text around it may have words of anybody's.
func Number(err error) (n int, text string, ok bool) {
	if err == nil {
		return 0, "", false
	}
	for _, inner := range wrapped(err) {
		if n, text, ok = Number(inner); ok {
			return n, text, ok
		}
	}
	text = err.Error()
	n, ok = numberIn(text)
	return n, text, ok
}

// numberIn reads "Error 1213 (40001): …".
func numberIn(text string) (int, bool) {
	if len(text) < 6 || !strings.EqualFold(text[:6], "error ") {
		return 0, false
	}
	digits := text[6:]
	end := strings.IndexAny(digits, " :")
	if end < 0 {
		return 0, false
	}
	n, err := strconv.Atoi(digits[:end])
	return n, err == nil
}
