package memstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

// Store is the in-process store. Make one with [New]; it starts no goroutine and
// needs no closing. All methods may be called concurrently.
//
// Its errors: [semel.ErrFenced]; [semel.ErrStoreFull]; a [*semel.RecordFormatError];
// [semel.ErrStoreUnavailable] with the context's error when that had ended before
// the call. There is no [semel.ErrNoReply].
type Store struct {
	shards [shardCount]shard
	budget budget
	clock  func() time.Time
}

var (
	_ semel.Store        = (*Store)(nil)
	_ semel.ChangeWaiter = (*Store)(nil)
	_ semel.Lister       = (*Store)(nil)
	_ semel.Purger       = (*Store)(nil)
	_ semel.Checkpointer = (*Store)(nil)
	_ semel.ProcessLocal = (*Store)(nil)
)

// New returns an empty store; opts may be nil.
func New(opts *Options) (*Store, error) {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	s := &Store{clock: o.Now, budget: budget{max: o.MaxBytes}}
	for i := range s.shards {
		s.shards[i].index = make(map[semel.KeyID]uint32)
		s.shards[i].waiters = make(map[semel.KeyID]*waiter)
	}
	return s, nil
}

// Claim is [semel.Store.Claim].
func (s *Store) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	res, err := s.claim(ctx, &p)
	if errors.Is(err, semel.ErrStoreFull) && s.makeRoom() {
		return s.claim(ctx, &p)
	}
	return res, err
}

func (s *Store) claim(ctx context.Context, p *semel.ClaimParams) (res semel.ClaimResult, err error) {
	after, now, err := s.step(ctx, p.Key, func(r record, now instant) (after record, err error) {
		after, res.Outcome = claim(r, now, p)
		return after, nil
	})
	if err != nil || res.Outcome == semel.ClaimMismatch {
		return res, err
	}
	res.Mine = after.ownedBy(p.Token)
	res.Record = after.at(now)
	return res, nil
}

// Renew is [semel.Store.Renew].
func (s *Store) Renew(ctx context.Context, p semel.RenewParams) (semel.RenewResult, error) {
	after, now, err := s.step(ctx, p.Key, func(r record, now instant) (record, error) { return renew(r, now, &p) })
	if err != nil {
		return semel.RenewResult{}, err
	}
	return semel.RenewResult{LeaseLeft: after.leaseUntil.until(now)}, nil
}

// Finish is [semel.Store.Finish]. [semel.ErrStoreFull] means that the result does
// not fit; one without data always does.
func (s *Store) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	if err := p.Check(); err != nil {
		return semel.FinishResult{}, err
	}
	_, _, err := s.step(ctx, p.Key, func(r record, now instant) (record, error) { return finish(r, now, &p) })
	return semel.FinishResult{}, err
}

// Read is [semel.Store.Read].
func (s *Store) Read(ctx context.Context, p semel.ReadParams) (semel.Record, error) {
	r, now, err := s.step(ctx, p.Key, func(r record, _ instant) (record, error) { return r, nil })
	if err != nil {
		return semel.Record{}, err
	}
	return r.at(now), nil
}

// Resolve is [semel.Store.Resolve]. Did not happen sets the attempts back to none,
// so that the next claim runs.
func (s *Store) Resolve(ctx context.Context, p semel.ResolveParams) (semel.ResolveResult, error) {
	if err := p.Check(); err != nil {
		return semel.ResolveResult{}, err
	}
	var res semel.ResolveResult
	after, now, err := s.step(ctx, p.Key, func(r record, now instant) (after record, err error) {
		after, res.Resolved = resolve(r, now, &p)
		return after, nil
	})
	if err != nil {
		return semel.ResolveResult{}, err
	}
	res.Record = after.at(now)
	return res, nil
}

// ProcessLocal marks the store as one that no other process can share.
func (s *Store) ProcessLocal() {}

// Guarantees is [semel.Store.Guarantees].
func (s *Store) Guarantees(context.Context, semel.GuaranteesParams) (semel.Guarantees, error) {
	return semel.Guarantees{
		Store:               "memory",
		SingleRegister:      semel.Yes,
		SurvivesProcess:     semel.No,
		SurvivesEngineCrash: semel.No,
		SurvivesPowerLoss:   semel.No,
		SurvivesFailover:    semel.No,
		Notes:               []string{"All records are lost when the process ends, and no other process sees them."},
	}, nil
}

// Stats is the size of a store.
type Stats struct {
	Records  int   // expired ones included until they are deleted
	Bytes    int64 // what they take, as counted against MaxBytes
	MaxBytes int64
}

// Stats returns the size of the store now.
func (s *Store) Stats() Stats {
	st := Stats{Bytes: s.budget.used.Load(), MaxBytes: s.budget.max}
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		st.Records += len(sh.index)
		sh.mu.Unlock()
	}
	return st
}

// step runs one transition on the record of key, under its shard's lock: here is
// all that is atomic about this store. An error leaves the record as it was.
func (s *Store) step(ctx context.Context, key semel.KeyID, transition func(record, instant) (record, error)) (record, instant, error) {
	if err := ctx.Err(); err != nil {
		return record{}, 0, fmt.Errorf("%w: %w", semel.ErrStoreUnavailable, err)
	}
	sh := s.shardOf(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	now := s.now()
	s.purgeShard(sh, now, purgedPerStep)
	before, sl := sh.load(key)
	if err := errFormat(&before); err != nil {
		return record{}, 0, err
	}
	after, err := transition(before, now)
	if err != nil {
		return record{}, 0, err
	}
	if err := s.budget.swap(&before, &after); err != nil {
		return record{}, 0, err
	}
	sh.save(key, sl, after)
	return after, now, nil
}

func (s *Store) shardOf(key semel.KeyID) *shard { return &s.shards[shardNumber(key)] }

func shardNumber(key semel.KeyID) int { return int(key[0]) * shardCount / 256 }

func (s *Store) now() instant { return instant(s.clock().UnixNano()) }
