package sqltx

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// heeds reports a driver whose statements come back when their context ends.
func heeds(db *sql.DB) bool {
	switch fmt.Sprintf("%T", db.Driver()) {
	case "*stdlib.Driver", "*mysql.MySQLDriver", "*sqlite.Driver", "*sqlite3.SQLiteDriver":
		return true
	}
	return false
}

var errLeft = errors.New("sqltx: a statement of the transaction hangs; its connection is given up")

// grace is for how long a driver may take to notice that a context has ended. What it
// says then tells more than that.
const grace = 100 * time.Millisecond

// step runs statements of the transaction. lib/pq waits for a reply that does not come
// even when the context has ended, for ever if the connection hangs: such a transaction
// is left to a goroutine, which ends with the connection, and nobody else touches it.
func (t *tx) step(ctx context.Context, run func() error) error {
	if t.d.heeds {
		return run()
	}
	done := make(chan error, 1)
	go func() { done <- run() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
	}
	t.left = true
	go t.abandon(done)
	return context.Cause(ctx)
}

// abandon waits for the statement that hangs, and throws the connection away.
func (t *tx) abandon(done <-chan error) {
	<-done
	if t.tx != nil {
		_ = t.tx.Rollback() // the server does so by itself
	}
	t.close(false)
}
