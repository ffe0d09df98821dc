package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
)

// codeError is an error as modernc.org/sqlite gives them.
type codeError struct{ code int }

func (e *codeError) Error() string { return "scripted" }

func (e *codeError) Code() int { return e.code }

func claimOf(n byte) semel.ClaimParams {
	return semel.ClaimParams{
		Key: semel.KeyID{n}, Token: semel.Token{n}, Policy: semel.AtLeastOnce, Lease: time.Minute, Retention: time.Hour,
	}
}

func renewOf(n byte) semel.RenewParams {
	return semel.RenewParams{Key: semel.KeyID{n}, Token: semel.Token{n}, Lease: time.Minute}
}

func TestFailuresSayWhetherTheCallMayHaveBeenExecuted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, statement string
		err             error
		want            error
	}{
		{"begin: bad connection", "BEGIN", driver.ErrBadConn, semel.ErrStoreUnavailable},
		{"begin: I/O", "BEGIN", &codeError{10}, semel.ErrStoreUnavailable},
		{"statement: I/O", "INSERT", &codeError{10}, semel.ErrStoreUnavailable},
		{"statement: full", "INSERT", &codeError{13}, semel.ErrStoreFull},
		{"statement: full, by text", "INSERT", errors.New("sqlite3: database or disk is full"), semel.ErrStoreFull},
		{"commit: I/O", "COMMIT", &codeError{10 | 4<<8}, semel.ErrNoReply},
		{"commit: bad connection", "COMMIT", driver.ErrBadConn, semel.ErrNoReply},
		{"commit: unknown", "COMMIT", errors.New("?"), semel.ErrNoReply},
		{"commit: busy", "COMMIT", &codeError{5}, semel.ErrStoreUnavailable},
		{"commit: full", "COMMIT", &codeError{13}, semel.ErrStoreFull},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{}
			s := openFake(t, f, Options{})
			f.script(on(c.statement, reply{err: c.err}))
			_, err := s.Claim(t.Context(), claimOf(1))
			wantOnly(t, err, c.want)
			f.script(nil)
			if _, err := s.Claim(t.Context(), claimOf(2)); err != nil {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

// wantOnly checks that err wraps this sentinel and none of the others, which
// would say something else about what was executed.
func wantOnly(t *testing.T, err, want error) {
	t.Helper()
	for _, sentinel := range []error{semel.ErrStoreUnavailable, semel.ErrNoReply, semel.ErrStoreFull, semel.ErrFenced} {
		if errors.Is(err, sentinel) != (sentinel == want) {
			t.Errorf("error %v; want one that wraps %v alone", err, want)
		}
	}
}

// A commit without an answer may have been executed: nothing of it is repeated
// here, and every caller of the batch is told.
func TestUnknownCommitIsUnknownForTheWholeBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := openFake(t, f, Options{})
		gate := f.gate("BEGIN IMMEDIATE", on("COMMIT", reply{err: &codeError{10}}))
		errs := concurrently(3, func(i byte) error { _, err := s.Claim(t.Context(), claimOf(i)); return err })
		gate <- struct{}{}
		gate <- struct{}{}
		for _, err := range errs() {
			wantOnly(t, err, semel.ErrNoReply)
		}
		if commits := count(f.took(), "COMMIT"); commits != 2 {
			t.Errorf("%d commits; want 2: the first caller's and the batch of the others", commits)
		}
	})
}

// concurrently starts n calls, one after the other, and returns what waits for
// their errors.
func concurrently(n int, call func(i byte) error) func() []error {
	errs := make([]error, n)
	var callers sync.WaitGroup
	for i := range n {
		callers.Go(func() { errs[i] = call(byte(i)) })
		synctest.Wait()
	}
	return func() []error { callers.Wait(); return errs }
}

func count(log []string, word string) (n int) {
	for _, s := range log {
		if s == word {
			n++
		}
	}
	return n
}

func TestBatchThatChangesNothingIsNotCommitted(t *testing.T) {
	t.Parallel()
	f := &fake{}
	s := openFake(t, f, Options{})
	f.script(on("UPDATE", reply{affected: 0}))
	_, err := s.Renew(t.Context(), renewOf(1))
	wantOnly(t, err, semel.ErrFenced)
	if log := f.took(); slices.Contains(log, "COMMIT") || !slices.Contains(log, "ROLLBACK") {
		t.Errorf("statements %v; want a rollback, and no commit that has to be synced", log)
	}
}

// One operation that the database refuses must not fail the others in its batch.
func TestSpoiltOperationFailsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := openFake(t, f, Options{})
		gate := f.gate("BEGIN IMMEDIATE", on("UPDATE semel_record AS r SET checkpoint", reply{err: errors.New("constraint")}))
		errs := concurrently(3, func(i byte) error {
			if i == 2 {
				_, err := s.Checkpoint(t.Context(), semel.CheckpointParams{Key: semel.KeyID{i}, Token: semel.Token{i}})
				return err
			}
			_, err := s.Renew(t.Context(), renewOf(i))
			return err
		})
		for range 4 { // the first caller's, the batch, and its two calls alone
			gate <- struct{}{}
		}
		got := errs()
		if got[0] != nil || got[1] != nil {
			t.Errorf("the calls beside it: %v, %v", got[0], got[1])
		}
		wantOnly(t, got[2], semel.ErrStoreUnavailable)
	})
}

func TestLockIsWaitedForUntilPatienceEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := openFake(t, f, Options{BusyTimeout: 3 * time.Second})
		f.script(on("BEGIN", reply{err: &codeError{5 | 2<<8}}))
		start := time.Now()
		_, err := s.Claim(t.Context(), claimOf(1))
		wantOnly(t, err, semel.ErrStoreUnavailable)
		if waited := time.Since(start); waited != 3*time.Second {
			t.Errorf("waited %v for the lock; want the 3s of BusyTimeout", waited)
		}
	})
}

func TestLockIsTakenWhenItIsFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := openFake(t, f, Options{})
		start := time.Now()
		f.script(func(_ int, query string) (reply, bool) {
			busy := query == "BEGIN IMMEDIATE" && time.Since(start) < time.Second
			return reply{err: errors.New("database is locked")}, busy
		})
		if _, err := s.Claim(t.Context(), claimOf(1)); err != nil {
			t.Error(err)
		}
		if waited := time.Since(start); waited > time.Second+maxLockPause {
			t.Errorf("waited %v for a lock that was free after 1s", waited)
		}
	})
}

// Field fault: the store answers after the caller's deadline, an orphan claim for
// the whole retention. Who gives up while the lock is waited for has no claim,
// alone, in a batch that waits, or in the queue.
func TestCallerWhoGivesUpWaitingHasNoClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := openFake(t, f, Options{MaxBatch: 1})
		start := time.Now()
		f.script(func(_ int, query string) (reply, bool) {
			return reply{err: &codeError{5}}, query == "BEGIN IMMEDIATE" && time.Since(start) < 4*time.Second
		})
		errs := concurrently(3, func(i byte) error {
			patience := time.Duration(i+1) * time.Second
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			_, err := s.Claim(ctx, claimOf(i))
			if waited := time.Since(start); waited != patience {
				t.Errorf("caller %d waited %v; want his own %v", i, waited, patience)
			}
			return err
		})
		for _, err := range errs() {
			wantOnly(t, err, semel.ErrStoreUnavailable)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v does not say that the deadline passed", err)
			}
		}
		if err := s.Close(); err != nil { // waits for the batch
			t.Error(err)
		}
		if log := f.took(); slices.Contains(log, "INSERT") || !slices.Contains(log, "ROLLBACK") {
			t.Errorf("statements %v: want a batch that finds its callers gone, and no claim", log)
		}
	})
}

// Field fault: a reply that never came is taken for "not executed".
func TestCallerWhoLeavesDuringTheCommitHasNoReply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := openFake(t, f, Options{})
		gate := f.gate("COMMIT", nil)
		ctx, cancel := context.WithCancel(t.Context())
		errs := concurrently(2, func(i byte) error { _, err := s.Claim(ctx, claimOf(i)); return err })
		gate <- struct{}{} // the first caller's own commit
		synctest.Wait()    // the second one's waits now
		cancel()
		got := errs()
		if got[0] != nil {
			t.Errorf("the first caller: %v", got[0])
		}
		wantOnly(t, got[1], semel.ErrNoReply)
		gate <- struct{}{}
	})
}

func TestWriterTakesANewConnectionForABrokenOne(t *testing.T) {
	t.Parallel()
	f := &fake{}
	s := openFake(t, f, Options{})
	f.script(func(conn int, query string) (reply, bool) {
		return reply{err: &codeError{10}}, conn == 1 && query == "BEGIN IMMEDIATE"
	})
	_, err := s.Claim(t.Context(), claimOf(1))
	wantOnly(t, err, semel.ErrStoreUnavailable)
	if _, err := s.Claim(t.Context(), claimOf(1)); err != nil {
		t.Errorf("on the next connection: %v", err)
	}
}

func TestClosedStoreIsUnavailable(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), &fake{}, Options{Prefix: "semel_", BusyTimeout: time.Second, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = s.Claim(t.Context(), claimOf(1))
	wantOnly(t, err, semel.ErrStoreUnavailable)
	_, err = s.Read(t.Context(), semel.ReadParams{})
	wantOnly(t, err, semel.ErrStoreUnavailable)
}
