package onetime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

// Service spends tokens: see [Use]. All methods may be called concurrently.
type Service struct {
	engine *semel.Engine
	issuer *Issuer
	op     semel.Op // what all uses have in common
}

// Options are the settings of a [Service]. The zero value of each field means its
// default.
type Options struct {
	// Policy is the guarantee level. Default the engine's.
	Policy semel.Policy
	// Lease is for how long a claim is held without a renewal. Default the engine's.
	Lease time.Duration
	// Retention is how long the result of a used token stays: [Issuer.MinRetention] or
	// more. Default the engine's, or MinRetention if that is more.
	Retention time.Duration
	// Wait is how long a second submit waits for the first. A browser shows the answer
	// to the last click alone, so for forms that people send 10s is right. Default the
	// engine's.
	Wait time.Duration
}

// New returns a service that spends the tokens of issuer on engine. opts may be nil.
// All mistakes in opts are reported at once.
func New(engine *semel.Engine, issuer *Issuer, opts *Options) (*Service, error) {
	if engine == nil || issuer == nil {
		return nil, errors.New("onetime: the engine or the issuer is nil; make them with semel.New and onetime.NewIssuer")
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	if least := issuer.MinRetention(); o.Retention != 0 && o.Retention < least {
		return nil, fmt.Errorf("onetime: Retention %v is below %v: a used token could be used again when its record is gone; raise Retention, or shorten the Lifetime of the issuer (now %v)", o.Retention, least, issuer.Lifetime())
	}
	s := &Service{engine: engine, issuer: issuer}
	s.op = semel.Op{
		Input: semel.NoInput, Policy: o.Policy, Lease: o.Lease, Wait: o.Wait,
		Retention:   cmp.Or(o.Retention, max(engine.Defaults().Retention, issuer.MinRetention())),
		MaxAttempts: -1, // a form may be corrected as often as it takes
	}
	if err := engine.Check(s.op); err != nil {
		return nil, fmt.Errorf("onetime: with the engine's settings: %w", err)
	}
	return s, nil
}

// Issuer returns the issuer whose tokens are spent here.
func (s *Service) Issuer() *Issuer { return s.issuer }

// admit verifies a token and returns the operation that it is good for.
func (s *Service) admit(ctx context.Context, token, purpose, subject string) (Verified, semel.Op, error) {
	v, err := s.issuer.Verify(token, purpose, subject)
	if err != nil && !errors.Is(err, ErrExpired) {
		return v, semel.Op{}, err
	}
	op := s.op
	op.Key = v.Key()
	op.Retention = max(op.Retention, v.Retention())
	if err == nil {
		return v, op, nil
	}
	used, failed := v.UsedBefore(ctx, s.engine.Store(), op.Key)
	switch {
	case failed != nil:
		return v, op, failed
	case !used:
		return v, op, err
	}
	return v, op, nil
}
