package schemes

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/lock"
	"github.com/semel-go/semel/semeltest"
)

func lockScheme() Scheme {
	return Scheme{ID: "lock", Ways: []Way{
		{ID: Wrong, Wants: exactly(1), Code: code("lock.go", "write", "Exec", "UPDATE"), act: lockTrusted},
		{ID: Right, Wants: exactly(0), Code: code("lock.go", "writeGuarded", "lock.Guard", "since"), act: lockFenced},
	}}
}

// The two who write to the stock, under a lock.
const (
	workerA = "worker-a" // is paused while it has the lock
	workerB = "worker-b"
)

// lease is how long the lock outlives its owner.
const lease = 1200 * time.Millisecond

const (
	parcelsOfA = 2
	parcelsOfB = 3
)

// newStock puts a row into the table.
func (s *scene) newStock(ctx context.Context) (id int64, err error) {
	res, err := s.db.ExecContext(ctx, "INSERT INTO stocks (stock) VALUES (?)", oldStock)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// stock reads what is there, for somebody who has the lock.
func (s *scene) stock(ctx context.Context, who, what string, id int64) (int, error) {
	n, err := s.count(ctx, "SELECT stock FROM stocks WHERE id = ?", id)
	if err == nil {
		s.say(ctx, who, what, Plain, "stock", n)
	}
	return n, err
}

// landed counts the late writes: B's was the last that had the lock.
func (s *scene) landed(ctx context.Context, id int64) (int, error) {
	return s.count(ctx, "SELECT count(*) FROM stocks WHERE id = ? AND stock <> ?", id, oldStock-parcelsOfB)
}

// write trusts the lock: whoever is here has it, or had it.
func write(ctx context.Context, db *sql.DB,
	id int64, stock int,
) error {
	_, err := db.ExecContext(ctx,
		"UPDATE stocks SET stock = ? WHERE id = ?", stock, id)
	return err
}

// lockTrusted is a lock with a TTL, which holds what it promises. A does not learn that
// its time is over.
func lockTrusted(ctx context.Context, s *scene) (int, error) {
	id, err := s.newStock(ctx)
	if err != nil {
		return 0, err
	}
	l := ttlLock{s.db, newName("stock-")}
	if err := l.wait(ctx, workerA); err != nil {
		return 0, err
	}
	seen, err := s.stock(ctx, workerA, "locked", id)
	if err != nil {
		return 0, err
	}
	s.say(ctx, workerA, "paused", Plain)
	if err := s.sendTrusted(ctx, l, id); err != nil {
		return 0, err
	}
	if err := write(ctx, s.db, id, seen-parcelsOfA); err != nil {
		return 0, err
	}
	s.say(ctx, workerA, "landed", Bad, "parcels", parcelsOfA, "stock", seen-parcelsOfA)
	return s.landed(ctx, id)
}

// sendTrusted is what B does, once it has the lock.
func (s *scene) sendTrusted(ctx context.Context, l ttlLock, id int64) error {
	if err := l.wait(ctx, workerB); err != nil {
		return err
	}
	seen, err := s.stock(ctx, workerB, "passed", id)
	if err != nil {
		return err
	}
	err = errors.Join(write(ctx, s.db, id, seen-parcelsOfB), l.release(ctx, workerB))
	s.say(ctx, workerB, "sends", Good, "parcels", parcelsOfB, "stock", seen-parcelsOfB)
	return err
}

// writeGuarded shows its fence at the row, which refuses one
// that is older than those it has seen.
func writeGuarded(ctx context.Context, db *sql.DB,
	name string, fence semel.Fence, id int64, stock int,
) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err // also when the lease is lost: ctx has ended
	}
	defer tx.Rollback()
	if err := lock.Guard(ctx, tx, name, fence); err != nil {
		return err // somebody else has had the lock since
	}
	if _, err := tx.ExecContext(ctx,
		"UPDATE stocks SET stock = ? WHERE id = ?", stock, id,
	); err != nil {
		return err
	}
	return tx.Commit()
}

// lockFenced pauses A: nothing that it sends arrives, so that its lease is not renewed.
func lockFenced(ctx context.Context, s *scene) (late int, err error) {
	id, err := s.newStock(ctx)
	if err != nil {
		return 0, err
	}
	line := semeltest.NewFaultStore(s.store) // A's, to the store
	a, errA := s.newLocker(line)
	b, errB := s.newLocker(s.store)
	if err := errors.Join(errA, errB); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, closeLocker(a), closeLocker(b)) }()
	name := newName("stock-")
	held, err := a.Acquire(ctx, name, nil)
	if err != nil {
		return 0, err
	}
	defer held.Release() // says that the lease is lost
	defer line.Heal()
	seen, err := s.stock(ctx, workerA, "locked", id)
	if err != nil {
		return 0, err
	}
	line.Always(semeltest.Renew, semeltest.Delay(time.Hour))
	s.say(ctx, workerA, "paused", Plain)
	newest, err := s.sendFenced(ctx, b, held, id, name)
	if err != nil {
		return 0, err
	}
	if err := s.wake(ctx, held, newest, id, name, seen-parcelsOfA); err != nil {
		return 0, err
	}
	return s.landed(ctx, id)
}

// sendFenced is what B does, once it has the lock, which A must not have any more then.
func (s *scene) sendFenced(ctx context.Context, b *lock.Leased, old *lock.Held, id int64, name string) (fence semel.Fence, err error) {
	var left int
	err = lock.Do(ctx, b, name, nil, func(ctx context.Context, f semel.Fence) error {
		if old.Lost() == nil {
			return errors.New("two have the lock")
		}
		seen, err := s.stock(ctx, workerB, "passed", id)
		if err != nil {
			return err
		}
		fence, left = f, seen-parcelsOfB
		return writeGuarded(ctx, s.db, name, f, id, left)
	})
	if err == nil {
		s.say(ctx, workerB, "sends", Good, "parcels", parcelsOfB, "stock", left)
	}
	return fence, err
}

// wake lets A go on: as a program that heeds its context, and as one that does not.
func (s *scene) wake(ctx context.Context, held *lock.Held, newest semel.Fence, id int64, name string, stock int) error {
	select {
	case <-held.Context().Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	err := writeGuarded(held.Context(), s.db, name, held.Fence(), id, stock)
	if !errors.Is(err, context.Canceled) || !errors.Is(held.Lost(), semel.ErrLeaseLost) {
		return errors.Join(errors.New("the paused owner was not told that its lease is lost"), err)
	}
	s.say(ctx, workerA, "woken", Again)
	if err := writeGuarded(ctx, s.db, name, held.Fence(), id, stock); !errors.Is(err, semel.ErrFenced) {
		return errors.Join(errors.New("a stale fence was let through"), err)
	}
	s.say(ctx, workerA, "fenced", Again, "fence", held.Fence(), "seen", newest)
	return nil
}

// newLocker is the locker of a process. [closeLocker] has to follow.
func (s *scene) newLocker(store semel.Store) (*lock.Leased, error) {
	return lock.New(store, &lock.Config{Lease: lease, Logger: s.log})
}

func closeLocker(l *lock.Leased) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return l.Close(ctx)
}
