package mysql

import (
	"context"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// Read is [semel.Store.Read].
func (s *Store) Read(ctx context.Context, p semel.ReadParams) (rec semel.Record, err error) {
	err = s.reading(ctx, func(ctx context.Context) error {
		row, now, err := runner{store: s}.load(ctx, p.Key[:])
		if err != nil || row == nil {
			return err
		}
		if err := row.Check(); err != nil {
			return err
		}
		rec = row.Record(now)
		return nil
	})
	return rec, err
}

// List is [semel.Lister].
func (s *Store) List(ctx context.Context, p semel.ListParams) (res semel.ListResult, err error) {
	q, err := sqlrecord.QueryOf(&p)
	if err != nil {
		return res, err
	}
	if q.After == nil {
		q.After = []byte{}
	}
	err = s.reading(ctx, func(ctx context.Context) error {
		rows, err := runner{store: s}.query(ctx, stmtList, q.After, int64(q.State), q.Scope, q.Limit)
		if err != nil {
			return err
		}
		all, now, err := scan(rows)
		if err == nil {
			res = q.Page(all, now)
		}
		return err
	})
	return res, err
}

// loadMany reads the records of several keys, and the time.
func (s *Store) loadMany(ctx context.Context, n int, key func(i int) []byte) (map[semel.KeyID]*sqlrecord.Row, int64, error) {
	rows, err := s.db.QueryContext(ctx, s.dialect.selectText(n, key))
	if err != nil {
		return nil, 0, err
	}
	all, now, err := scan(rows)
	byKey := make(map[semel.KeyID]*sqlrecord.Row, len(all))
	for _, r := range all {
		byKey[semel.KeyID(r.Key)] = r
	}
	return byKey, now, err
}
