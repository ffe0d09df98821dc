package onetime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/semel-go/semel"
)

// Verified is a token that [Issuer.Verify] found genuine: what a layer that keeps the
// record by itself has to know of it.
type Verified struct {
	body             body
	key              *key
	left             time.Duration // of its life, when it was verified
	purpose, subject string
}

// ID is the token's random id, in hexadecimal. It is no secret: nobody can make the
// token of it.
func (v Verified) ID() string { return hex.EncodeToString(v.body.id[:]) }

// Expires is when the token's time is over.
func (v Verified) Expires() time.Time { return v.body.expiry() }

// Key is the key of the token's record: one for a token, whichever layer or route spends
// it. No key that a client sends is the same. Its scope is subject and purpose.
func (v Verified) Key() semel.Key {
	return semel.KeyOf(semel.Scope{Principal: v.subject, Operation: v.purpose}, "semel/onetime/1", string(v.body.id[:]))
}

// Retention is how long a record that is claimed now has to stay, at least: see
// [Issuer.MinRetention].
func (v Verified) Retention() time.Duration { return max(v.left, 0) + Slack }

// Digest is the digest of what was sent with the token, to be kept with the result: the
// token of a form that was corrected after a refusal is good, and that of a form which
// was executed must not swallow another one. It is made with a secret, so that nobody
// guesses contents who reads the store. The error says what is wrong about content.
func (v Verified) Digest(content semel.Input) (semel.Fingerprint, error) {
	secret := digest(sha256.New, v.key.secret, "semel/onetime/content/1", string(v.body.id[:]))
	recorder, err := semel.NewRecorder(&semel.Options{Secret: secret})
	if err != nil {
		return semel.Fingerprint{}, err
	}
	claim, _, err := recorder.ClaimOf(semel.Op{Key: v.Key(), Input: content})
	if err != nil {
		return semel.Fingerprint{}, err
	}
	return claim.Fingerprint, nil
}

// lastLook is how long before the end of its retention a record counts as gone, so that
// it cannot go between [Verified.UsedBefore] and a claim.
const lastLook = 10 * time.Minute

// UsedBefore reports whether something was done under a token, or may have been. An
// expired one that was not used is refused; one that was is not, or the user of an
// answer that got lost would be told that nothing was done, and send the form again
// with another token. Errors: a [*semel.StoreError], or the cause of ctx.
func (v Verified) UsedBefore(ctx context.Context, store semel.Store, key semel.Key) (bool, error) {
	bounded, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	rec, err := store.Read(bounded, semel.ReadParams{Key: key.ID()})
	switch {
	case err != nil && ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err != nil:
		return false, &semel.StoreError{Call: "read", Err: err}
	}
	used := rec.State == semel.StateRunning || rec.State == semel.StateDone || rec.State == semel.StateInDoubt
	return used && rec.ExpiresIn > lastLook, nil
}

// callTimeout bounds a call of the store that no engine makes.
const callTimeout = 2 * time.Second
