package inbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/inbox"
)

func TestConflicts(t *testing.T) {
	t.Parallel()
	everywhere(t, []rule{
		{name: "a deadlock is repeated", run: deadlock},
		{name: "without retries it is returned", run: deadlockReturned},
		{name: "64 workers, deadlocks", run: func(t *testing.T, f *fixture) { crowd(t, f, sql.LevelDefault, bothAccounts) }},
		{name: "64 workers, serializable", run: func(t *testing.T, f *fixture) { crowd(t, f, sql.LevelSerializable, readThenWrite) }},
		{name: "64 workers, repeatable read", run: func(t *testing.T, f *fixture) { crowd(t, f, sql.LevelRepeatableRead, bothAccounts) }},
	})
}

// crossing withdraws from two accounts, in an order of its own, and meets another one
// in between.
func crossing(name string, first, second int, met *rendezvous, runs *atomic.Int64) work {
	return func(ctx context.Context, tx execer) (receipt, error) {
		runs.Add(1)
		if _, err := withdrawFrom(ctx, tx, first, name, 0); err != nil {
			return receipt{}, err
		}
		met.wait(ctx)
		return receipt{}, tx.exec(ctx, fmt.Sprintf("UPDATE account SET balance = balance + 0 WHERE id = %d", second))
	}
}

// rendezvous lets two parties go on once both are there; later ones pass.
type rendezvous struct {
	there atomic.Int64
	both  chan struct{}
}

func newRendezvous() *rendezvous { return &rendezvous{both: make(chan struct{})} }

func (r *rendezvous) wait(ctx context.Context) {
	if r.there.Add(1) == 2 {
		close(r.both)
	}
	select {
	case <-r.both:
	case <-ctx.Done():
	}
}

// cross makes two operations that deadlock, and returns what they returned and how
// often their work ran.
func cross(t *testing.T, b box) (a, c outcome, runs int) {
	t.Helper()
	met, count := newRendezvous(), new(atomic.Int64)
	one := start(t.Context(), b, opOf("one"), crossing("one", 1, 2, met, count))
	two := start(t.Context(), b, opOf("two"), crossing("two", 2, 1, met, count))
	a, c = <-one, <-two
	return a, c, int(count.Load())
}

func deadlock(t *testing.T, f *fixture) {
	if f.world.oneWriter {
		return // two writers never meet
	}
	a, c, runs := cross(t, f.box(t, nil))
	if a.err != nil || c.err != nil || runs < 3 {
		t.Errorf("%v, %v after %d runs; want both to succeed, and one to run again", a.err, c.err, runs)
	}
}

func deadlockReturned(t *testing.T, f *fixture) {
	if f.world.oneWriter {
		return
	}
	a, c, runs := cross(t, f.box(t, &inbox.Options{Retries: -1}))
	if (a.err == nil) == (c.err == nil) || runs != 2 {
		t.Errorf("%v, %v after %d runs; want one of them to fail", a.err, c.err, runs)
	}
}

// bothAccounts moves money in an order that others have the other way round.
func bothAccounts(name string) work {
	return func(ctx context.Context, tx execer) (receipt, error) {
		first := 1 + rand.IntN(2)
		r, err := withdrawFrom(ctx, tx, first, name, 2)
		if err != nil {
			return r, err
		}
		err = tx.exec(ctx, fmt.Sprintf("UPDATE account SET balance = balance + 1 WHERE id = %d", 3-first))
		if err != nil {
			return r, err
		}
		return r, tx.exec(ctx, fmt.Sprintf("UPDATE account SET balance = balance - 1 WHERE id = %d", first))
	}
}

// readThenWrite writes what it has read, so that a lost update would show.
func readThenWrite(name string) work {
	return func(ctx context.Context, tx execer) (receipt, error) {
		balance, err := tx.number(ctx, "SELECT balance FROM account WHERE id = 1")
		if err != nil {
			return receipt{}, err
		}
		if err := tx.exec(ctx, fmt.Sprintf("UPDATE account SET balance = %d WHERE id = 1", balance-1)); err != nil {
			return receipt{}, err
		}
		return receipt{1}, tx.exec(ctx, fmt.Sprintf("INSERT INTO withdrawal (op, amount) VALUES ('%s', 1)", name))
	}
}

const crowdKeys = 40

// crowd lets 64 workers ask for each key three times. How often the work ran is
// told, since a crowd without conflicts shows nothing.
func crowd(t *testing.T, f *fixture, isolation sql.IsolationLevel, business func(name string) work) {
	if f.world.oneWriter && isolation != sql.LevelDefault {
		return // it has one level
	}
	var runs atomic.Int64
	b := f.box(t, &inbox.Options{Isolation: isolation, Retries: 1000, Waiters: 8})
	calls := make(chan string)
	var workers sync.WaitGroup
	for range 64 {
		workers.Go(func() {
			for name := range calls {
				insist(t, b, name, func(ctx context.Context, tx execer) (receipt, error) {
					runs.Add(1)
					return business(name)(ctx, tx)
				})
			}
		})
	}
	for i := range 3 * crowdKeys {
		calls <- fmt.Sprint("k", i/3)
	}
	close(calls)
	workers.Wait()
	if n := f.number(t, "SELECT COUNT(DISTINCT op) FROM withdrawal"); n != crowdKeys {
		t.Errorf("%d keys took effect, want %d", n, crowdKeys)
	}
	t.Logf("%d keys, %d runs", crowdKeys, runs.Load())
}

// insist calls until there is an answer. Only that another one is under way is an
// error that may come.
func insist(t *testing.T, b box, name string, fn work) {
	for {
		_, err := b.do(t.Context(), opOf(name), fn)
		if err == nil {
			return
		}
		if _, busy := errors.AsType[*semel.InProgressError](err); !busy {
			t.Errorf("%s: %v", name, err)
			return
		}
	}
}
