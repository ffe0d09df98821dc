package mysql

import (
	"context"
	"database/sql"
	"errors"

	"github.com/semel-go/semel/internal/sqlrecord"
)

// runner executes the prepared statements of a store: on any connection of its
// pool, or in a transaction.
type runner struct {
	store *Store
	tx    *sql.Tx // nil: autocommitted
}

// stmt is the statement on its connection. Each connection of the pool prepares it
// once.
func (r runner) stmt(ctx context.Context, id statement) *sql.Stmt {
	if r.tx != nil {
		return r.tx.StmtContext(ctx, r.store.prepared[id])
	}
	return r.store.prepared[id]
}

func (r runner) exec(ctx context.Context, id statement, args ...any) (done, error) {
	return doneOf(r.stmt(ctx, id).ExecContext(ctx, r.store.texts[id].args(args)...))
}

// load reads the record of a key, nil if there is none, and the time; in a
// transaction it locks the record, which no snapshot must hide.
func (r runner) load(ctx context.Context, key []byte) (*sqlrecord.Row, int64, error) {
	id := stmtSelect
	if r.tx != nil {
		id = stmtLock
	}
	rows, err := r.query(ctx, id, key)
	if err != nil {
		return nil, 0, err
	}
	all, now, err := scan(rows)
	if err != nil || len(all) == 0 {
		return nil, 0, err
	}
	return all[0], now, nil
}

// done is what a statement says of itself.
type done struct {
	rows int64 // inserted, or changed; found with clientFoundRows
	id   int64 // LAST_INSERT_ID(…)
}

func doneOf(res sql.Result, err error) (d done, _ error) {
	if err != nil {
		return d, err
	}
	var errRows, errID error
	d.rows, errRows = res.RowsAffected()
	d.id, errID = res.LastInsertId()
	return d, errors.Join(errRows, errID)
}

// scan reads all rows, each with the time behind its columns, and closes them.
func scan(rows *sql.Rows) (all []*sqlrecord.Row, now int64, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		r := new(sqlrecord.Row)
		if err := rows.Scan(append(r.Fields(), &now)...); err != nil {
			return nil, 0, err
		}
		all = append(all, r)
	}
	return all, now, rows.Err()
}

func (r runner) query(ctx context.Context, id statement, args ...any) (*sql.Rows, error) {
	return r.stmt(ctx, id).QueryContext(ctx, r.store.texts[id].args(args)...)
}
