package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/semel-go/semel/internal/sqlrecord"
)

// scanOne reads the first row, nil if there is none, and closes rows.
func scanOne(rows *sql.Rows) (*sqlrecord.Row, error) {
	all, err := scanAll(rows)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[0], nil
}

// scanAll reads all rows and closes them.
func scanAll(rows *sql.Rows) (all []*sqlrecord.Row, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		r := new(sqlrecord.Row)
		if err := rows.Scan(r.Fields()...); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
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
