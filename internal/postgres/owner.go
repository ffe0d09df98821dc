package postgres

import (
	"bytes"
	"context"
	"slices"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/combiner"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// owner is an owner's call in a batch. As with claims, what the batch does not
// settle goes on alone, by its caller.
type owner struct {
	op     transition
	key    semel.KeyID
	waited bool
	alone  bool
}

// Finish is [semel.Store.Finish].
func (s *Store) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	if err := p.Check(); err != nil {
		return semel.FinishResult{}, err
	}
	p.Result.Data = bytes.Clone(p.Result.Data)
	return semel.FinishResult{}, s.move(ctx, finishing(&p))
}

// Renew is [semel.Store.Renew].
func (s *Store) Renew(ctx context.Context, p semel.RenewParams) (semel.RenewResult, error) {
	if err := s.move(ctx, &renew{p: p}); err != nil {
		return semel.RenewResult{}, err
	}
	return semel.RenewResult{LeaseLeft: sqlrecord.Left(micros(p.Lease), 0)}, nil
}

// Checkpoint is [semel.Checkpointer].
func (s *Store) Checkpoint(ctx context.Context, p semel.CheckpointParams) (semel.CheckpointResult, error) {
	p.Data = bytes.Clone(p.Data)
	return semel.CheckpointResult{}, s.move(ctx, &checkpoint{p: p})
}

// move makes a transition, in a batch if it can.
func (s *Store) move(ctx context.Context, op transition) error {
	o := &owner{op: op, key: op.key()}
	if err := s.owners.Do(ctx, o); err != nil {
		return sqlrecord.Unbatched(err)
	}
	waited := o.waited
	if o.alone {
		err := s.alone(ctx, func(ctx context.Context) (err error) {
			waited, err = s.text.ownerWhy(ctx, s.db, waitOne, op)
			return err
		})
		if err != nil {
			return failure(err)
		}
	}
	if op.ends() && waited {
		s.told.add(o.key)
	}
	return nil
}

// flushOwners executes a batch in one statement for each kind of transition. Each
// kind commits by itself, so that nothing has to be unwound.
func (s *Store) flushOwners(ctx context.Context, batch []*combiner.Call[*owner]) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	for _, kind := range []string{s.text.renew, s.text.checkpoint, s.text.done, s.text.finish} {
		s.flushKind(ctx, ofKind(batch, s.text, kind))
	}
	return nil
}

// ofKind picks the calls of a kind, by the statement for one of them.
func ofKind(batch []*combiner.Call[*owner], t *Text, kind string) (calls []*combiner.Call[*owner]) {
	for _, call := range batch {
		if plain, _ := call.Op.op.texts(t); plain == kind && call.Start() {
			calls = append(calls, call)
		}
	}
	return calls
}

func (s *Store) flushKind(ctx context.Context, calls []*combiner.Call[*owner]) {
	all := make([]*owner, 0, len(calls))
	for _, call := range calls {
		call.Op.alone = true
		if n := len(all); n == 0 || all[n-1].key != call.Op.key {
			all = append(all, call.Op)
		}
	}
	if err := s.moveAll(ctx, all); err != nil {
		for _, call := range calls {
			call.Answer(err)
		}
	}
}

// moveAll makes transitions of one kind. Those that do not apply stay alone.
func (s *Store) moveAll(ctx context.Context, all []*owner) error {
	switch len(all) {
	case 0:
		return nil
	case 1:
		o := all[0]
		plain, _ := o.op.texts(s.text)
		moved, err := scalars(ctx, s.db.Query, plain, append([]any{string(waitMany)}, o.op.args()...), &o.waited)
		o.alone = err != nil || !moved
		return spoilt(err)
	}
	text, args := all[0].op.many(s.text, waitMany, all)
	err := s.db.Query(ctx, text, args, func(r Row) error { return moved(r, all) })
	if err != nil {
		for _, o := range all {
			o.alone = true
		}
	}
	return spoilt(err)
}

// moved tells the owner whose record a row stands for.
func moved(r Row, all []*owner) error {
	var key []byte
	var waited bool
	if err := r.Scan(&key, &waited); err != nil {
		return err
	}
	i, found := slices.BinarySearchFunc(all, keyOf(key), func(o *owner, key semel.KeyID) int {
		return slices.Compare(o.key[:], key[:])
	})
	if found {
		all[i].alone, all[i].waited = false, waited
	}
	return nil
}

func (f *finish) many(t *Text, wait Wait, all []*owner) (string, []any) {
	n := len(all)
	states, kinds, causes, results := newArray(n, 1), newArray(n, 1), newArray(n, 1), newPieces(n)
	halves, retentions, unrun := newArray(n, 12), newArray(n, 12), newArray(n, 1)
	for _, o := range all {
		p := &o.op.(*finish).p
		kept := sqlrecord.Kept(p)
		states.int(int64(p.State))
		kinds.int(int64(kept.Kind))
		results.add(kept.Data)
		causes.int(int64(p.Cause))
		halves.int(sqlrecord.Half(p.Retention))
		retentions.int(micros(p.Retention))
		unrun.bool(p.Unrun)
	}
	return t.finishMany, append(manyArgs(wait, all), states.arg(), kinds.arg(), results.arg(), results.starts.arg(), results.sizes.arg(),
		causes.arg(), halves.arg(), retentions.arg(), unrun.arg())
}

func (d *done) many(t *Text, wait Wait, all []*owner) (string, []any) {
	n := len(all)
	kinds, results, halves, retentions := newArray(n, 1), newPieces(n), newArray(n, 12), newArray(n, 12)
	for _, o := range all {
		p := &o.op.(*done).p
		kinds.int(int64(p.Result.Kind))
		results.add(p.Result.Data)
		halves.int(sqlrecord.Half(p.Retention))
		retentions.int(micros(p.Retention))
	}
	return t.doneMany, append(manyArgs(wait, all), kinds.arg(), results.arg(), results.starts.arg(), results.sizes.arg(),
		halves.arg(), retentions.arg())
}

func (r *renew) many(t *Text, wait Wait, all []*owner) (string, []any) {
	leases, policies := newArray(len(all), 9), newArray(len(all), 1)
	for _, o := range all {
		p := &o.op.(*renew).p
		leases.int(micros(p.Lease))
		policies.int(int64(p.Policy))
	}
	return t.renewMany, append(manyArgs(wait, all), leases.arg(), policies.arg())
}

func (c *checkpoint) many(t *Text, wait Wait, all []*owner) (string, []any) {
	notes := newPieces(len(all))
	for _, o := range all {
		notes.add(o.op.(*checkpoint).p.Data)
	}
	return t.checkpointMany, append(manyArgs(wait, all), notes.arg(), notes.starts.arg(), notes.sizes.arg())
}

// manyArgs are the first parameters of each statement for a batch.
func manyArgs(wait Wait, all []*owner) []any {
	keys, tokens := newArray(len(all), 32), newArray(len(all), 32)
	for _, o := range all {
		keys.uuid(o.key)
		tokens.uuid(o.op.token())
	}
	args := make([]any, 0, 13)
	return append(args, string(wait), keys.arg(), tokens.arg(), int64(len(all)))
}
