package redisstore

import (
	"context"
	"encoding/hex"
	"fmt"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/waitroom"
)

// Store keeps records in Redis. Make one with [New]. All methods may be called
// concurrently.
//
// Its errors, beside those of the contract: [semel.ErrStoreUnavailable] when the server
// refused, or the call was certainly never sent; [semel.ErrNoReply] when it was sent and
// the connection broke or time was up, and when too few replicas have it
// ([Options.Replicas]); [semel.ErrStoreFull] when the server is at its maxmemory.
type Store struct {
	client  redis.UniversalClient
	route   route
	scripts scripts
	options Options
	room    *waitroom.Room
	deaf    bool // nobody may be told of the ends of runs
	closed  atomic.Bool
}

var (
	_ semel.Store        = (*Store)(nil)
	_ semel.Checkpointer = (*Store)(nil)
	_ semel.ChangeWaiter = (*Store)(nil)
	_ semel.Lister       = (*Store)(nil)
)

// New returns a store on a client for one server, for Sentinel or for a cluster. The
// client must obey contexts (ContextTimeoutEnabled), and is closed by the caller, after
// the store. Its own retries are harmless, and better off (MaxRetries -1): callers come
// back by themselves.
//
// A server is refused that can never work: a replica, one that evicts records (unless
// [Options.AllowEviction]), one older than Redis 6.2, and a user without the rights that
// the scripts need. [Store.Guarantees] tells what the settings of the server promise.
//
// The server's clock counts.
func New(ctx context.Context, client redis.UniversalClient, opts *Options) (*Store, error) {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := checkClient(client); err != nil {
		return nil, err
	}
	all, err := loadScripts()
	if err != nil {
		return nil, err
	}
	s := &Store{client: client, route: newRoute(client, o), scripts: all, options: o}
	s.room = waitroom.New(s.listen)
	if err := s.admit(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Close waits for calls under way, and ends the connection that listens. Calls from then
// on answer [semel.ErrStoreUnavailable]. The client stays open.
func (s *Store) Close() error {
	s.closed.Store(true)
	s.room.Close()
	return s.route.close(context.Background())
}

// Claim is [semel.Store.Claim].
func (s *Store) Claim(ctx context.Context, p semel.ClaimParams) (res semel.ClaimResult, err error) {
	if len(p.Operation) > 1<<16-1 {
		return res, fmt.Errorf("redisstore: the operation has %d bytes; use a short label", len(p.Operation))
	}
	a, err := s.run(ctx, &s.scripts.claim, p.Key, claimParams(&p))
	if err != nil {
		return res, err
	}
	switch a.code {
	case saysMismatch:
		return semel.ClaimResult{Outcome: semel.ClaimMismatch}, nil
	case saysFresh:
		r := fresh(&p, a.now)
		return semel.ClaimResult{Outcome: semel.ClaimAcquired, Mine: true, Record: r.record(p.Key, a.now)}, nil
	}
	return semel.ClaimResult{Outcome: outcome(&a), Mine: a.row.ownedBy(p.Token), Record: a.record}, nil
}

func outcome(a *answer) semel.Outcome {
	switch {
	case a.code == saysAcquired:
		return semel.ClaimAcquired
	case a.record.State == semel.StateDone:
		return semel.ClaimDone
	case a.record.State == semel.StateInDoubt:
		return semel.ClaimInDoubt
	}
	return semel.ClaimRunning
}

// fresh is the record that a claim makes for a key that has none.
func fresh(p *semel.ClaimParams, now int64) row {
	r := row{
		state: semel.StateRunning, policy: p.Policy, attempt: 1, fence: semel.Fence(now), leaseUntil: now + microseconds(min(p.Lease, longest)),
		startedAt: now, token: p.Token, fingerprint: p.Fingerprint, scope: p.ScopeID, operation: p.Operation, keyText: p.KeyText,
	}
	if kept := microseconds(p.Retention); kept != 0 {
		r.expiresAt = now + kept
	}
	if p.Mark {
		r.state, r.kind = semel.StateDone, semel.ResultMark
	}
	return r
}

// Renew is [semel.Store.Renew].
func (s *Store) Renew(ctx context.Context, p semel.RenewParams) (semel.RenewResult, error) {
	a, err := s.run(ctx, &s.scripts.own, p.Key, renewParams(&p))
	if err == nil {
		err = a.fenced()
	}
	if err != nil {
		return semel.RenewResult{}, err
	}
	return semel.RenewResult{LeaseLeft: p.Lease}, nil
}

// Finish is [semel.Store.Finish]. [semel.ErrStoreFull] means that the result does not
// fit; one without data always does.
func (s *Store) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	if err := p.Check(); err != nil {
		return semel.FinishResult{}, err
	}
	a, err := s.run(ctx, &s.scripts.finish, p.Key, finishParams(&p))
	if err == nil {
		err = a.fenced()
	}
	return semel.FinishResult{}, err
}

// Checkpoint is [semel.Checkpointer].
func (s *Store) Checkpoint(ctx context.Context, p semel.CheckpointParams) (semel.CheckpointResult, error) {
	a, err := s.run(ctx, &s.scripts.own, p.Key, checkpointParams(&p))
	if err == nil {
		err = a.fenced()
	}
	return semel.CheckpointResult{}, err
}

// Read is [semel.Store.Read].
func (s *Store) Read(ctx context.Context, p semel.ReadParams) (semel.Record, error) {
	a, err := s.run(ctx, &s.scripts.read, p.Key, nil)
	return a.record, err
}

// Resolve is [semel.Store.Resolve].
func (s *Store) Resolve(ctx context.Context, p semel.ResolveParams) (res semel.ResolveResult, err error) {
	if err := p.Check(); err != nil {
		return res, err
	}
	a, err := s.run(ctx, &s.scripts.resolve, p.Key, resolveParams(&p))
	if err != nil {
		return res, err
	}
	switch a.code {
	case saysNone:
		res.Resolved = p.Resolution == semel.ResolveDelete
	case saysOK, saysAcquired:
		res.Resolved = true
	}
	res.Record = a.record
	return res, nil
}

// run runs a script on the record of a key.
func (s *Store) run(ctx context.Context, sc *script, key semel.KeyID, params []byte) (answer, error) {
	c := &call{key: s.name(key), script: sc, params: params}
	if err := s.do(ctx, c); err != nil {
		return answer{}, err
	}
	return c.answer(key)
}

// name is the key of a record in Redis.
func (s *Store) name(key semel.KeyID) string {
	b := make([]byte, 0, len(s.options.Prefix)+2*len(key))
	b = append(b, s.options.Prefix...)
	return string(hex.AppendEncode(b, key[:]))
}

// servers are the clients of all servers that own keys.
func (s *Store) servers(ctx context.Context) ([]*redis.Client, error) {
	if s.closed.Load() {
		return nil, unavailable(errClosed)
	}
	all, err := s.route.all(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	return all, nil
}

// do makes a call where its key is.
func (s *Store) do(ctx context.Context, c *call) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	to, err := s.route.to(ctx, c.key)
	if err != nil {
		return unavailable(err)
	}
	if err := to.do(ctx, c); err != nil {
		return c.unanswered(err)
	}
	if redirected(c.err) {
		s.route.follow(ctx, c)
	}
	if c.err != nil && !isReply(c.err) {
		s.route.failed(ctx)
	}
	return c.verdict()
}
