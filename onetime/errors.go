package onetime

import "errors"

// Sentinels. Match them with [errors.Is].
var (
	// ErrRefused: the token is no token of this purpose and subject. Whether it is
	// malformed, forged, another user's, of another purpose, or signed by a secret that
	// was taken out, is not told.
	ErrRefused = errors.New("onetime: the token is refused; issue a new one and ask the user to send the form again")
	// ErrExpired: the token is genuine, its time is over, and nothing was ever done
	// under it.
	ErrExpired = errors.New("onetime: the token has expired and was not used; issue a new one and ask the user to send the form again")
)

// ContentChangedError tells that the token was used already, for another content. What
// was sent first counts; what was sent now was not executed.
type ContentChangedError struct{}

func (*ContentChangedError) Error() string {
	return "onetime: the token was used before with another content, which was executed; issue a new token for a new form"
}
