package sqlstore

import (
	"context"
	"database/sql"
	"encoding/hex"
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
	if err := rows[0].check(); err != nil {
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
	if len(rows) > limit {
		rows = rows[:limit]
		res.Next = hex.EncodeToString(rows[limit-1].key)
	}
	for _, r := range rows {
		if listed, ok := r.listed(now, p.State); ok {
			res.Records = append(res.Records, listed)
		}
	}
	return res, nil
}

// listed is the record as a list shows it.
func (r *row) listed(now int64, want semel.State) (semel.Record, bool) {
	if r.check() == nil {
		return r.record(now), true
	}
	unreadable := semel.Record{State: semel.StateUnreadable}
	copy(unreadable.Key[:], r.key)
	return unreadable, want == semel.StateNone
}

// query runs a read.
func (s *Store) query(ctx context.Context, stmt *sql.Stmt, args ...any) ([]*row, error) {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, s.dialect.unread(ctx, err)
	}
	all, err := scanAll(rows)
	if err != nil {
		return nil, s.dialect.unread(ctx, err)
	}
	return all, nil
}
