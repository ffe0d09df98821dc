package sqlcall

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
)

// Exec runs a statement that may be executed once only. A pool of database/sql sends a
// statement again after driver.ErrBadConn, which is meant to say that it was never
// sent; but lib/pq returns it too when the connection ends in the place of a reply. So
// doubt tells that the statement has gone out before, and may have had its effect then:
// what it meets now may be its own doing.
func Exec(ctx context.Context, q Execer, query string, args []any) (res sql.Result, doubt bool, err error) {
	pool, ok := q.(Pool)
	if !ok {
		res, err = q.ExecContext(ctx, query, args...)
		return res, false, err
	}
	for range pinned {
		conn, err := pool.Conn(ctx)
		if err != nil {
			return nil, doubt, err
		}
		res, err = conn.ExecContext(ctx, query, args...) // not repeated by database/sql
		_ = conn.Close()                                 // gives it back; the statement's own error counts
		if err == nil || !errors.Is(err, driver.ErrBadConn) {
			return res, doubt, err
		}
		doubt = doubt || !truthful(pool)
	}
	res, err = pool.ExecContext(ctx, query, args...)
	return res, doubt, err
}

// pinned is how often the statement goes out on one connection. After that the
// connections that the pool keeps are all broken, and it knows how to get a new one.
const pinned = 2

// truthful reports a driver whose ErrBadConn says what it is meant to say.
func truthful(pool Pool) bool {
	d, ok := pool.(interface{ Driver() driver.Driver })
	if !ok {
		return false
	}
	switch fmt.Sprintf("%T", d.Driver()) {
	case "*stdlib.Driver", "*mysql.MySQLDriver", "*sqlite.Driver", "*sqlite3.SQLiteDriver":
		return true
	}
	return false
}
