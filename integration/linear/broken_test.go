package linear

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
)

// memory is a subject on a clock that only a lapse moves.
func memory(t *testing.T) Subject {
	t.Helper()
	var clock clock
	store, err := memstore.New(&memstore.Options{Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	return Subject{Stores: []semel.Store{store}, Lapse: func(context.Context, []semel.KeyID) error {
		clock.advance(2 * lease)
		return nil
	}}
}

// lastOwners knows whose the records are.
type lastOwners struct {
	semel.Store
	mu     sync.Mutex
	owners map[semel.KeyID]semel.Token
}

func (s *lastOwners) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	res, err := s.Store.Claim(ctx, p)
	if err == nil && res.Outcome == semel.ClaimAcquired {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.owners[p.Key] = p.Token
	}
	return res, err
}

func (s *lastOwners) of(key semel.KeyID) semel.Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owners[key]
}

// noFence lets everybody finish. Field fault: a late owner completes the new owner's
// record.
type noFence struct{ lastOwners }

func (s *noFence) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	_, err := s.Store.Finish(ctx, p)
	if errors.Is(err, semel.ErrFenced) {
		p.Token = s.of(p.Key)
		_, _ = s.Store.Finish(ctx, p)
	}
	return semel.FinishResult{}, nil
}

// noRenewalFence lets everybody renew.
type noRenewalFence struct{ lastOwners }

func (s *noRenewalFence) Renew(ctx context.Context, p semel.RenewParams) (semel.RenewResult, error) {
	res, err := s.Store.Renew(ctx, p)
	if errors.Is(err, semel.ErrFenced) {
		p.Token = s.of(p.Key)
		return s.Store.Renew(ctx, p)
	}
	return res, err
}

// twoMasters are two stores that both grant: whom one of them told that a key is
// running, the other one may take on.
type twoMasters struct {
	semel.Store
	second semel.Store
}

func (s *twoMasters) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	res, err := s.Store.Claim(ctx, p)
	if err == nil && res.Outcome == semel.ClaimRunning {
		return s.second.Claim(ctx, p)
	}
	return res, err
}

func (s *twoMasters) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	res, err := s.Store.Finish(ctx, p)
	if errors.Is(err, semel.ErrFenced) {
		return s.second.Finish(ctx, p)
	}
	return res, err
}

// forgetful loses results, as an asynchronous standby that is promoted.
type forgetful struct{ semel.Store }

func (s *forgetful) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	res, err := s.Store.Finish(ctx, p)
	if err != nil || p.State != semel.StateDone {
		return res, err
	}
	r, err := s.Store.Read(ctx, semel.ReadParams{Key: p.Key})
	if err != nil {
		return res, err
	}
	_, err = s.Store.Resolve(ctx, semel.ResolveParams{Key: p.Key, Token: semel.NewToken(), Fence: r.Fence, Resolution: semel.ResolveDelete})
	return res, err
}

// strange does not know a token again. Field fault: a reply is lost, the client library
// sends the claim again, and the caller waits for itself.
type strange struct {
	semel.Store
	mu   sync.Mutex
	seen map[semel.Token]bool
}

func (s *strange) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	s.mu.Lock()
	again := s.seen[p.Token]
	s.seen[p.Token] = true
	s.mu.Unlock()
	if again {
		p.Token = semel.NewToken()
	}
	return s.Store.Claim(ctx, p)
}

// sameFence shows every run the same number.
type sameFence struct{ semel.Store }

func (s *sameFence) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	res, err := s.Store.Claim(ctx, p)
	if err == nil && res.Outcome != semel.ClaimMismatch {
		res.Record.Fence = 1
	}
	return res, err
}

// stale answers reads with what it has read before. Field fault of replicas.
type stale struct {
	semel.Store
	mu   sync.Mutex
	read map[semel.KeyID]semel.Record
}

func (s *stale) Read(ctx context.Context, p semel.ReadParams) (semel.Record, error) {
	r, err := s.Store.Read(ctx, p)
	s.mu.Lock()
	defer s.mu.Unlock()
	before, ok := s.read[p.Key]
	s.read[p.Key] = r
	if ok {
		return before, err
	}
	return r, err
}

// executesRefused says that it did nothing, and does it.
type executesRefused struct {
	semel.Store
	mu    sync.Mutex
	calls int
}

func (s *executesRefused) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	res, err := s.Store.Finish(ctx, p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls++; s.calls%2 == 0 {
		return semel.FinishResult{}, semel.ErrStoreUnavailable
	}
	return res, err
}

// Stores with one fault each are rejected: that they pass unnoticed would say that the
// search finds nothing.
func TestBrokenStoresAreRejected(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func(good, second semel.Store) semel.Store{
		"a stale owner finishes":       func(s, _ semel.Store) semel.Store { return &noFence{newLastOwners(s)} },
		"a stale owner renews":         func(s, _ semel.Store) semel.Store { return &noRenewalFence{newLastOwners(s)} },
		"two live owners":              func(s, second semel.Store) semel.Store { return &twoMasters{s, second} },
		"a done record is lost":        func(s, _ semel.Store) semel.Store { return &forgetful{s} },
		"a repeated claim is refused":  func(s, _ semel.Store) semel.Store { return &strange{Store: s, seen: map[semel.Token]bool{}} },
		"the fence stands still":       func(s, _ semel.Store) semel.Store { return &sameFence{s} },
		"a read is stale":              func(s, _ semel.Store) semel.Store { return &stale{Store: s, read: map[semel.KeyID]semel.Record{}} },
		"what was refused is executed": func(s, _ semel.Store) semel.Store { return &executesRefused{Store: s} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const runs = 4 // the scheduler may hide a fault from one of them
			for seed := range uint64(runs) {
				subject := memory(t)
				subject.Stores[0] = with(subject.Stores[0], memory(t).Stores[0])
				h, err := Run(t.Context(), subject, Load{Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				if h.Check() != nil {
					return
				}
			}
			t.Errorf("an order was found in each of %d runs", runs)
		})
	}
}

func newLastOwners(s semel.Store) lastOwners {
	return lastOwners{Store: s, owners: map[semel.KeyID]semel.Token{}}
}
