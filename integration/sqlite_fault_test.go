package integration

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel"
)

func claimOf(n int) semel.ClaimParams {
	return semel.ClaimParams{
		Key: workerKey(n), Token: semel.NewToken(), Policy: semel.AtLeastOnce, Lease: time.Minute, Retention: time.Hour, Operation: "charge",
	}
}

func doneOf(p semel.ClaimParams, data string) semel.FinishParams {
	return semel.FinishParams{
		Key: p.Key, Token: p.Token, State: semel.StateDone, Retention: time.Hour,
		Result: semel.StoredResult{Kind: semel.ResultValue, Data: []byte(data)},
	}
}

// acquire claims a key that is free.
func acquire(t *testing.T, s semel.Store, p semel.ClaimParams) semel.Record {
	t.Helper()
	res, err := s.Claim(t.Context(), p)
	if err != nil || res.Outcome != semel.ClaimAcquired {
		t.Fatalf("claim: %v, %v; want acquired", res.Outcome, err)
	}
	return res.Record
}

// Field fault: the reply to a claim is lost, the caller asks again, waits for his
// own claim, and the work runs 0 times.
func TestSQLiteLostReplyToAClaim(t *testing.T) {
	t.Parallel()
	cut := &cutter{Connector: connectorTo(t, filepath.Join(t.TempDir(), "semel.db"))}
	s := openConnector(t, cut, nil)
	p := claimOf(1)
	cut.armed.Store(true)
	_, err := s.Claim(t.Context(), p)
	if !errors.Is(err, semel.ErrNoReply) || errors.Is(err, semel.ErrStoreUnavailable) {
		t.Fatalf("claim without a reply: %v; want ErrNoReply", err)
	}
	again := acquire(t, s, p)
	if again.Attempt != 1 {
		t.Errorf("attempt %d; want 1: it is the same claim", again.Attempt)
	}
}

// The reply to a finish is lost: saying it again succeeds, and the first result
// stands.
func TestSQLiteLostReplyToAFinish(t *testing.T) {
	t.Parallel()
	cut := &cutter{Connector: connectorTo(t, filepath.Join(t.TempDir(), "semel.db"))}
	s := openConnector(t, cut, nil)
	p := claimOf(1)
	acquire(t, s, p)
	cut.armed.Store(true)
	if _, err := s.Finish(t.Context(), doneOf(p, "first")); !errors.Is(err, semel.ErrNoReply) {
		t.Fatalf("finish without a reply: %v; want ErrNoReply", err)
	}
	if _, err := s.Finish(t.Context(), doneOf(p, "second")); err != nil {
		t.Fatalf("the same finish again: %v", err)
	}
	if r := read(t, s, p.Key); string(r.Result.Data) != "first" {
		t.Errorf("result %q; want the first", r.Result.Data)
	}
}

func read(t *testing.T, s semel.Store, key semel.KeyID) semel.Record {
	t.Helper()
	r, err := s.Read(t.Context(), semel.ReadParams{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Field faults: a store that answers after the caller's deadline leaves an orphan
// claim; a store error lets the request through. Another program holds the write
// lock: callers are told in time that nothing was done, reads go on, and nothing
// turns up later.
func TestSQLiteLockedByAnotherProgram(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "semel.db")
	s := openSQLite(t, file, nil)
	other := openDB(t, file)
	conn, err := other.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	for i, err := range claimAll(ctx, s, 10) {
		if !errors.Is(err, semel.ErrStoreUnavailable) || errors.Is(err, semel.ErrNoReply) {
			t.Errorf("claim %d: %v; want ErrStoreUnavailable", i, err)
		}
	}
	if r := read(t, s, workerKey(1)); r.State != semel.StateNone {
		t.Errorf("read while the file is locked: %v", r.State)
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	acquire(t, s, claimOf(99)) // every batch before it is over
	for i := range 10 {
		if r := read(t, s, workerKey(i)); r.State != semel.StateNone {
			t.Errorf("key %d is %v; its caller was told that nothing was done", i, r.State)
		}
	}
}

// claimAll claims n keys at once.
func claimAll(ctx context.Context, s semel.Store, n int) []error {
	errs := make([]error, n)
	var callers sync.WaitGroup
	for i := range n {
		callers.Go(func() { _, errs[i] = s.Claim(ctx, claimOf(i)) })
	}
	callers.Wait()
	return errs
}

// Duplicates that arrive together share a batch: one of them acquires.
func TestSQLiteSameKeyTwiceInABatch(t *testing.T) {
	t.Parallel()
	s := openSQLite(t, "", nil)
	const duplicates, keys = 20, 10
	var mu sync.Mutex
	acquired := make(map[int]int)
	var callers sync.WaitGroup
	for i := range duplicates * keys {
		callers.Go(func() {
			res, err := s.Claim(t.Context(), claimOf(i%keys))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			switch res.Outcome {
			case semel.ClaimAcquired:
				acquired[i%keys]++
			case semel.ClaimRunning:
			default:
				t.Errorf("outcome %v", res.Outcome)
			}
		})
	}
	callers.Wait()
	for key := range keys {
		if acquired[key] != 1 {
			t.Errorf("key %d was acquired %d times", key, acquired[key])
		}
	}
}

// A full disk refuses what is new and forgets nothing; batches with room for some
// of their calls answer those.
func TestSQLiteFullDisk(t *testing.T) {
	t.Parallel()
	dsn := "file:" + filepath.Join(t.TempDir(), "semel.db") + "?_pragma=max_page_count(60)"
	s := openConnector(t, connectorTo(t, dsn), nil)
	small := claimOf(0)
	acquire(t, s, small)
	if _, err := s.Finish(t.Context(), doneOf(small, "kept")); err != nil {
		t.Fatal(err)
	}
	big := claimOf(1)
	acquire(t, s, big)
	_, err := s.Finish(t.Context(), doneOf(big, strings.Repeat("x", 300_000)))
	if !errors.Is(err, semel.ErrStoreFull) || errors.Is(err, semel.ErrNoReply) {
		t.Fatalf("a result that does not fit: %v; want ErrStoreFull", err)
	}
	if r := read(t, s, big.Key); r.State != semel.StateRunning {
		t.Errorf("after it the record is %v; want it untouched, running", r.State)
	}
	if _, err := s.Finish(t.Context(), doneOf(big, "a tombstone fits")); err != nil {
		t.Errorf("a smaller result: %v", err)
	}
	if r := read(t, s, small.Key); string(r.Result.Data) != "kept" {
		t.Errorf("a full store forgot a result: %q", r.Result.Data)
	}
}
