package sqlite

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/intx"
)

// queueing is a store whose place is all that counts.
func queueing() *Store {
	return &Store{writer: &writer{patience: 5 * time.Second}, place: place{taken: make(chan struct{}, 1)}}
}

func mustLock(t *testing.T, s *Store, key byte, wait time.Duration) (unlock func()) {
	t.Helper()
	unlock, err := s.LockTx(t.Context(), semel.KeyID{key}, wait)
	if err != nil {
		t.Fatal(err)
	}
	return unlock
}

func TestPlaceIsTakenInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := queueing()
		unlock := mustLock(t, s, 0, 0)
		var order []byte
		for key := range byte(3) {
			go func() {
				unlock := mustLock(t, s, key+1, time.Second)
				order = append(order, key+1)
				unlock()
			}()
			synctest.Wait()
		}
		unlock()
		synctest.Wait()
		if !slices.Equal(order, []byte{1, 2, 3}) {
			t.Errorf("order %v", order)
		}
	})
}

// A duplicate waits for as long as it wants to, anybody else as long as the store does.
func TestPlaceIsNotWaitedForForever(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := queueing()
		defer mustLock(t, s, 1, 0)()
		for _, c := range []struct {
			key   byte
			wait  time.Duration
			class intx.Class
			after time.Duration
		}{
			{1, 20 * time.Millisecond, intx.ClassLocked, 20 * time.Millisecond},
			{1, 0, intx.ClassLocked, time.Millisecond},
			{1, 8 * time.Second, intx.ClassLocked, 8 * time.Second},
			{2, 20 * time.Millisecond, intx.ClassConflict, 5 * time.Second},
		} {
			began := time.Now()
			_, err := s.LockTx(t.Context(), semel.KeyID{c.key}, c.wait)
			if class, _ := s.ClassTx(err); class != c.class || time.Since(began) != c.after {
				t.Errorf("%+v: %v after %v", c, err, time.Since(began))
			}
			if c.class == intx.ClassConflict && !errors.Is(err, semel.ErrStoreUnavailable) {
				t.Errorf("%v; want the store unavailable", err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.LockTx(ctx, semel.KeyID{2}, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v; want the end of the context", err)
		}
	})
}

// One that waits for another key finds out when the place goes to a duplicate.
func TestPlaceGoesToADuplicate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := queueing()
		first := mustLock(t, s, 1, 0)
		second := make(chan func(), 1)
		go func() { second <- mustLock(t, s, 2, time.Second) }()
		synctest.Wait()
		time.AfterFunc(100*time.Millisecond, first)
		_, err := s.LockTx(t.Context(), semel.KeyID{2}, 20*time.Millisecond)
		if !errors.Is(err, errSameKey) {
			t.Errorf("%v; want that the key is held", err)
		}
		(<-second)()
	})
}

func TestClassesInATransaction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err   error
		class intx.Class
		open  bool
	}{
		{errors.New("database is locked (5) (SQLITE_BUSY)"), intx.ClassConflict, false},
		{errors.New("constraint failed: FOREIGN KEY constraint failed (787)"), intx.ClassOther, false},
		{errors.New("database or disk is full (13)"), intx.ClassOther, false},
		{errors.New("disk I/O error (10)"), intx.ClassLost, true},
		{errors.New("something that no driver documents"), intx.ClassOther, true},
		{context.DeadlineExceeded, intx.ClassOther, true},
	} {
		if class, open := (&Store{}).ClassTx(c.err); class != c.class || open != c.open {
			t.Errorf("%v: class %d, open %v; want %d, %v", c.err, class, open, c.class, c.open)
		}
	}
}
