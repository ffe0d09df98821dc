package integration

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/child"
	"github.com/semel-go/semel/sqlstore"
	"modernc.org/sqlite"
)

// The load of a worker: each of its callers goes through all keys.
const (
	workerKeys    = 200
	workerCallers = 4
	workerLease   = time.Second
	workerWork    = 5 * time.Millisecond // between claim and finish
)

// sqliteWorker claims and finishes each key of a file until it is done, by
// whomever. It says "acquired key fence" after a claim and "done key fence" after a
// finish was acknowledged.
func sqliteWorker(args []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	connector, err := sqlstore.Connector(&sqlite.Driver{}, args[0])
	if err != nil {
		return err
	}
	store, err := sqlstore.OpenSQLite(ctx, connector, nil)
	if err != nil {
		return err
	}
	w := &worker{store: store}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	errs := make([]error, workerCallers)
	var callers sync.WaitGroup
	for i := range workerCallers {
		callers.Go(func() { errs[i] = w.all(ctx) })
	}
	callers.Wait()
	return errors.Join(append(errs, store.Close())...)
}

type worker struct {
	store *sqlstore.Store
	mu    sync.Mutex
}

func (w *worker) all(ctx context.Context) error {
	for _, n := range rand.Perm(workerKeys) {
		for {
			wait, err := w.try(ctx, n)
			if err != nil {
				return err
			}
			if wait == 0 {
				break
			}
			<-time.After(wait)
		}
	}
	return nil
}

// try makes one claim, and one finish if it is acquired. It returns for how long
// to wait before the next; 0 when the key is done.
func (w *worker) try(ctx context.Context, n int) (time.Duration, error) {
	token := semel.NewToken()
	res, err := w.store.Claim(ctx, semel.ClaimParams{
		Key: workerKey(n), Token: token, Policy: semel.AtLeastOnce, Lease: workerLease, Retention: time.Hour, Operation: "work",
	})
	switch {
	case err != nil || res.Outcome == semel.ClaimDone:
		return 0, err
	case res.Outcome != semel.ClaimAcquired:
		return max(res.Record.LeaseLeft, time.Millisecond), nil
	}
	fence := res.Record.Fence
	w.say("acquired", n, fence)
	<-time.After(workerWork)
	_, err = w.store.Finish(ctx, semel.FinishParams{
		Key: workerKey(n), Token: token, State: semel.StateDone, Retention: time.Hour,
		Result: semel.StoredResult{Kind: semel.ResultValue, Data: workerResult(fence)},
	})
	if errors.Is(err, semel.ErrFenced) {
		return time.Millisecond, nil
	}
	if err == nil {
		w.say("done", n, fence)
	}
	return 0, err
}

// say writes a line in one piece, before anything else happens.
func (w *worker) say(what string, n int, fence semel.Fence) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(os.Stdout, "%s %d %d\n", what, n, fence)
}

func workerKey(n int) (key semel.KeyID) {
	binary.BigEndian.PutUint64(key[:], uint64(n)*0x9e3779b97f4a7c15)
	key[15] = 1
	return key
}

func workerResult(fence semel.Fence) []byte {
	return strconv.AppendInt([]byte("by "), int64(fence), 10)
}

// event is a line of a worker.
type event struct {
	what  string
	key   int
	fence semel.Fence
}

func eventsOf(t *testing.T, lines []string) (all []event) {
	t.Helper()
	for _, line := range lines {
		if line == "ready" {
			continue
		}
		var e event
		if _, err := fmt.Sscan(line, &e.what, &e.key, &e.fence); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

// TestSQLiteProcessesOnOneFile: several processes race for the same keys, and one
// is killed in the middle. No key is acquired twice with one fence, and what was
// acknowledged to anybody, the dead included, is there at the end.
func TestSQLiteProcessesOnOneFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "semel.db")
	victim, second, third := child.Start(t, "sqlite-worker", file), child.Start(t, "sqlite-worker", file), child.Start(t, "sqlite-worker", file)
	release(t, victim, second, third)
	if !victim.After(5, "done") {
		t.Fatal("the first process did not get to 5 keys")
	}
	said := [][]string{victim.Kill(t)}
	for _, p := range []*child.Process{second, third} {
		lines, err := p.Wait()
		if err != nil {
			t.Errorf("a process that was not killed: %v", err)
		}
		said = append(said, lines)
	}
	checkEvents(t, openSQLite(t, file, nil), eventsOf(t, slices.Concat(said...)), true)
}

// TestSQLiteSurvivesKill: what a process acknowledged before kill -9 is there for
// the next one, run after run on the same file.
func TestSQLiteSurvivesKill(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "semel.db")
	var events []event
	for run := range 5 {
		p := child.Start(t, "sqlite-worker", file)
		release(t, p)
		if !p.After(workerKeys/10, "done") {
			t.Fatalf("run %d did not get to %d keys", run, workerKeys/10)
		}
		events = append(events, eventsOf(t, p.Kill(t))...)
		checkEvents(t, openSQLite(t, file, nil), events, false)
	}
}

// checkEvents compares what was acknowledged with what is there.
func checkEvents(t *testing.T, store *sqlstore.Store, events []event, all bool) {
	t.Helper()
	type owner struct {
		key   int
		fence semel.Fence
	}
	owners, done := make(map[owner]bool), make(map[int]semel.Fence)
	for _, e := range events {
		switch o := (owner{e.key, e.fence}); {
		case e.what == "acquired" && owners[o]:
			t.Errorf("key %d was acquired twice with fence %d", e.key, e.fence)
		case e.what == "acquired":
			owners[o] = true
		case done[e.key] != 0:
			t.Errorf("key %d: two completions were acknowledged, with fences %d and %d", e.key, done[e.key], e.fence)
		default:
			done[e.key] = e.fence
		}
	}
	for n := range workerKeys {
		checkKey(t, store, n, done[n], all)
	}
	t.Logf("%d claims, %d completions were acknowledged", len(owners), len(done))
}

// checkKey reads a key: an acknowledged completion stands, with its result.
func checkKey(t *testing.T, store *sqlstore.Store, n int, fence semel.Fence, mustBeDone bool) {
	t.Helper()
	r, err := store.Read(t.Context(), semel.ReadParams{Key: workerKey(n)})
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case fence != 0 && (r.State != semel.StateDone || r.Fence != fence || string(r.Result.Data) != string(workerResult(fence))):
		t.Errorf("key %d is %v, fence %d, result %q; fence %d was told that it is done", n, r.State, r.Fence, r.Result.Data, fence)
	case mustBeDone && r.State != semel.StateDone:
		t.Errorf("key %d is %v; two processes went on until it was done", n, r.State)
	}
}
