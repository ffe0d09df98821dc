package main

import (
	"context"
	"database/sql"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/lock"
)

// report makes the report of a month unless it is there. Locking spares two workers the
// same hours of work; that there is one report is for the fence and the look inside the
// lock to keep.
//
// The wrong way looks first and locks then: by the time it has the lock, what it saw is
// old. The other wrong way deletes the lock when it is done, whoever holds it by then.
func report(ctx context.Context, locker lock.Locker, db *sql.DB, month string) (made bool, err error) {
	err = lock.Do(ctx, locker, "report/"+month, nil, func(ctx context.Context, fence semel.Fence) error {
		made, err = write(ctx, db, month, fence)
		return err
	})
	return made, err
}

func write(ctx context.Context, db *sql.DB, month string, fence semel.Fence) (made bool, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback() // nothing after a commit
	if err := lock.Guard(ctx, tx, "report/"+month, fence); err != nil {
		return false, err // somebody else has the lock by now
	}
	var there bool
	err = tx.QueryRowContext(ctx, "SELECT count(*) > 0 FROM report WHERE month = $1", month).Scan(&there)
	if err != nil || there {
		return false, err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO report VALUES ($1, 12)", month); err != nil {
		return false, err
	}
	return true, tx.Commit()
}
