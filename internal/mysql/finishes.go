package mysql

import (
	"context"

	"github.com/semel-go/semel/internal/combiner"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// flushFinishes writes the results of a batch with one statement. Where not every
// record took its result, another statement reads them all, and says why.
func (s *Store) flushFinishes(ctx context.Context, batch []*combiner.Call[*finish]) error {
	started := batch[:0:0]
	for _, call := range batch {
		if call.Start() {
			started = append(started, call)
		}
	}
	ctx, cancel := s.patience.bound(ctx)
	defer cancel()
	if len(started) == 1 {
		return s.finishOne(ctx, started[0])
	}
	for len(started) > 0 {
		n := s.finishing(started)
		answerAll(started[:n], s.finishMany(ctx, started[:n]))
		started = started[n:]
	}
	return nil
}

func (s *Store) finishOne(ctx context.Context, call *combiner.Call[*finish]) error {
	settled, err := runner{store: s}.finish(ctx, &call.Op.p)
	if ClassOf(err) == Conflict {
		return nil
	}
	call.Op.settled = settled
	call.Answer(err)
	return nil
}

// finishing is how many finishes one statement takes: their keys must differ. The
// second of a key waits for the next statement.
func (s *Store) finishing(calls []*combiner.Call[*finish]) int {
	size := 0
	for i, call := range calls {
		size += finishSize + 2*len(call.Op.p.Result.Data)
		if i > 0 && (i == maxFinishes || size > s.maxText || call.Op.p.Key == calls[i-1].Op.p.Key) {
			return i
		}
	}
	return len(calls)
}

// maxFinishes bounds the search for a row's values, which goes along all keys of the
// statement.
const maxFinishes = 256

// finishSize is the length of one finish in a statement, without its result.
const finishSize = 200

func (s *Store) finishMany(ctx context.Context, calls []*combiner.Call[*finish]) error {
	if len(calls) == 1 {
		return s.finishOne(ctx, calls[0])
	}
	d, err := doneOf(s.db.ExecContext(ctx, s.dialect.finishText(calls)))
	if err != nil {
		if ClassOf(err) == Unsure {
			return unwritten(ctx, err)
		}
		return nil // nothing was done: each caller goes on alone
	}
	if d.rows == int64(len(calls)) {
		for _, call := range calls {
			call.Op.settled = true
		}
		return nil
	}
	return s.explain(ctx, calls)
}

// explain answers the calls of a batch from their records.
func (s *Store) explain(ctx context.Context, calls []*combiner.Call[*finish]) error {
	rows, now, err := s.loadMany(ctx, len(calls), func(i int) []byte { return calls[i].Op.p.Key[:] })
	if err != nil {
		return unknown(ctx, err) // the results may be there
	}
	for _, call := range calls {
		settled, err := finished(rows[call.Op.p.Key], now, &call.Op.p)
		call.Op.settled = settled
		call.Answer(err)
	}
	return nil
}

// finishText is finishRecord for several results.
func (d dialect) finishText(calls []*combiner.Call[*finish]) string {
	var list literal
	list.keys(len(calls), func(i int) []byte { return calls[i].Op.p.Key[:] })
	keys, n := string(list), len(calls)
	l := make(literal, 0, 1024+4*len(keys)+600*n)
	l.text(d.expand("{bounded} UPDATE semel_record AS r FORCE INDEX (PRIMARY) SET r.expires_at = IF(r.expires_at - {now} < "))
	l.integer(n, keys, func(i int) int64 { return sqlrecord.Half(calls[i].Op.p.Retention) })
	l.text(d.expand(", {now} * "))
	l.integer(n, keys, func(i int) int64 { m, _ := expiryOf(calls[i].Op.p.Retention); return m })
	l.text(" + ")
	l.integer(n, keys, func(i int) int64 { _, d := expiryOf(calls[i].Op.p.Retention); return d })
	l.text(", r.expires_at), r.doubt_since = 0, r.cause = 0, r.checkpoint = NULL, r.result_kind = ")
	l.integer(n, keys, func(i int) int64 { return int64(calls[i].Op.p.Result.Kind) })
	l.text(", r.result = ")
	l.column(n, keys, func(l *literal, i int) { l.result(calls[i].Op.p.Result.Data) })
	l.text(", r.state = 3 WHERE r.key IN (" + keys + ") AND r.token = ")
	l.column(n, keys, func(l *literal, i int) { l.bytes(calls[i].Op.p.Token[:]) })
	l.text(d.expand(" AND r.token <> {zero} AND {readable} AND r.state IN (1, 4) AND NOT {gone}"))
	return string(l)
}
