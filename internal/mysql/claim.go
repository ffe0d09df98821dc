package mysql

import (
	"context"
	"fmt"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// Claim is [semel.Store.Claim].
func (s *Store) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	if err := checkClaim(&p); err != nil {
		return semel.ClaimResult{}, err
	}
	if err := s.gate.enter(); err != nil {
		return semel.ClaimResult{}, err
	}
	defer s.gate.leave()
	c := &claim{p: p}
	if err := s.claims.Do(ctx, c); err != nil {
		return semel.ClaimResult{}, sqlrecord.Unbatched(err)
	}
	if !c.settled {
		return s.claimAlone(ctx, c)
	}
	return c.result, nil
}

// The widths of columns. A server that is not strict would cut what is longer.
const (
	maxOperation = 1024
	maxKeyText   = 1<<16 - 1
)

func checkClaim(p *semel.ClaimParams) error {
	switch {
	case len(p.Operation) > maxOperation:
		return fmt.Errorf("sqlstore: the operation's label has %d bytes; use at most %d", len(p.Operation), maxOperation)
	case len(p.KeyText) > maxKeyText:
		return fmt.Errorf("sqlstore: the key text has %d bytes; use at most %d, or do not store it", len(p.KeyText), maxKeyText)
	}
	return nil
}

// claim is a call on its way: what is known of its record so far.
type claim struct {
	p       semel.ClaimParams
	row     *sqlrecord.Row // as seen at now, if it can be claimed; nil: not known
	now     int64
	settled bool
	blocked bool // by a transaction that holds the record, for too long
	result  semel.ClaimResult
}

func (c *claim) settle(res semel.ClaimResult) { c.result, c.settled = res, true }

// judge answers from a record that was seen at now, if that is an answer.
func (c *claim) judge(r *sqlrecord.Row, now int64) error {
	c.row, c.now = nil, now
	if r == nil {
		return nil
	}
	if err := r.Check(); err != nil {
		return err
	}
	if res, ok := sqlrecord.Unclaimed(r, &c.p, now); ok {
		c.settle(res)
		return nil
	}
	c.row = r
	return nil
}

// acquired answers for a record that the claim wrote. A lease that a long wait for a
// lock has used up is none: the claim then goes on as its owner.
func (c *claim) acquired(r *sqlrecord.Row, now int64) {
	c.row, c.now = r, now
	if r.State != semel.StateRunning || r.Alive(now) {
		c.settle(sqlrecord.Claimed(r, &c.p, now, semel.ClaimAcquired))
	}
}

// claimAlone goes on with a claim that its batch did not settle.
func (s *Store) claimAlone(ctx context.Context, c *claim) (semel.ClaimResult, error) {
	ctx, cancel := s.patience.bound(ctx)
	defer cancel()
	if c.blocked {
		return s.runningBehind(ctx, &c.p)
	}
	r := runner{store: s}
	for range attempts {
		err := r.claimStep(ctx, c)
		switch class := ClassOf(err); {
		case err == nil && c.settled:
			return c.result, nil
		case err == nil || class == Conflict:
		case class == Locked && !c.owns():
			return s.runningBehind(ctx, &c.p)
		default:
			return semel.ClaimResult{}, c.failed(err)
		}
	}
	return semel.ClaimResult{}, c.failed(errRestless(c.p.Key))
}

// owns reports a record that carries the caller's token already.
func (c *claim) owns() bool { return c.row != nil && c.row.OwnedBy(c.p.Token) }

// failed is the failure of a claim. One that owns the record must be released.
func (c *claim) failed(err error) error {
	if c.owns() {
		return fmt.Errorf("%w: the claim is there, and its lease could not be renewed: %v", semel.ErrNoReply, err)
	}
	return err
}

// claimStep inserts a record, or moves the one that was seen.
func (r runner) claimStep(ctx context.Context, c *claim) error {
	if c.row == nil {
		return r.insert(ctx, c)
	}
	row, now, err := r.move(ctx, c.row, &c.p, c.now)
	if err != nil {
		return unwritten(ctx, err)
	}
	if row != nil {
		c.acquired(row, now)
		return nil
	}
	return r.look(ctx, c)
}

// look reads the record and judges it.
func (r runner) look(ctx context.Context, c *claim) error {
	row, now, err := r.load(ctx, c.p.Key[:])
	if err != nil {
		return unread(ctx, err)
	}
	return c.judge(row, now)
}

// insert claims the key if it has no record, and else judges the one it has.
func (r runner) insert(ctx context.Context, c *claim) error {
	least, err := r.store.leastFence(ctx)
	if err != nil {
		return err
	}
	sent := time.Now()
	d, err := r.exec(ctx, stmtInsert, insertArgs(&c.p, least)...)
	if err != nil {
		return unwritten(ctx, err)
	}
	return r.inserted(ctx, c, d, least, sent)
}

// inserted goes by what an insert says of itself, or by the record where that is not
// enough.
func (r runner) inserted(ctx context.Context, c *claim, d done, least int64, sent time.Time) error {
	if d.rows == 1 && !r.store.foundRows {
		c.acquired(sqlrecord.Fresh(&c.p, d.id, max(d.id, least)), since(d.id, sent))
		return nil
	}
	row, now, err := r.load(ctx, c.p.Key[:])
	switch {
	case err != nil && d.rows > 0:
		return unknown(ctx, err) // the claim may be there
	case err != nil:
		return unread(ctx, err)
	}
	if row != nil && isFresh(row, &c.p, d.id) {
		c.acquired(row, now)
		return nil
	}
	return c.judge(row, now)
}

// isFresh reports a record that this claim inserted with a statement that began then:
// nobody else has its token, and what its former claims made began at other times. Their
// fences may be the same, while the floor is ahead of the clock.
func isFresh(r *sqlrecord.Row, p *semel.ClaimParams, began int64) bool {
	return r.Check() == nil && r.OwnedBy(p.Token) && r.StartedAt == began && (r.State == semel.StateRunning || p.Mark && r.State == semel.StateDone)
}

// insertArgs are the parameters of insertRecord.
func insertArgs(p *semel.ClaimParams, least int64) []any {
	r := sqlrecord.Fresh(p, 0, 0)
	m, d := expiryOf(p.Retention)
	return []any{
		r.Key, r.Token, int64(r.State), int64(r.Policy), r.LeaseUntil, m, d, r.Fingerprint, r.ScopeID,
		[]byte(r.Operation), []byte(r.KeyText), int64(r.ResultKind), least,
	}
}

// runningBehind answers a claim whose record is locked by a transaction: somebody is
// about to say what it is. Until then it is running, whoever holds it.
func (s *Store) runningBehind(ctx context.Context, p *semel.ClaimParams) (semel.ClaimResult, error) {
	row, now, err := runner{store: s}.load(ctx, p.Key[:])
	if err != nil {
		return semel.ClaimResult{}, unread(ctx, err)
	}
	if row != nil && row.Check() == nil {
		if res, ok := sqlrecord.Unclaimed(row, p, now); ok {
			return res, nil
		}
	}
	return semel.ClaimResult{Outcome: semel.ClaimRunning, Record: semel.Record{Key: p.Key, State: semel.StateRunning, LeaseLeft: lockWait}}, nil
}

const (
	lockWaitSeconds = 1
	lockWait        = lockWaitSeconds * time.Second
)
