package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
)

// serverError is an error as github.com/go-sql-driver/mysql gives them.
type serverError string

func (e serverError) Error() string { return string(e) }

const (
	deadlock     = serverError("Error 1213 (40001): Deadlock found when trying to get lock; try restarting transaction")
	lockWait1205 = serverError("Error 1205 (HY000): Lock wait timeout exceeded; try restarting transaction")
	refused1406  = serverError("Error 1406 (22001): Data too long for column 'operation' at row 1")
	diskFull     = serverError("Error 1114 (HY000): The table 'semel_record' is full")
)

func claimOf(key, token byte) semel.ClaimParams {
	return semel.ClaimParams{
		Key: semel.KeyID{key}, Token: semel.Token{token}, Policy: semel.AtLeastOnce, Lease: time.Minute, Retention: time.Hour,
	}
}

func finishOf(key, token byte) semel.FinishParams {
	return semel.FinishParams{
		Key: semel.KeyID{key}, Token: semel.Token{token}, State: semel.StateDone, Retention: time.Hour,
		Result: semel.StoredResult{Kind: semel.ResultValue, Data: []byte{key}},
	}
}

// rowOf is a running record as the fake server sends it.
func rowOf(p semel.ClaimParams) []driver.Value {
	return []driver.Value{
		p.Key[:], int64(1), int64(1), int64(1), p.Token[:], int64(fakeNow - 5), int64(1), int64(fakeNow + 30_000_000), int64(fakeNow + 3_600_000_000),
		int64(fakeNow), int64(0), int64(0), p.Fingerprint[:], p.ScopeID[:], []byte("op"), []byte{}, int64(0), nil, nil, int64(fakeNow),
	}
}

// behind runs calls as one batch: behind a first call, which a gate holds in its
// flush until they are all there. It returns their errors.
func behind(f *fake, then func(query string) (reply, bool), first func(), calls ...func() error) []error {
	gate := make(chan struct{})
	f.script(func(string) (reply, bool) { <-gate; return reply{}, false })
	var callers sync.WaitGroup
	callers.Go(first)
	synctest.Wait()
	errs := make([]error, len(calls))
	for i, call := range calls {
		callers.Go(func() { errs[i] = call() })
		synctest.Wait()
	}
	f.script(then)
	close(gate)
	callers.Wait()
	return errs
}

// batchOf claims keys 1 to n behind another claim.
func batchOf(t *testing.T, f *fake, s *Store, then func(query string) (reply, bool), claims ...semel.ClaimParams) ([]semel.ClaimResult, []error) {
	results := make([]semel.ClaimResult, len(claims))
	calls := make([]func() error, len(claims))
	for i, p := range claims {
		calls[i] = func() (err error) { results[i], err = s.Claim(t.Context(), p); return err }
	}
	errs := behind(f, then, func() { _, _ = s.Claim(t.Context(), claimOf(0, 99)) }, calls...)
	return results, errs
}

// on answers the statements that contain part.
func on(part string, r reply) func(string) (reply, bool) {
	return func(query string) (reply, bool) { return r, strings.Contains(query, part) }
}

func TestBatchOfNewKeysIsOneStatement(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := openFake(t, f)
		results, errs := batchOf(t, f, s, nil, claimOf(3, 3), claimOf(1, 1), claimOf(2, 2))
		for i, res := range results {
			if errs[i] != nil || res.Outcome != semel.ClaimAcquired || res.Record.Fence != fakeNow {
				t.Errorf("claim %d: %+v, %v; want it acquired under the clock's fence", i, res, errs[i])
			}
		}
		if log := f.took(); !slices.Equal(log, []string{"INSERT", "INSERT"}) {
			t.Errorf("statements %v; want the first claim's and one for the batch", log)
		}
	})
}

func TestBatchIsSortedByKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := openFake(t, f)
		var claims []semel.ClaimParams
		for i := range byte(2 * preparedInserts) {
			claims = append(claims, claimOf(17*(i+1), i+1)) // goes round
		}
		batchOf(t, f, s, nil, claims...)
		var keys []string
		for _, row := range strings.Split(f.last("INSERT"), "(LAST_INSERT_ID(")[1:] {
			_, key, _ := strings.Cut(row, "x'")
			keys = append(keys, key[:32])
		}
		if len(keys) != len(claims) || !slices.IsSorted(keys) {
			t.Errorf("the statement has the keys %q: unsorted ones deadlock", keys)
		}
	})
}

// isBatch tells a statement for several claims.
func isBatch(query string) bool { return strings.Count(query, "(LAST_INSERT_ID(") > 1 }

// Who comes second to a key in one batch sees the claim of who came first.
func TestSameKeyTwiceInABatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := openFake(t, f)
		results, errs := batchOf(t, f, s, nil, claimOf(1, 1), claimOf(1, 2), claimOf(2, 3), claimOf(1, 1))
		want := []semel.Outcome{semel.ClaimAcquired, semel.ClaimRunning, semel.ClaimAcquired, semel.ClaimAcquired}
		for i, res := range results {
			if errs[i] != nil || res.Outcome != want[i] {
				t.Errorf("claim %d: %v, %v; want %v", i, res.Outcome, errs[i], want[i])
			}
		}
		if text := f.last("INSERT"); strings.Count(text, "(LAST_INSERT_ID(") != 2 {
			t.Errorf("%q inserts a key twice", text)
		}
	})
}

// Of a batch that met records, those and no others are somebody else's.
func TestBatchThatMeetsARecordReadsThem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := openFake(t, f)
		mine := rowOf(claimOf(1, 1))
		mine[5] = int64(fakeNow) // the batch's fence
		results, errs := batchOf(t, f, s, func(query string) (reply, bool) {
			switch {
			case strings.Contains(query, "INSERT"):
				return reply{affected: 1, id: fakeNow}, true
			case strings.Contains(query, "IN ("):
				return reply{rows: [][]driver.Value{mine, rowOf(claimOf(2, 77))}}, true
			}
			return reply{}, false
		}, claimOf(1, 1), claimOf(2, 2))
		if errs[0] != nil || errs[1] != nil || results[0].Outcome != semel.ClaimAcquired || results[1].Outcome != semel.ClaimRunning {
			t.Errorf("%v %v, %v; want the new one acquired and the other running", results[0].Outcome, results[1].Outcome, errs)
		}
	})
}

// With clientFoundRows a record that was there counts as a row, too: no claim may take
// the count for an insert.
func TestFoundRowsAreNoInserts(t *testing.T) {
	t.Parallel()
	f := &fake{answer: func(query string) (reply, bool) {
		return reply{affected: 1, id: fakeNow}, strings.Contains(query, "semel_floor SET")
	}}
	s := openFake(t, f)
	f.script(on("SELECT", reply{rows: [][]driver.Value{rowOf(claimOf(1, 77))}}))
	res, err := s.Claim(t.Context(), claimOf(1, 1))
	if err != nil || res.Outcome != semel.ClaimRunning {
		t.Errorf("%v, %v; want running: the record is another's", res.Outcome, err)
	}
}

// One call that the server refuses must not fail the others in its batch.
func TestRefusedCallFailsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := openFake(t, f)
		var alone int
		_, errs := batchOf(t, f, s, func(query string) (reply, bool) {
			if isBatch(query) {
				return reply{err: refused1406}, true
			}
			alone++
			return reply{err: refused1406}, alone == 2
		}, claimOf(1, 1), claimOf(2, 2), claimOf(3, 3))
		refused := 0
		for _, err := range errs {
			if err != nil {
				refused++
				wantOnly(t, err, semel.ErrStoreUnavailable)
			}
		}
		if refused != 1 {
			t.Errorf("%d of 3 calls failed: %v; want 1", refused, errs)
		}
	})
}

// wantOnly checks that err wraps this sentinel and none of the others, which would say
// something else about what was executed.
func wantOnly(t *testing.T, err, want error) {
	t.Helper()
	for _, sentinel := range []error{semel.ErrStoreUnavailable, semel.ErrNoReply, semel.ErrStoreFull, semel.ErrFenced} {
		if errors.Is(err, sentinel) != (sentinel == want) {
			t.Errorf("error %v; want one that wraps %v alone", err, want)
		}
	}
}

// A batch without a reply may have been executed: nothing of it is repeated here, and
// every caller is told.
func TestLostReplyIsUnknownForTheWholeBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := openFake(t, f)
		_, errs := batchOf(t, f, s, func(query string) (reply, bool) {
			return reply{err: errors.New("invalid connection")}, isBatch(query)
		}, claimOf(1, 1), claimOf(2, 2))
		for _, err := range errs {
			wantOnly(t, err, semel.ErrNoReply)
		}
		if log := f.took(); !slices.Equal(log, []string{"INSERT", "INSERT"}) {
			t.Errorf("statements %v; want no repetition", log)
		}
	})
}

// A batch that is too long for one statement: a later one that fails says nothing of those
// that an earlier one has executed.
func TestStatementsOfABatchAnswerForThemselves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := openFake(t, f)
		claims := make([]semel.ClaimParams, 10) // eight in a statement
		for i := range claims {
			claims[i] = claimOf(byte(i+1), byte(i+1))
			claims[i].KeyText = strings.Repeat("k", maxKeyText)
		}
		results, errs := batchOf(t, f, s, func(query string) (reply, bool) {
			if isBatch(query) {
				<-time.After(2 * floorAge)
			}
			return reply{err: errors.New("invalid connection")}, strings.HasPrefix(query, "SELECT fence")
		}, claims...)
		unreached := 0
		for i, err := range errs {
			if err == nil && results[i].Outcome == semel.ClaimAcquired {
				continue
			}
			unreached++
			wantOnly(t, err, semel.ErrStoreUnavailable)
		}
		if unreached == 0 || unreached > 3 {
			t.Errorf("%d of 10 claims failed: %v; want those of the second statement", unreached, errs)
		}
	})
}

func TestFailuresSayWhetherTheCallMayHaveBeenExecuted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"deadlocks without end", deadlock, semel.ErrStoreUnavailable},
		{"refused", refused1406, semel.ErrStoreUnavailable},
		{"full", diskFull, semel.ErrStoreFull},
		{"bad connection", driver.ErrBadConn, semel.ErrStoreUnavailable},
		{"during the commit", serverError("Error 1180 (HY000): Got error 149 during COMMIT"), semel.ErrNoReply},
		{"no reply", errors.New("invalid connection"), semel.ErrNoReply},
		{"gone", context.DeadlineExceeded, semel.ErrNoReply},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{}
			s := openFake(t, f)
			f.script(func(query string) (reply, bool) { return reply{err: c.err}, !strings.HasPrefix(query, "SELECT") })
			_, err := s.Claim(t.Context(), claimOf(1, 1))
			wantOnly(t, err, c.want)
			_, err = s.Finish(t.Context(), finishOf(1, 1))
			wantOnly(t, err, c.want)
			_, err = s.Renew(t.Context(), semel.RenewParams{Key: semel.KeyID{1}, Token: semel.Token{1}, Lease: time.Minute})
			wantOnly(t, err, c.want)
		})
	}
}

// A deadlock undoes a statement and reaches no caller.
func TestDeadlockIsRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := openFake(t, f)
		failed := false
		_, errs := batchOf(t, f, s, func(query string) (reply, bool) {
			if first := !failed; first {
				failed = true
				return reply{err: deadlock}, true
			}
			return reply{}, false
		}, claimOf(1, 1), claimOf(2, 2))
		if errs[0] != nil || errs[1] != nil {
			t.Errorf("%v; want both claims repeated", errs)
		}
	})
}

// RELIABILITY.md §3.18: who meets a transaction that is not committed learns "running"
// once he has waited for the lock.
func TestLockedRecordIsRunning(t *testing.T) {
	t.Parallel()
	f := &fake{}
	s := openFake(t, f)
	f.script(func(query string) (reply, bool) {
		if strings.Contains(query, "INSERT") {
			return reply{err: lockWait1205}, true
		}
		return reply{}, true
	})
	res, err := s.Claim(t.Context(), claimOf(1, 1))
	if err != nil || res.Outcome != semel.ClaimRunning || res.Mine || res.Record.LeaseLeft <= 0 {
		t.Errorf("%+v, %v; want running", res, err)
	}
	if log := f.took(); !slices.Equal(log, []string{"INSERT", "SELECT"}) {
		t.Errorf("statements %v; want one wait", log)
	}
}

// A lease that a wait has used up is none: the claim renews it before it answers.
func TestLeaseBornOldIsRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := openFake(t, f)
		f.script(func(query string) (reply, bool) {
			if strings.Contains(query, "INSERT INTO") {
				time.Sleep(3 * time.Second) // the wait for a lock
			}
			return reply{}, false
		})
		p := claimOf(1, 1)
		p.Lease = 2 * time.Second
		res, err := s.Claim(t.Context(), p)
		if err != nil || res.Outcome != semel.ClaimAcquired || res.Record.LeaseLeft <= 0 {
			t.Errorf("%+v, %v; want a lease that is alive", res, err)
		}
		if log := f.took(); !slices.Equal(log, []string{"INSERT", "UPDATE"}) {
			t.Errorf("statements %v; want a renewal", log)
		}
	})
}

// A claim that is there is never "not executed", whatever fails after its insert.
func TestFailureBehindAnInsertIsUnknown(t *testing.T) {
	t.Parallel()
	t.Run("renewal of a lease born old", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			f := &fake{}
			s := openFake(t, f)
			f.script(func(query string) (reply, bool) {
				if strings.Contains(query, "INSERT INTO") {
					time.Sleep(3 * time.Second)
					return reply{}, false
				}
				return reply{err: lockWait1205}, true
			})
			p := claimOf(1, 1)
			p.Lease = 2 * time.Second
			_, err := s.Claim(t.Context(), p)
			wantOnly(t, err, semel.ErrNoReply)
		})
	})
	t.Run("reading a decision back", func(t *testing.T) {
		t.Parallel()
		f := &fake{}
		s := openFake(t, f)
		f.script(on("SELECT", reply{err: driver.ErrBadConn}))
		_, err := s.Resolve(t.Context(), semel.ResolveParams{Key: semel.KeyID{1}, Token: semel.Token{1}, Resolution: semel.ResolveDelete})
		wantOnly(t, err, semel.ErrNoReply)
	})
	t.Run("reading a batch back", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			f := &fake{}
			s := openFake(t, f)
			_, errs := batchOf(t, f, s, func(query string) (reply, bool) {
				if isBatch(query) {
					return reply{affected: 1, id: fakeNow}, true
				}
				return reply{err: driver.ErrBadConn}, strings.Contains(query, "IN (")
			}, claimOf(1, 1), claimOf(2, 2))
			for _, err := range errs {
				wantOnly(t, err, semel.ErrNoReply)
			}
		})
	})
}

func TestFinishesShareAStatement(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := openFake(t, f)
		finish := func(p semel.FinishParams) func() error {
			return func() error { _, err := s.Finish(t.Context(), p); return err }
		}
		again := finishOf(1, 1)
		errs := behind(f, func(query string) (reply, bool) {
			return reply{affected: 2}, strings.Contains(query, "ELT(")
		}, func() { _ = finish(finishOf(9, 9))() }, finish(finishOf(2, 2)), finish(finishOf(1, 1)), finish(again))
		for _, err := range errs {
			if err != nil {
				t.Error(err)
			}
		}
		// The second finish of a key is not in the first one's statement.
		if log := f.took(); len(log) != 3 {
			t.Errorf("statements %v; want the first call's, and two for the batch", log)
		}
	})
}

func TestLongResultsTravelAlone(t *testing.T) {
	t.Parallel()
	f := &fake{}
	s := openFake(t, f)
	p := finishOf(1, 1)
	p.Result.Data = make([]byte, maxBatched+1)
	if _, err := s.Finish(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if text := f.last("UPDATE"); strings.Contains(text, "x'0100") {
		t.Error("the result travels as text")
	}
}

func TestClosedStoreIsUnavailable(t *testing.T) {
	t.Parallel()
	s := openFake(t, &fake{})
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Claim(t.Context(), claimOf(1, 1))
	wantOnly(t, err, semel.ErrStoreUnavailable)
	_, err = s.Finish(t.Context(), finishOf(1, 1))
	wantOnly(t, err, semel.ErrStoreUnavailable)
	_, err = s.Read(t.Context(), semel.ReadParams{})
	wantOnly(t, err, semel.ErrStoreUnavailable)
}

func TestEndedContextBeginsNothing(t *testing.T) {
	t.Parallel()
	f := &fake{}
	s := openFake(t, f)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Claim(ctx, claimOf(1, 1))
	wantOnly(t, err, semel.ErrStoreUnavailable)
	_, err = s.Finish(ctx, finishOf(1, 1))
	wantOnly(t, err, semel.ErrStoreUnavailable)
	_, err = s.Purge(ctx, semel.PurgeParams{Limit: 1})
	wantOnly(t, err, semel.ErrStoreUnavailable)
	if log := f.took(); len(log) != 0 {
		t.Errorf("statements %v; want none", log)
	}
}
