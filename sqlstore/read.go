package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/semel-go/semel"
)

// reads are the statements of methods that do not write. They run on any
// connection, beside the writer.
type reads struct{ one, list *sql.Stmt }

func (r *reads) prepare(ctx context.Context, db *sql.DB, d *dialect) (err error) {
	if r.one, err = db.PrepareContext(ctx, d.sql[stmtSelect]); err != nil {
		return err
	}
	if r.list, err = db.PrepareContext(ctx, d.sql[stmtList]); err != nil {
		return errors.Join(err, r.one.Close())
	}
	return nil
}

func (r *reads) close() error { return errors.Join(r.one.Close(), r.list.Close()) }

// Read is [semel.Store.Read].
func (s *Store) Read(ctx context.Context, p semel.ReadParams) (semel.Record, error) {
	rows, err := s.query(ctx, s.reads.one, p.Key[:])
	if err != nil || len(rows) == 0 {
		return semel.Record{}, err
	}
	return rows[0].record(s.now()), nil
}

// List is [semel.Lister].
func (s *Store) List(ctx context.Context, p semel.ListParams) (semel.ListResult, error) {
	limit, now := min(max(p.Limit, 1), 1000), s.now()
	var first, scope []byte
	if p.Cursor != "" {
		last, err := semel.ParseKeyID(p.Cursor)
		if err != nil {
			return semel.ListResult{}, errors.New("sqlstore: the cursor is none of this store's; begin with an empty one")
		}
		first = last[:]
	}
	if p.ScopeID != nil {
		scope = p.ScopeID[:]
	}
	rows, err := s.query(ctx, s.reads.list, now, first, int64(p.State), scope, limit+1)
	if err != nil {
		return semel.ListResult{}, err
	}
	var res semel.ListResult
	for _, r := range rows[:min(len(rows), limit)] {
		res.Records = append(res.Records, r.record(now))
	}
	if len(rows) > limit {
		res.Next = res.Records[limit-1].Key.String()
	}
	return res, nil
}

// query runs a read and checks its records.
func (s *Store) query(ctx context.Context, stmt *sql.Stmt, args ...any) ([]*row, error) {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, s.dialect.unread(ctx, err)
	}
	all, err := scanAll(rows)
	if err != nil {
		return nil, s.dialect.unread(ctx, err)
	}
	for _, r := range all {
		if err := r.check(); err != nil {
			return nil, err
		}
	}
	return all, nil
}
