package postgres

import (
	"context"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// Finish ends the owner's run on q, which may be a transaction. waited tells that
// somebody waits for it: see [Text.Notify]. An error of the database comes back as
// it is.
func (t *Text) Finish(ctx context.Context, q Querier, wait Wait, p *semel.FinishParams) (waited bool, err error) {
	if err := p.Check(); err != nil {
		return false, err
	}
	return t.owner(ctx, q, wait, finishing(p))
}

// transition is what an owner does to the running record.
type transition interface {
	key() semel.KeyID
	token() semel.Token
	// ends reports that waiters are to be told.
	ends() bool
	// args are the parameters of the statement for one key, after the wait.
	args() []any
	// texts are that statement, and the one that says why it changed nothing.
	texts(t *Text) (plain, why string)
	// applies reports whether the statement changes this record.
	applies(r *sqlrecord.Row) bool
	// unmoved is the answer where it does not.
	unmoved(r *sqlrecord.Row) error
	// many makes the statement of a batch that begins with this one.
	many(t *Text, wait Wait, all []*owner) (text string, args []any)
}

// owner makes a transition: one statement if the record moves.
func (t *Text) owner(ctx context.Context, q Querier, wait Wait, op transition) (waited bool, err error) {
	plain, _ := op.texts(t)
	moved, err := scalars(ctx, q.Query, plain, append([]any{string(wait)}, op.args()...), &waited)
	if err != nil || moved {
		return waited, err
	}
	return t.ownerWhy(ctx, q, wait, op)
}

// ownerWhy makes a transition, or says why it does not apply.
func (t *Text) ownerWhy(ctx context.Context, q Querier, wait Wait, op transition) (waited bool, err error) {
	_, why := op.texts(t)
	for range tries {
		var s *seen
		if err := q.Query(ctx, why, append([]any{string(wait)}, op.args()...), one(&s)); err != nil {
			return false, err
		}
		if s != nil && s.moved {
			return s.waited, nil
		}
		r, err := s.record()
		if err != nil {
			return false, err
		}
		if r == nil || !op.applies(r) {
			return false, op.unmoved(r)
		}
	}
	return false, errBusy
}

// finishing is the transition of a finish.
func finishing(p *semel.FinishParams) transition {
	if p.State == semel.StateDone && !p.Unrun {
		return &done{finish{p: *p}}
	}
	return &finish{p: *p}
}

type finish struct{ p semel.FinishParams }

func (f *finish) key() semel.KeyID { return f.p.Key }

func (f *finish) token() semel.Token { return f.p.Token }

func (*finish) ends() bool { return true }

func (f *finish) texts(t *Text) (plain, why string) { return t.finish, t.finishWhy }

func (f *finish) args() []any {
	kept := sqlrecord.Kept(&f.p)
	return []any{
		uuid(f.p.Key), uuid(f.p.Token), int64(f.p.State), int64(kept.Kind), null(kept.Data), int64(f.p.Cause),
		sqlrecord.Half(f.p.Retention), micros(f.p.Retention), f.p.Unrun,
	}
}

func (f *finish) applies(r *sqlrecord.Row) bool {
	return r.OwnedBy(f.p.Token) && (r.State == semel.StateRunning || r.State == semel.StateInDoubt && !f.p.Unrun)
}

func (f *finish) unmoved(r *sqlrecord.Row) error { return sqlrecord.Unfinished(r, &f.p) }

// done is a finish with done, which has statements of its own.
type done struct{ finish }

func (d *done) texts(t *Text) (plain, why string) { return t.done, t.doneWhy }

func (d *done) args() []any {
	return []any{
		uuid(d.p.Key), uuid(d.p.Token), int64(d.p.Result.Kind), null(d.p.Result.Data),
		sqlrecord.Half(d.p.Retention), micros(d.p.Retention),
	}
}

type renew struct{ p semel.RenewParams }

func (r *renew) key() semel.KeyID { return r.p.Key }

func (r *renew) token() semel.Token { return r.p.Token }

func (*renew) ends() bool { return false }

func (r *renew) texts(t *Text) (plain, why string) { return t.renew, t.renewWhy }

func (r *renew) args() []any {
	return []any{uuid(r.p.Key), uuid(r.p.Token), micros(r.p.Lease), int64(r.p.Policy)}
}

func (r *renew) applies(row *sqlrecord.Row) bool { return runs(row, r.p.Token) }

func (r *renew) unmoved(*sqlrecord.Row) error { return semel.ErrFenced }

type checkpoint struct{ p semel.CheckpointParams }

func (c *checkpoint) key() semel.KeyID { return c.p.Key }

func (c *checkpoint) token() semel.Token { return c.p.Token }

func (*checkpoint) ends() bool { return false }

func (c *checkpoint) texts(t *Text) (plain, why string) { return t.checkpoint, t.checkpointWhy }

func (c *checkpoint) args() []any { return []any{uuid(c.p.Key), uuid(c.p.Token), null(c.p.Data)} }

func (c *checkpoint) applies(r *sqlrecord.Row) bool { return runs(r, c.p.Token) }

func (c *checkpoint) unmoved(*sqlrecord.Row) error { return semel.ErrFenced }

// runs reports a run of this owner.
func runs(r *sqlrecord.Row, t semel.Token) bool {
	return r.OwnedBy(t) && r.State == semel.StateRunning
}
