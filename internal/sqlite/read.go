package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// reads are the statements of methods that do not write. They run on any
// connection, beside the writer.
type reads struct{ one, list *sql.Stmt }

func (r *reads) prepare(ctx context.Context, db *sql.DB, text *[statements]string) (err error) {
	if r.one, err = db.PrepareContext(ctx, text[stmtSelect]); err != nil {
		return err
	}
	if r.list, err = db.PrepareContext(ctx, text[stmtList]); err != nil {
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
	if err := rows[0].Check(); err != nil {
		return semel.Record{}, err
	}
	return rows[0].Record(s.now()), nil
}

// List is [semel.Lister].
func (s *Store) List(ctx context.Context, p semel.ListParams) (semel.ListResult, error) {
	q, err := sqlrecord.QueryOf(&p)
	if err != nil {
		return semel.ListResult{}, err
	}
	now := s.now()
	rows, err := s.query(ctx, s.reads.list, now, q.After, int64(q.State), q.Scope, q.Limit)
	if err != nil {
		return semel.ListResult{}, err
	}
	return q.Page(rows, now), nil
}

// query runs a read.
func (s *Store) query(ctx context.Context, stmt *sql.Stmt, args ...any) ([]*sqlrecord.Row, error) {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, unread(ctx, err)
	}
	all, err := scanAll(rows)
	if err != nil {
		return nil, unread(ctx, err)
	}
	return all, nil
}
