package sqlite

import (
	"errors"

	"github.com/semel-go/semel/internal/sqlrecord"
)

// tx is a transaction under way.
type tx struct {
	w       *writer
	now     int64 // µs; read once the lock is held, so that no lease is born old
	changed bool
	floor   int64 // see fenceFloor
}

// end commits, if there is anything to commit.
func (t *tx) end() error {
	if !t.changed {
		t.rollback(nil)
		return nil
	}
	if _, err := t.w.exec(stmtCommit); err != nil {
		f := uncommitted(err)
		t.rollback(f)
		return f
	}
	return nil
}

// rollback undoes the transaction. Where that fails, or the connection is of no
// use any more, dropping the connection does it.
func (t *tx) rollback(f *failure) {
	_, err := t.w.exec(stmtRollback)
	if err != nil || f != nil && f.class == classBroken {
		t.w.disconnect()
	}
}

// exec runs a statement and reports whether it changed anything.
func (t *tx) exec(id statement, args ...any) (bool, error) {
	n, err := t.execCount(id, args...)
	return n > 0, err
}

// execCount runs a statement and counts the rows that it changed.
func (t *tx) execCount(id statement, args ...any) (int64, error) {
	res, err := t.w.exec(id, args...)
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
	rows, err := t.w.query(id, args...)
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
	rows, err := t.w.query(id, args...)
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
