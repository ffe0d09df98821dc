package sqlite

import (
	"database/sql"
	"errors"

	"github.com/semel-go/semel/internal/sqlrecord"
)

// runner executes the statements of a transaction.
type runner interface {
	exec(id statement, args ...any) (sql.Result, error)
	query(id statement, args ...any) (*sql.Rows, error)
}

// tx is a transaction under way.
type tx struct {
	runner
	now     int64 // µs; read once the lock is held, so that no lease is born old
	changed bool
	floor   int64 // see fenceFloor
}

// change runs a statement and reports whether it changed anything.
func (t *tx) change(id statement, args ...any) (bool, error) {
	n, err := t.changeCount(id, args...)
	return n > 0, err
}

// changeCount runs a statement and counts the rows that it changed.
func (t *tx) changeCount(id statement, args ...any) (int64, error) {
	res, err := t.exec(id, args...)
	if err != nil {
		return 0, undone(err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return 0, undone(err)
	}
	t.changed = t.changed || n > 0
	return n, nil
}

// fenceFloor is the highest fence of all purged records; read once a transaction.
func (t *tx) fenceFloor() (int64, error) {
	if t.floor > 0 {
		return t.floor, nil
	}
	n, _, err := t.number(stmtFloor)
	t.floor = max(n, 1)
	return t.floor, err
}

// row runs a query that answers one record at most; nil if none.
func (t *tx) row(id statement, args ...any) (*sqlrecord.Row, error) {
	rows, err := t.query(id, args...)
	if err != nil {
		return nil, undone(err)
	}
	r, err := scanOne(rows)
	if err != nil {
		return nil, undone(err)
	}
	return r, nil
}

// number runs a query that answers one number at most.
func (t *tx) number(id statement, args ...any) (n int64, found bool, err error) {
	rows, err := t.query(id, args...)
	if err != nil {
		return 0, false, undone(err)
	}
	defer rows.Close()
	if found = rows.Next(); found {
		err = rows.Scan(&n)
	}
	if err = errors.Join(err, rows.Err()); err != nil {
		return 0, false, undone(err)
	}
	return n, found, nil
}

// load reads the record of a key; nil if there is none, expired ones included.
func (t *tx) load(key []byte) (*sqlrecord.Row, error) {
	r, err := t.row(stmtSelect, key)
	if err != nil {
		return nil, err
	}
	return r.Seen(t.now)
}
