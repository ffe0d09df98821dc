package postgres

import (
	"context"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// List is [semel.Lister].
func (s *Store) List(ctx context.Context, p semel.ListParams) (res semel.ListResult, err error) {
	q, err := sqlrecord.QueryOf(&p)
	if err != nil {
		return res, err
	}
	err = s.alone(ctx, func(ctx context.Context) error {
		res, err = s.list(ctx, &q)
		return err
	})
	return res, unread(ctx, err)
}

func (s *Store) list(ctx context.Context, q *sqlrecord.ListQuery) (semel.ListResult, error) {
	var after any
	if q.After != nil {
		after = uuid([16]byte(q.After))
	}
	var rows []*sqlrecord.Row
	var now int64
	err := s.db.Query(ctx, s.text.list, []any{after, int64(q.State), null(q.Scope), int64(q.Limit)}, func(r Row) error {
		found := new(seen)
		if err := found.read(r); err != nil {
			return err
		}
		rows, now = append(rows, &found.row), found.now
		return nil
	})
	if err != nil {
		return semel.ListResult{}, err
	}
	return q.Page(rows, now), nil
}

// maxPurge bounds the time for which a chunk holds rows and writes: some 50 ms for
// records of ordinary size.
const maxPurge = 1000

// Purge is [semel.Purger]. A chunk has 1,000 records at most, whatever the limit.
func (s *Store) Purge(ctx context.Context, p semel.PurgeParams) (res semel.PurgeResult, err error) {
	err = s.alone(ctx, func(ctx context.Context) error {
		res, err = s.purge(ctx, min(max(p.Limit, 1), maxPurge))
		return err
	})
	return res, failure(err)
}

func (s *Store) purge(ctx context.Context, limit int) (res semel.PurgeResult, err error) {
	var purged int64
	if _, err := scalars(ctx, s.db.Query, s.text.purge, []any{string(waitOne), int64(limit)}, &purged); err != nil {
		return res, err
	}
	res.Purged = int(purged)
	var oldest, now int64
	res.More, err = scalars(ctx, s.db.Query, s.text.purgeLeft, nil, &oldest, &now)
	if oldest > 0 { // 0: deleted, not expired
		res.Lag = time.Duration(now-oldest) * time.Microsecond
	}
	return res, err
}
