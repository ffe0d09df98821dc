package onetime

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

// Stored is the classic variant: a token that is kept in the store and consumed by one
// atomic step, without a result, a replay or a way back. [Use] is better wherever what
// follows can fail. All methods may be called concurrently.
//
// A record is the token: its key is a digest of the secret in the token, the purpose and
// the subject. So a token of another purpose or subject names no record at all, nothing
// can be consumed by mistake, and whoever reads the store cannot make a token of it. To
// consume one is to decide its record as done where its fence is still the one that was
// issued, which the store compares and sets in one step ([semel.Store.Resolve]).
type Stored struct {
	engine *semel.Engine
	op     semel.Op
}

// StoredOptions are the settings of [Stored]. The zero value of each field means its
// default.
type StoredOptions struct {
	// Lifetime is how long a token may be used, by the store's clock: from a minute to
	// 366 days. Default 12h.
	Lifetime time.Duration
}

const (
	minStoredLifetime = time.Minute
	// storedLease is the lease of a record that is being issued; it ends with that.
	storedLease = 10 * time.Second
	// storedSecret is the size of the secret in a token.
	storedSecret = 32
	// storedVersion is the first byte of a token; other than that of stateless ones.
	storedVersion = 2
	// consumeTries is how often a step without a reply is repeated.
	consumeTries = 3
)

var storedSize = encoding.EncodedLen(1 + storedSecret + 8)

// NewStored returns the classic variant on the store of engine. opts may be nil.
func NewStored(engine *semel.Engine, opts *StoredOptions) (*Stored, error) {
	if engine == nil {
		return nil, errors.New("onetime: the engine is nil; make one with semel.New")
	}
	s := &Stored{engine: engine}
	s.op = semel.Op{Input: semel.NoInput, Policy: semel.AtLeastOnce, Lease: storedLease, Retention: defaultLifetime, Wait: -1, MaxAttempts: -1}
	if opts != nil && opts.Lifetime != 0 {
		s.op.Retention = opts.Lifetime
	}
	if d := s.op.Retention; d < minStoredLifetime || d > maxLifetime {
		return nil, fmt.Errorf("onetime: Lifetime %v is not between 1m and 366 days; use the longest time that a form may stay open, or leave it 0 for 12h", d)
	}
	if err := engine.Check(s.op); err != nil {
		return nil, fmt.Errorf("onetime: with the engine's settings: %w", err)
	}
	return s, nil
}

// Issue stores a new token with which subject may do what purpose stands for, once. See
// [Issuer.Issue] for both. Errors: what is wrong about them, or those of
// [semel.Engine.Begin].
func (s *Stored) Issue(ctx context.Context, purpose, subject string) (token string, err error) {
	if err := checkBinding(purpose, subject); err != nil {
		return "", err
	}
	var secret [storedSecret]byte
	rand.Read(secret[:]) // never fails (documentation of crypto/rand)
	op := s.op
	op.Key = storedKey(secret[:], purpose, subject)
	run, _, err := s.engine.Begin(ctx, op)
	if err != nil {
		return "", err
	}
	if run == nil { // only a random number that came twice
		return "", ErrRefused
	}
	if _, err := run.Finish(semel.Verdict{State: semel.StateReleased}); err != nil {
		return "", err
	}
	if !run.Guarded() {
		return "", &semel.StoreError{Call: "claim", Err: semel.ErrStoreUnavailable}
	}
	raw := append([]byte{storedVersion}, secret[:]...)
	raw = binary.BigEndian.AppendUint64(raw, uint64(run.Fence()))
	return encoding.EncodeToString(raw), nil
}

// Consume uses a token up: of all callers one gets nil. Errors: [ErrRefused] for every
// token that is not, or not any more, one of purpose and subject, and nothing is told
// or changed by the attempt; a [*semel.StoreError], after which the token may be used
// up; the cause of ctx; or what is wrong about purpose and subject.
func (s *Stored) Consume(ctx context.Context, token, purpose, subject string) error {
	if err := checkBinding(purpose, subject); err != nil {
		return err
	}
	secret, fence, wellFormed := parseStored(token)
	p := semel.ResolveParams{
		Key:   storedKey(secret[:], purpose, subject).ID(),
		Token: semel.NewToken(), // one for all tries, so that a lost reply does not refuse its own caller
		Fence: fence, Resolution: semel.ResolveDone, Retention: minStoredLifetime,
	}
	res, err := s.resolve(ctx, p)
	switch {
	case err != nil:
		return err
	case !res.Resolved || !wellFormed:
		return ErrRefused
	}
	return nil
}

// resolve repeats a step that got no answer.
func (s *Stored) resolve(ctx context.Context, p semel.ResolveParams) (res semel.ResolveResult, err error) {
	for range consumeTries {
		if ctx.Err() != nil {
			return res, context.Cause(ctx)
		}
		if res, err = s.resolveOnce(ctx, p); err == nil {
			return res, nil
		}
	}
	return res, &semel.StoreError{Call: "resolve", Err: err}
}

func (s *Stored) resolveOnce(ctx context.Context, p semel.ResolveParams) (semel.ResolveResult, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return s.engine.Store().Resolve(ctx, p)
}

func storedKey(secret []byte, purpose, subject string) semel.Key {
	return semel.KeyOf(semel.Scope{Principal: subject, Operation: purpose}, "semel/onetime/stored/1", string(secret))
}

// parseStored reads a token. What is none gives zeroes, which name no record.
func parseStored(text string) (secret [storedSecret]byte, fence semel.Fence, ok bool) {
	var raw [1 + storedSecret + 8]byte
	if len(text) != storedSize {
		return secret, 0, false
	}
	n, err := encoding.Decode(raw[:], []byte(text))
	if err != nil || n != len(raw) || raw[0] != storedVersion {
		return secret, 0, false
	}
	copy(secret[:], raw[1:])
	return secret, semel.Fence(binary.BigEndian.Uint64(raw[1+storedSecret:])), true
}
