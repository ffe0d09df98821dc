package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/semel-go/semel"
)

// scanOne reads the first row, nil if there is none, and closes rows.
func scanOne(rows *sql.Rows) (*row, error) {
	all, err := scanAll(rows)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[0], nil
}

// scanAll reads all rows and closes them.
func scanAll(rows *sql.Rows) (all []*row, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		r := new(row)
		if err := rows.Scan(r.fields()...); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// check refuses a record that this version cannot read: a newer format, or
// columns that no version wrote.
func (r *row) check() error {
	if r.format > semel.RecordFormatMax {
		return &semel.RecordFormatError{Format: r.format}
	}
	if r.format < 1 || r.state < semel.StateRunning || r.state > semel.StateInDoubt ||
		len(r.key) != len(semel.KeyID{}) || len(r.token) != len(semel.Token{}) ||
		len(r.fingerprint) != len(semel.Fingerprint{}) || len(r.scopeID) != len(semel.ScopeID{}) {
		return fmt.Errorf("sqlstore: the record %.4x is damaged; restore or delete its row: %w", r.key, &semel.RecordFormatError{Format: r.format})
	}
	return nil
}

// discard closes a connection without handing it back to its pool.
func discard(c *sql.Conn) {
	c.Raw(func(any) error { return driver.ErrBadConn })
	c.Close()
}

// queryText answers the first column of the first row as text.
func queryText(ctx context.Context, c *sql.Conn, query string) (string, error) {
	var s string
	err := c.QueryRowContext(ctx, query).Scan(&s)
	return s, err
}
