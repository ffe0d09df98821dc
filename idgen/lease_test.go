package idgen_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/idgen"
	"github.com/semel-go/semel/semeltest"
)

// The store cannot be reached: issuing stops before the lease can pass to somebody else,
// with ErrLeaseLost. When it is back the node takes a worker id by itself and
// goes on above its last id.
func TestStoreIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, store := &ledger{}, newStore(t)
		a := newHost(t, book, store, "a", two)
		a.mustStart()
		claimed := time.Now()
		a.store.cut()
		var stopped time.Duration
		for stopped == 0 {
			if _, err := a.next(); err != nil {
				stopped = time.Since(claimed)
				if !errors.Is(err, semel.ErrLeaseLost) || !errors.Is(err, semel.ErrStoreUnavailable) {
					t.Errorf("%v is no ErrLeaseLost with the store's error", err)
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
		if stopped > lease-lease/10 || stopped < lease/2 {
			t.Errorf("it issued ids for %v; its lease was %v", stopped, lease)
		}
		last := a.last
		a.heal()
		time.Sleep(lease / 2)
		a.mustIssue(10)
		if a.last <= last {
			t.Errorf("%d after %d", a.last, last)
		}
		a.mustClose()
		book.mustBeClean(t)
	})
}

// Renewals fail, and a reservation hangs that nobody waits for: the lease alone ends the
// issuing, in time.
func TestLeaseCannotBeRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, store := &ledger{}, newStore(t)
		a := newHost(t, book, store, "a", two)
		a.mustStart()
		claimed := time.Now()
		a.store.Always(semeltest.Renew, semeltest.Fail(semel.ErrNoReply))
		a.store.Always(semeltest.Claim, semeltest.Fail(semel.ErrStoreUnavailable))
		a.store.onCheckpoint(func(apply func() error) error {
			if time.Since(claimed) < lease/2 {
				return apply()
			}
			time.Sleep(lease)
			return semel.ErrNoReply
		})
		var stopped time.Duration // when the last id was issued
		for {
			if _, err := a.next(); err != nil {
				break
			}
			stopped = time.Since(claimed)
			time.Sleep(10 * time.Millisecond)
		}
		if stopped > lease-lease/10+50*time.Millisecond || stopped < lease/2 {
			t.Errorf("it issued ids for %v; its lease was %v", stopped, lease)
		}
		a.heal()
		time.Sleep(2 * lease)
		a.mustIssue(1)
		a.mustClose()
		book.mustBeClean(t)
	})
}

// The record is taken away: the node learns it with its next call and moves on.
func TestRecordIsTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, store := &ledger{}, newStore(t)
		a := newHost(t, book, store, "a", two)
		a.mustStart()
		a.mustIssue(10)
		a.store.Next(semeltest.Renew, semeltest.Fail(semel.ErrFenced))
		a.step(-lease/3 - 8*time.Millisecond)
		time.Sleep(lease/3 + 3*time.Millisecond) // nobody asks for ids meanwhile
		a.mustIssue(10)                          // above the last ones, though the other worker id was never used
		a.mustClose()
		book.mustBeClean(t)
	})
}

// A reservation gets no reply: no caller notices, if another worker id is free.
func TestReservationWithoutReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, store := &ledger{}, newStore(t)
		a := newHost(t, book, store, "a", two)
		a.mustStart()
		worker := a.node.Worker()
		failed := false
		a.store.onCheckpoint(func(apply func() error) error {
			if !failed {
				failed = true
				return semel.ErrNoReply
			}
			return apply()
		})
		for range 3 * lease / (10 * time.Millisecond) {
			a.mustIssue(1)
			time.Sleep(10 * time.Millisecond)
		}
		if a.node.Worker() == worker {
			t.Error("it kept a worker id whose horizon nobody knows")
		}
		a.mustClose()
		book.mustBeClean(t)
	})
}

// Field fault: a statement that was given up is executed later. A reservation that
// comes after a later one must not move the horizon back for the next holder.
func TestReservationThatComesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, store := &ledger{}, newStore(t)
		other, a := newHost(t, book, store, "other", two), newHost(t, book, store, "a", two)
		other.mustStart()
		a.mustStart()
		var late func() error
		a.store.onCheckpoint(func(apply func() error) error {
			if late == nil {
				late = apply
				return semel.ErrNoReply
			}
			return apply()
		})
		for range 3 * lease / (10 * time.Millisecond) {
			_, _ = a.next() // until it has its worker id again there are errors
			time.Sleep(10 * time.Millisecond)
		}
		a.mustIssue(1)
		a.step(lease) // so that much is reserved at once, and used
		a.mustIssue(300)
		if err := late(); err != nil && !errors.Is(err, semel.ErrFenced) {
			t.Fatal(err)
		}
		a.store.cut()
		time.Sleep(lease)
		next := newHost(t, book, store, "next", two)
		for next.start() != nil {
			time.Sleep(time.Millisecond)
		}
		next.mustIssue(300)
		book.mustBeClean(t)
		a.bury()
		next.mustClose()
		other.mustClose()
	})
}

// The store says for certain that it did nothing: the reservation is asked for again, and
// the worker id stays.
func TestReservationIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, store := &ledger{}, newStore(t)
		a := newHost(t, book, store, "a", two)
		a.mustStart()
		worker := a.node.Worker()
		refusals := 2
		a.store.onCheckpoint(func(apply func() error) error {
			if refusals > 0 {
				refusals--
				return semel.ErrStoreUnavailable
			}
			return apply()
		})
		for range 3 * lease / (10 * time.Millisecond) {
			a.mustIssue(1)
			time.Sleep(10 * time.Millisecond)
		}
		if a.node.Worker() != worker {
			t.Errorf("worker %d became %d", worker, a.node.Worker())
		}
		a.mustClose()
		book.mustBeClean(t)
	})
}

// A node that was killed blocks its worker id for its lease and no longer.
func TestKilledNodeBlocksForALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, store := &ledger{}, newStore(t)
		other, a, next := newHost(t, book, store, "other", two), newHost(t, book, store, "a", two), newHost(t, book, store, "next", two)
		other.mustStart()
		a.mustStart()
		time.Sleep(3*lease - lease/6) // between two renewals
		a.mustIssue(20)
		a.store.cut()
		if _, ok := errors.AsType[*idgen.WorkersError](next.start()); !ok {
			t.Error("the worker id of a live lease was taken")
		}
		time.Sleep(lease)
		next.mustStart()
		next.mustIssue(20)
		a.bury()
		next.mustClose()
		other.mustClose()
		book.mustBeClean(t)
	})
}
