package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
)

// gated is a script whose first statement waits, so that the calls after it form a
// batch.
type gated struct {
	gate chan struct{}
	once sync.Once
	// then answers all statements.
	then func(text string, args []any) ([][]any, error)
}

func (g *gated) answer(_ context.Context, text string, args []any) ([][]any, error) {
	g.once.Do(func() { <-g.gate })
	return g.then(text, args)
}

// inOrder answers as a database without any record does.
func inOrder(t *Text) func(text string, args []any) ([][]any, error) {
	return func(text string, args []any) (rows [][]any, err error) {
		switch text {
		case t.insertNew:
			return [][]any{newRow()}, nil
		case t.insertMany:
			for _, key := range keysOf(args) {
				rows = append(rows, freshRow(key))
			}
			return rows, nil
		case t.finish, t.done, t.renew:
			return [][]any{{false}}, nil
		case t.finishMany, t.doneMany, t.renewMany:
			for _, key := range keysOf(args) {
				rows = append(rows, []any{key[:], false})
			}
			return rows, nil
		}
		return nil, nil
	}
}

func claimOf(n byte) semel.ClaimParams {
	return semel.ClaimParams{Key: semel.KeyID{n}, Token: semel.Token{n, 1}, Policy: semel.AtLeastOnce, Lease: time.Minute, Retention: time.Hour}
}

// claims runs a claim of key 0, which waits, and then of these keys: a batch.
func claims(t *testing.T, s *Store, g *gated, keys ...byte) []error {
	t.Helper()
	errs := make([]error, len(keys))
	var callers sync.WaitGroup
	callers.Go(func() { _, _ = s.Claim(t.Context(), claimOf(0)) })
	synctest.Wait()
	for i, key := range keys {
		callers.Go(func() {
			var res semel.ClaimResult
			if res, errs[i] = s.Claim(t.Context(), claimOf(key)); errs[i] == nil && res.Outcome != semel.ClaimAcquired {
				errs[i] = fmt.Errorf("outcome %v", res.Outcome)
			}
		})
		synctest.Wait()
	}
	close(g.gate)
	callers.Wait()
	return errs
}

func wantLog(t *testing.T, f *fake, want ...string) {
	t.Helper()
	if got := f.took(); !slices.Equal(got, want) {
		t.Errorf("statements %q; want %q", got, want)
	}
}

func TestConcurrentClaimsShareAStatement(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gated{gate: make(chan struct{}), then: inOrder(NewText("semel_"))}
		s, f := newFake(t, g.answer)
		for i, err := range claims(t, s, g, 3, 1, 2) {
			if err != nil {
				t.Errorf("claim %d: %v", i, err)
			}
		}
		wantLog(t, f, "new", "insert many")
	})
}

// Field fault: one duplicate in a batch blames a fresh one.
func TestSameKeyTwiceInABatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gated{gate: make(chan struct{})}
		order := inOrder(NewText("semel_"))
		g.then = func(text string, args []any) ([][]any, error) {
			if text == NewText("semel_").insertMany && len(keysOf(args)) != 2 {
				t.Errorf("keys %v in one statement; want each once", keysOf(args))
			}
			if text == NewText("semel_").insert {
				return [][]any{recordRow(false, semel.StateRunning, semel.KeyID{1}, semel.Token{9}, fakeNow+1e6)}, nil
			}
			return order(text, args)
		}
		s, f := newFake(t, g.answer)
		errs := claims(t, s, g, 1, 2, 1)
		if errs[0] != nil || errs[1] != nil || errs[2] == nil || errs[2].Error() != "outcome running" {
			t.Errorf("answers %v; want two acquired, and the later one of the same key running", errs)
		}
		wantLog(t, f, "new", "insert many", "insert")
	})
}

// Duplicates that arrive together are answered by one statement, each by its own
// input; the same claim again goes on to its own record.
func TestDuplicatesOfABatchAreAnsweredByIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gated{gate: make(chan struct{}), then: inOrder(NewText("semel_"))}
		s, f := newFake(t, g.answer)
		batch := []semel.ClaimParams{claimOf(1), claimOf(1), claimOf(1), claimOf(2)}
		batch[1].Token, batch[2].Token = semel.Token{7}, semel.Token{8}
		batch[2].Fingerprint[0] = 1
		outcomes, errs := make([]semel.Outcome, len(batch)), make([]error, len(batch))
		var callers sync.WaitGroup
		callers.Go(func() { _, _ = s.Claim(t.Context(), claimOf(0)) })
		synctest.Wait()
		for i, p := range batch {
			callers.Go(func() {
				res, err := s.Claim(t.Context(), p)
				outcomes[i], errs[i] = res.Outcome, err
			})
			synctest.Wait()
		}
		close(g.gate)
		callers.Wait()
		want := []semel.Outcome{semel.ClaimAcquired, semel.ClaimRunning, semel.ClaimMismatch, semel.ClaimAcquired}
		if err := errors.Join(errs...); err != nil || !slices.Equal(outcomes, want) {
			t.Errorf("outcomes %v, %v; want %v", outcomes, err, want)
		}
		wantLog(t, f, "new", "insert many")
	})
}

// One call may have brought a failure upon the others: each goes on by itself.
func TestSpoiltBatchGoesOnOneByOne(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"40001", "40P01", "55P03", "22003", "P0001", "53100"} {
		synctest.Test(t, func(t *testing.T) {
			text := NewText("semel_")
			g := &gated{gate: make(chan struct{})}
			g.then = func(query string, args []any) ([][]any, error) {
				switch {
				case query == text.insertMany:
					return [][]any{freshRow(semel.KeyID{1})}, coded(state) // rows of a statement that failed count for nothing
				case query == text.insert && args[1] == uuid(semel.KeyID{2}):
					return nil, coded("P0001")
				case query == text.insert:
					return [][]any{recordRow(true, semel.StateRunning, semel.KeyID{1}, semel.Token{}, 0)}, nil
				}
				return inOrder(text)(query, args)
			}
			s, f := newFake(t, g.answer)
			errs := claims(t, s, g, 1, 2, 3)
			if errs[0] != nil || errs[2] != nil || !errors.Is(errs[1], semel.ErrStoreUnavailable) {
				t.Errorf("%s: answers %v; want the second one alone to fail", state, errs)
			}
			wantLog(t, f, "new", "insert many", "insert", "insert", "insert")
		})
	}
}

func TestFailureOfABatchThatIsEverybodys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ err, want error }{
		{io.ErrUnexpectedEOF, semel.ErrNoReply},
		{coded("57P01"), semel.ErrNoReply},
		{context.DeadlineExceeded, semel.ErrNoReply},
		{Unsent(errors.New("no connection")), semel.ErrStoreUnavailable},
		{safe{}, semel.ErrStoreUnavailable},
	} {
		synctest.Test(t, func(t *testing.T) {
			text := NewText("semel_")
			g := &gated{gate: make(chan struct{})}
			g.then = func(query string, args []any) ([][]any, error) {
				if query == text.insertMany {
					return nil, c.err
				}
				return inOrder(text)(query, args)
			}
			s, f := newFake(t, g.answer)
			for i, err := range claims(t, s, g, 1, 2) {
				if !errors.Is(err, c.want) || !errors.Is(err, c.err) {
					t.Errorf("claim %d after %v: %v; want %v", i, c.err, err, c.want)
				}
			}
			wantLog(t, f, "new", "insert many")
		})
	}
}

// A key whose record somebody holds keeps out of the next batches.
func TestHeldKeyKeepsNoBatchWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := NewText("semel_")
		s, f := newFake(t, func(_ context.Context, query string, args []any) ([][]any, error) {
			if query != text.read && args[1] == uuid(semel.KeyID{1}) {
				return nil, coded("55P03")
			}
			return inOrder(text)(query, args)
		})
		claim := func() {
			t.Helper()
			if res, err := s.Claim(t.Context(), claimOf(1)); err != nil || res.Outcome != semel.ClaimRunning {
				t.Errorf("claim of a held key: %v, %v; want running", res.Outcome, err)
			}
		}
		claim()
		wantLog(t, f, "new", "insert", "read")
		claim()
		wantLog(t, f, "insert", "read")
		time.Sleep(heldFor + 1)
		claim()
		wantLog(t, f, "new", "insert", "read")
	})
}

// Waits of a batch are short, and of a call alone long.
func TestBatchesWaitLessForARow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := NewText("semel_")
		g := &gated{gate: make(chan struct{})}
		waits := make(map[string]any)
		g.then = func(query string, args []any) ([][]any, error) {
			waits[query] = args[0]
			if query == text.insertMany {
				return nil, coded("55P03")
			}
			return inOrder(text)(query, args)
		}
		s, _ := newFake(t, g.answer)
		claims(t, s, g, 1, 2)
		if waits[text.insertMany] != string(waitMany) || waits[text.insert] != string(waitOne) {
			t.Errorf("waits %v", waits)
		}
	})
}

func finishOf(n byte, state semel.State) semel.FinishParams {
	return semel.FinishParams{Key: semel.KeyID{n}, Token: semel.Token{n, 1}, State: state, Retention: time.Hour}
}

func TestOwnersCallsOfAKindShareAStatement(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gated{gate: make(chan struct{}), then: inOrder(NewText("semel_"))}
		s, f := newFake(t, g.answer)
		var callers sync.WaitGroup
		call := func(call func() error) {
			callers.Go(func() {
				if err := call(); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		for n := range byte(4) {
			call(func() error { _, err := s.Finish(t.Context(), finishOf(n, semel.StateDone)); return err })
			call(func() error {
				_, err := s.Renew(t.Context(), semel.RenewParams{Key: semel.KeyID{n}, Token: semel.Token{n}, Lease: time.Minute})
				return err
			})
		}
		close(g.gate)
		callers.Wait()
		wantLog(t, f, "done", "renew many", "done many")
	})
}

// An owner whose record did not move learns why, and the others of his batch are not
// concerned.
func TestOwnerWhoIsNoneIsFenced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := NewText("semel_")
		g := &gated{gate: make(chan struct{})}
		g.then = func(query string, args []any) ([][]any, error) {
			switch query {
			case text.doneMany:
				return [][]any{{[]byte{2, 15: 0}, false}}, nil
			case text.doneWhy:
				return [][]any{recordRow(false, semel.StateRunning, semel.KeyID{1}, semel.Token{9}, fakeNow+1e6)}, nil
			}
			return inOrder(text)(query, args)
		}
		s, f := newFake(t, g.answer)
		errs := make([]error, 3)
		var callers sync.WaitGroup
		for n := range byte(3) {
			callers.Go(func() { _, errs[n] = s.Finish(t.Context(), finishOf(n, semel.StateDone)) })
			synctest.Wait()
		}
		close(g.gate)
		callers.Wait()
		if errs[0] != nil || !errors.Is(errs[1], semel.ErrFenced) || errs[2] != nil {
			t.Errorf("answers %v; want the second one fenced", errs)
		}
		wantLog(t, f, "done", "done many", "done why")
	})
}

// A commit can fail after the statement has answered: under SERIALIZABLE, or with a
// full disk. The rows that came before count for nothing.
func TestRowsOfAFailedCommitCountForNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := NewText("semel_")
		s, f := newFake(t, func(_ context.Context, query string, _ []any) ([][]any, error) {
			switch query {
			case text.insertNew:
				return [][]any{newRow()}, coded("40001")
			case text.insert:
				return [][]any{recordRow(true, semel.StateRunning, semel.KeyID{1}, semel.Token{}, 0)}, nil
			case text.done:
				return [][]any{{false}}, coded("40001")
			case text.doneWhy:
				return [][]any{recordRow(true, semel.StateDone, semel.KeyID{1}, semel.Token{}, 0)}, nil
			}
			return nil, nil
		})
		if res, err := s.Claim(t.Context(), claimOf(1)); err != nil || res.Outcome != semel.ClaimAcquired {
			t.Errorf("Claim: %v, %v", res.Outcome, err)
		}
		if _, err := s.Finish(t.Context(), finishOf(1, semel.StateDone)); err != nil {
			t.Errorf("Finish: %v", err)
		}
		wantLog(t, f, "new", "insert", "done", "done why")
	})
}

// A record that always changes between snapshot and lock does not keep a call for ever.
func TestRestlessRecordEndsACall(t *testing.T) {
	t.Parallel()
	s, f := newFake(t, func(context.Context, string, []any) ([][]any, error) { return nil, nil })
	if _, err := s.Claim(t.Context(), claimOf(1)); !errors.Is(err, semel.ErrStoreUnavailable) {
		t.Errorf("Claim: %v; want unavailable", err)
	}
	if n := len(f.took()); n > tries+2 {
		t.Errorf("%d statements for one claim", n)
	}
}

// A lease that ran out while the claim waited for a lock is no answer.
func TestLeaseBornDeadIsRenewed(t *testing.T) {
	t.Parallel()
	text := NewText("semel_")
	p := claimOf(1)
	s, f := newFake(t, func(_ context.Context, query string, _ []any) ([][]any, error) {
		switch query {
		case text.insertNew:
			return [][]any{{fakeNow, fakeNow, fakeNow + time.Hour.Microseconds()}}, nil
		case text.insert:
			return [][]any{recordRow(false, semel.StateRunning, p.Key, p.Token, fakeNow-1)}, nil
		case text.retake:
			return [][]any{recordRow(true, semel.StateRunning, p.Key, p.Token, fakeNow+60e6)}, nil
		}
		return nil, nil
	})
	res, err := s.Claim(t.Context(), p)
	if err != nil || res.Outcome != semel.ClaimAcquired || res.Record.LeaseLeft <= 0 {
		t.Errorf("Claim: %v, %v left, %v; want a lease", res.Outcome, res.Record.LeaseLeft, err)
	}
	wantLog(t, f, "new", "insert", "take")
}

// A claim that was executed, and failed on the way to a lease that is alive, has to be
// released: it is not called unsent.
func TestLeaseBornDeadThatIsNotRenewed(t *testing.T) {
	t.Parallel()
	text := NewText("semel_")
	for name, then := range map[string]error{
		"no connection is left": Unsent(errors.New("dial")), "the record is held": coded("55P03"), "a deadlock": coded("40P01"),
	} {
		s, _ := newFake(t, func(_ context.Context, query string, _ []any) ([][]any, error) {
			if query == text.insertNew {
				return [][]any{{fakeNow, fakeNow, fakeNow + time.Hour.Microseconds()}}, nil
			}
			return nil, then
		})
		res, err := s.Claim(t.Context(), claimOf(1))
		if !errors.Is(err, semel.ErrNoReply) || errors.Is(err, semel.ErrStoreUnavailable) {
			t.Errorf("%s: %v, %v; want that the outcome is unknown", name, res.Outcome, err)
		}
	}
}

func TestCallsAfterCloseAreRefused(t *testing.T) {
	t.Parallel()
	s, f := newFake(t, func(context.Context, string, []any) ([][]any, error) { return nil, nil })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, claim := s.Claim(t.Context(), claimOf(1))
	_, finish := s.Finish(t.Context(), finishOf(1, semel.StateDone))
	_, read := s.Read(t.Context(), semel.ReadParams{})
	_, purge := s.Purge(t.Context(), semel.PurgeParams{Limit: 1})
	for _, err := range []error{claim, finish, read, purge} {
		if !errors.Is(err, semel.ErrStoreUnavailable) {
			t.Errorf("after Close: %v; want unavailable", err)
		}
	}
	wantLog(t, f)
}
