package mysql

import (
	"context"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/combiner"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// flushClaims inserts the records of a batch with one statement, and reads those
// that were there already with another one. What that does not settle, a record to
// take over or an error that one call may have brought upon the others, is left to
// each caller alone.
func (s *Store) flushClaims(ctx context.Context, batch []*combiner.Call[*claim]) error {
	started := batch[:0:0]
	for _, call := range batch {
		if call.Start() {
			started = append(started, call)
		}
	}
	ctx, cancel := s.patience.bound(ctx)
	defer cancel()
	if len(started) == 1 {
		return s.insertOne(ctx, started[0].Op)
	}
	for len(started) > 0 {
		n := s.fitting(started)
		answerAll(started[:n], s.insertMany(ctx, started[:n]))
		started = started[n:]
	}
	return nil
}

// answerAll answers the calls of one statement, if it failed: those of the batch's
// other statements have nothing to do with that.
func answerAll[T any](calls []*combiner.Call[T], err error) {
	if err == nil {
		return
	}
	for _, call := range calls {
		call.Answer(err)
	}
}

// insertOne is the flush of a call that met no others.
func (s *Store) insertOne(ctx context.Context, c *claim) error {
	err := runner{store: s}.insert(ctx, c)
	switch ClassOf(err) {
	case Conflict:
		return nil
	case Locked:
		c.blocked = true
		return nil
	}
	return err
}

// fitting is how many claims one statement takes.
func (s *Store) fitting(calls []*combiner.Call[*claim]) int {
	size := 0
	for i, call := range calls {
		size += insertSize + 2*(len(call.Op.p.Operation)+len(call.Op.p.KeyText))
		if i > 0 && size > s.maxText {
			return i
		}
	}
	return len(calls)
}

func (s *Store) insertMany(ctx context.Context, calls []*combiner.Call[*claim]) error {
	least, err := s.leastFence(ctx)
	if err != nil {
		return err
	}
	firsts := firstOfEach(calls)
	sent := time.Now()
	d, err := s.insertAll(ctx, firsts, least)
	if err != nil {
		if ClassOf(err) == Unsure {
			return unwritten(ctx, err)
		}
		return nil // nothing was done: each caller goes on alone
	}
	if d.rows == int64(len(firsts)) && !s.foundRows {
		settleFresh(calls, d.id, max(d.id, least), since(d.id, sent))
		return nil
	}
	rows, now, err := s.loadMany(ctx, len(firsts), func(i int) []byte { return firsts[i].p.Key[:] })
	if err != nil {
		return unknown(ctx, err) // the claims may be there
	}
	settleFrom(calls, rows, d.id, now)
	return nil
}

// firstOfEach are the first claims of the keys of a sorted batch.
func firstOfEach(calls []*combiner.Call[*claim]) (firsts []*claim) {
	for i, call := range calls {
		if i == 0 || call.Op.p.Key != calls[i-1].Op.p.Key {
			firsts = append(firsts, call.Op)
		}
	}
	return firsts
}

// settleFresh answers a sorted batch that found no record: the first claim of each
// key has it, and the others see that.
func settleFresh(calls []*combiner.Call[*claim], began, fence, now int64) {
	var row *sqlrecord.Row
	for i, call := range calls {
		if i == 0 || call.Op.p.Key != calls[i-1].Op.p.Key {
			row = sqlrecord.Fresh(&call.Op.p, began, fence)
		}
		answer(call, row, began, now)
	}
}

// settleFrom answers a batch from its records.
func settleFrom(calls []*combiner.Call[*claim], rows map[semel.KeyID]*sqlrecord.Row, began, now int64) {
	for _, call := range calls {
		answer(call, rows[call.Op.p.Key], began, now)
	}
}

// answer tells a claim of its batch from the record of its key.
func answer(call *combiner.Call[*claim], row *sqlrecord.Row, began, now int64) {
	if row != nil && isFresh(row, &call.Op.p, began) {
		call.Op.acquired(row, now)
		return
	}
	call.Answer(call.Op.judge(row, now))
}
