package onetime

import (
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/semel-go/semel"
)

// Issuer issues tokens and tells whether one is genuine. It keeps nothing: whoever has
// the secrets can do both. All methods may be called concurrently.
type Issuer struct {
	ring *ring
	opts IssuerOptions
}

// IssuerOptions are the settings of an [Issuer]. The zero value of each field means its
// default.
type IssuerOptions struct {
	// Lifetime is how long a token may be used: from a second to 366 days. Default 12h.
	Lifetime time.Duration
	// Clock is this process's clock, by which tokens expire. Default the system's.
	Clock semel.Clock
}

const (
	defaultLifetime = 12 * time.Hour
	minLifetime     = time.Second
	maxLifetime     = 366 * 24 * time.Hour
	// maxPurpose is the engine's limit of labels.
	maxPurpose = 200
)

// Slack is how long the record of a used token outlives the token: the clocks of two
// processes may be an hour off each, in different directions.
const Slack = 2 * time.Hour

// NewIssuer returns an issuer. The first of the secrets signs new tokens, all of them
// verify. To change the secret put a new one first in all processes, and take the old
// one out when the tokens that it signed have expired; until then, and not longer, they
// are good. A new one goes to the end first where several processes run, so that none
// meets a token that it does not know yet.
//
// A secret has 32 bytes or more, which nobody can guess. All mistakes are reported with
// their fix. opts may be nil.
func NewIssuer(secrets [][]byte, opts *IssuerOptions) (*Issuer, error) {
	var o IssuerOptions
	if opts != nil {
		o = *opts
	}
	if o.Lifetime == 0 {
		o.Lifetime = defaultLifetime
	}
	ring, err := newRing(secrets)
	if err := errors.Join(err, checkLifetime(o.Lifetime)); err != nil {
		return nil, err
	}
	return &Issuer{ring: ring, opts: o}, nil
}

func checkLifetime(d time.Duration) error {
	if d < minLifetime || d > maxLifetime {
		return fmt.Errorf("onetime: Lifetime %v is not between 1s and 366 days; use the longest time that a form may stay open, or leave it 0 for 12h", d)
	}
	return nil
}

// Lifetime is how long the tokens of this issuer may be used.
func (i *Issuer) Lifetime() time.Duration { return i.opts.Lifetime }

// MinRetention is how long the record of a used token has to stay, at least: were it
// forgotten before the token expires, the token could be used again. It is the lifetime
// and [Slack].
func (i *Issuer) MinRetention() time.Duration { return i.opts.Lifetime + Slack }

// Issue returns a new token with which subject may do what purpose stands for, once,
// until it expires. Subject is the user, account or session, as the caller knows it
// after authentication; purpose is the name of the form, such as "order": up to 200
// bytes of plain text. Neither can be read out of the token. Both are required.
//
// The token has 82 characters that need no escaping in URLs, headers and forms.
func (i *Issuer) Issue(purpose, subject string) (token string, expires time.Time, err error) {
	if err := checkBinding(purpose, subject); err != nil {
		return "", time.Time{}, err
	}
	k := &i.ring.keys[0]
	b := body{key: k.id, expires: i.now().Add(i.opts.Lifetime + time.Second - 1).Unix()} // whole seconds, rounded up
	rand.Read(b.id[:])                                                                   // never fails (documentation of crypto/rand)
	raw := append(b.append(nil), i.ring.mac(k, &b, purpose, subject)...)
	return encoding.EncodeToString(raw), b.expiry(), nil
}

// Verify tells whether token was issued for purpose and subject. It spends nothing; see
// [Use] for that, and [Verified.Key] for layers of their own. Errors: [ErrRefused];
// [ErrExpired], with the Verified of what is genuine all the same (see
// [Verified.UsedBefore]); or what is wrong about purpose and subject.
//
// Every refusal costs the same work, whatever is wrong with the token.
func (i *Issuer) Verify(token, purpose, subject string) (Verified, error) {
	if err := checkBinding(purpose, subject); err != nil {
		return Verified{}, err
	}
	b, mac, wellFormed := parse(token)
	k, known := i.ring.find(b.key)
	equal := hmac.Equal(i.ring.mac(k, &b, purpose, subject), mac[:])
	if !equal || !known || !wellFormed {
		return Verified{}, ErrRefused
	}
	v := Verified{body: b, key: k, left: b.expiry().Sub(i.now()), purpose: purpose, subject: subject}
	if v.left <= 0 {
		return v, ErrExpired
	}
	return v, nil
}

func (i *Issuer) now() time.Time {
	if i.opts.Clock == nil {
		return time.Now()
	}
	return i.opts.Clock.Now()
}

func checkBinding(purpose, subject string) error {
	if err := CheckPurpose(purpose); err != nil {
		return err
	}
	if subject == "" {
		return errors.New("onetime: the subject is empty; name the user or the session: a token of nobody would be everybody's")
	}
	return nil
}

// CheckPurpose says what is wrong about a purpose: see [Issuer.Issue].
func CheckPurpose(purpose string) error {
	switch {
	case purpose == "":
		return errors.New("onetime: the purpose is empty; name the form, such as order: a token of one form must not open another")
	case len(purpose) > maxPurpose || !utf8.ValidString(purpose) || strings.ContainsFunc(purpose, unicode.IsControl):
		return errors.New("onetime: the purpose is over 200 bytes or no plain text; use a short name, such as order")
	}
	return nil
}
