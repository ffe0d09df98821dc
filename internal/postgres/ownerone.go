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
	if err := sqlrecord.CheckFinish(p); err != nil {
		return false, err
	}
	f := finish{p: *p}
	return t.owner(ctx, q, wait, &f)
}

// transition is what an owner does to the running record.
type transition interface {
	key() semel.KeyID
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

type finish struct{ p semel.FinishParams }

func (f *finish) key() semel.KeyID { return f.p.Key }

func (f *finish) texts(t *Text) (plain, why string) { return t.finish, t.finishWhy }

func (f *finish) args() []any { return finishArgs("", &f.p)[1:] }

func (f *finish) applies(r *sqlrecord.Row) bool {
	return r.OwnedBy(f.p.Token) && (r.State == semel.StateRunning || r.State == semel.StateInDoubt && !f.p.Unrun)
}

func (f *finish) unmoved(r *sqlrecord.Row) error { return sqlrecord.Unfinished(r, &f.p) }

// finishArgs are the parameters of [Text.Finish], which answers one row, whether
// somebody waits, if the record has moved.
func finishArgs(wait Wait, p *semel.FinishParams) []any {
	kept := sqlrecord.Kept(p)
	return []any{
		string(wait), uuid(p.Key), uuid(p.Token), int64(p.State), int64(kept.Kind), null(kept.Data), int64(p.Cause),
		sqlrecord.Half(p.Retention), micros(p.Retention), p.Unrun,
	}
}

type renew struct{ p semel.RenewParams }

func (r *renew) key() semel.KeyID { return r.p.Key }

func (r *renew) texts(t *Text) (plain, why string) { return t.renew, t.renewWhy }

func (r *renew) args() []any {
	return []any{uuid(r.p.Key), uuid(r.p.Token), micros(r.p.Lease), int64(r.p.Policy)}
}

func (r *renew) applies(row *sqlrecord.Row) bool { return runs(row, r.p.Token) }

func (r *renew) unmoved(*sqlrecord.Row) error { return semel.ErrFenced }

type checkpoint struct{ p semel.CheckpointParams }

func (c *checkpoint) key() semel.KeyID { return c.p.Key }

func (c *checkpoint) texts(t *Text) (plain, why string) { return t.checkpoint, t.checkpointWhy }

func (c *checkpoint) args() []any { return []any{uuid(c.p.Key), uuid(c.p.Token), null(c.p.Data)} }

func (c *checkpoint) applies(r *sqlrecord.Row) bool { return runs(r, c.p.Token) }

func (c *checkpoint) unmoved(*sqlrecord.Row) error { return semel.ErrFenced }

// runs reports a run of this owner.
func runs(r *sqlrecord.Row, t semel.Token) bool {
	return r.OwnedBy(t) && r.State == semel.StateRunning
}
