// Package reason says why an exchange failed without saying what was in it.
package reason

import (
	"errors"
	"net/textproto"
	"strings"
)

// Of is the text of err without what net/http quotes of an answer, which may be
// anybody's data.
func Of(err error) string {
	if _, ok := errors.AsType[textproto.ProtocolError](err); ok {
		return "the answer's header is malformed"
	}
	text, _, _ := strings.Cut(err.Error(), `"`)
	return strings.TrimSpace(text)
}
