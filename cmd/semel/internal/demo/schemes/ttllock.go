package schemes

import (
	"context"
	"database/sql"
	"time"
)

// ttlLock is a lock as many write it: a row, or a key in Redis, with an owner and a TTL.
// It has one owner at a time, and is given back by that one only.
type ttlLock struct {
	db   *sql.DB
	name string
}

// wait takes the lock, as soon as nobody has it.
func (l ttlLock) wait(ctx context.Context, owner string) error {
	for {
		if taken, err := l.take(ctx, owner); taken || err != nil {
			return err
		}
		if pause(ctx, 20*time.Millisecond); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (l ttlLock) take(ctx context.Context, owner string) (bool, error) {
	now := time.Now()
	res, err := l.db.ExecContext(ctx, `INSERT INTO locks (name, owner, until) VALUES (?1, ?2, ?3)
		ON CONFLICT (name) DO UPDATE SET owner = ?2, until = ?3 WHERE until < ?4`,
		l.name, owner, now.Add(lease).UnixMilli(), now.UnixMilli())
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

func (l ttlLock) release(ctx context.Context, owner string) error {
	_, err := l.db.ExecContext(ctx, "DELETE FROM locks WHERE name = ? AND owner = ?", l.name, owner)
	return err
}
