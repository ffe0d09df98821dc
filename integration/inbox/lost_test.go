package inbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/inbox"
	"github.com/semel-go/semel/integration/internal/faultproxy"
)

// cut is a fault at a statement of a transaction, and what has to come of it.
type cut struct {
	name      string
	statement func(string) bool
	fault     faultproxy.Fault
	again     bool // the work has to run twice, since nothing was committed
	either    bool // both are right
}

var commit = faultproxy.Starts("COMMIT")

// claim is the first statement of a claim, whatever the dialect.
func claim(statement string) bool {
	return strings.Contains(statement, "INTO semel_record") && strings.Contains(statement, "fingerprint")
}

// result is the statement that stores the result.
func result(statement string) bool {
	statement = strings.ToLower(strings.Join(strings.Fields(statement), " "))
	return strings.Contains(statement, "update semel_record as r set") && strings.Contains(statement, "result_kind =") && !strings.Contains(statement, "returning r.")
}

func cuts() []cut {
	return []cut{
		{name: "the commit never arrives", statement: commit, fault: faultproxy.CutBefore(), again: true},
		{name: "the commit is executed, its reply cut", statement: commit, fault: faultproxy.CutReply()},
		{name: "the commit is executed, its connection closed", statement: commit, fault: faultproxy.CloseReply()},
		{name: "the commit is on its way", statement: commit, fault: faultproxy.Reset(), either: true},
		{name: "the claim never arrives", statement: claim, fault: faultproxy.CutBefore()},
		{name: "the claim's reply is cut", statement: claim, fault: faultproxy.CutReply()},
		{name: "the result never arrives", statement: result, fault: faultproxy.CutBefore(), again: true},
		{name: "the result's reply is cut", statement: result, fault: faultproxy.CutReply(), either: true},
		{name: "the work's statement is cut", statement: faultproxy.Starts("UPDATE account"), fault: faultproxy.CutReply(), again: true},
	}
}

// Public tracker: the reply to a claim is lost, and the work runs 0 times; saving fails
// after success, and the work runs twice.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	for _, w := range servers() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range cuts() {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.run(t, w)
				})
			}
			t.Run("the commit is late", func(t *testing.T) {
				t.Parallel()
				lateCommit(t, w)
			})
		})
	}
}

func (c cut) run(t *testing.T, w world) {
	f, proxy := w.behindProxy(t)
	c.lose(t, f, proxy)
}

func (c cut) lose(t *testing.T, f *fixture, proxy *faultproxy.Proxy) {
	t.Helper()
	b := f.box(t, nil)
	armed := proxy.Arm(c.statement, c.fault)
	var runs atomic.Int64
	res, err := b.do(t.Context(), opOf("lost"), func(ctx context.Context, tx execer) (receipt, error) {
		runs.Add(1)
		return withdraw(ctx, tx, "lost", 7)
	})
	mustHaveFired(t, armed)
	want := int64(1 + btoi(c.again))
	if err != nil || res.Replayed || res.Value.Amount != 7 || !c.either && runs.Load() != want {
		t.Errorf("%+v, %v after %d runs; want the first caller's answer after %d", res, err, runs.Load(), want)
	}
	if again, err := b.do(t.Context(), opOf("lost"), withdrawing("lost", 7)); err != nil || !again.Replayed || again.Value != res.Value || again.Fence != res.Fence {
		t.Errorf("the next caller: %+v, %v; want a replay of %+v", again, err, res)
	}
	f.check(t, f)
}

func mustHaveFired(t *testing.T, armed *faultproxy.Armed) {
	t.Helper()
	select {
	case <-armed.Fired():
	default:
		t.Fatal("the fault was not met")
	}
}

// A commit that arrives when its caller has given up: until then the row is locked, so
// nobody can say, or run; then the next caller gets the truth.
func lateCommit(t *testing.T, w world) {
	f, proxy := w.behindProxy(t)
	b := f.box(t, &inbox.Options{Timeout: 2 * time.Second})
	until := make(chan struct{})
	armed := proxy.Arm(commit, faultproxy.Delay(until))
	_, err := b.do(t.Context(), opOf("late"), withdrawing("late", 1))
	if !errors.Is(err, semel.ErrNoReply) {
		t.Errorf("error %v; want one that matches semel.ErrNoReply", err)
	}
	mustHaveFired(t, armed)
	hurried, patient := opOf("late"), opOf("late")
	hurried.Wait, patient.Wait = -1, time.Minute
	_, err = b.do(t.Context(), hurried, withdrawing("late", 1))
	wantInProgress(t, err, nil)
	close(until)
	if res, err := b.do(t.Context(), patient, withdrawing("late", 1)); err != nil || !res.Replayed {
		t.Errorf("once it has arrived: %+v, %v; want a replay", res, err)
	}
	f.check(t, f)
}

// While the clock is behind, all new records have the fence above the floor: one that
// was committed must not be taken for the record of the question what became of it.
func TestLostCommitBehindTheFloor(t *testing.T) {
	t.Parallel()
	for _, w := range servers() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			f, proxy := w.behindProxy(t)
			raiseFloor(t, f)
			cut{statement: commit, fault: faultproxy.CutReply()}.lose(t, f, proxy)
		})
	}
}

// raiseFloor purges a record with a fence of an hour from now.
func raiseFloor(t *testing.T, f *fixture) {
	t.Helper()
	claimed(t, f, opOf("floor"), semel.AtLeastOnce)
	ahead := fmt.Sprintf("UPDATE semel_record SET state = 2, expires_at = 0, fence = %d", time.Now().Add(time.Hour).UnixMicro())
	if _, err := f.db.ExecContext(t.Context(), ahead); err != nil {
		t.Fatal(err)
	}
	res, err := f.store.(semel.Purger).Purge(t.Context(), semel.PurgeParams{Limit: 1})
	if err != nil || res.Purged != 1 {
		t.Fatalf("%+v, %v; want the record purged", res, err)
	}
}

// A connection that hangs, without an end: no driver may keep a caller, and the seat
// that he has, beyond the timeouts.
func TestHungConnectionKeepsNobody(t *testing.T) {
	t.Parallel()
	for _, w := range servers() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for name, statement := range map[string]func(string) bool{"claim": claim, "result": result, "commit": commit, "savepoint": faultproxy.Starts("SAVEPOINT")} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					f, proxy := w.behindProxy(t)
					b := f.box(t, &inbox.Options{Timeout: time.Second, Wait: time.Millisecond, Retries: -1})
					armed := proxy.Arm(statement, faultproxy.Blackhole())
					ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
					defer cancel()
					returned := make(chan error, 1)
					go func() {
						_, err := b.do(t.Context(), opOf("hung"), withdrawing("hung", 1))
						returned <- err
					}()
					select {
					case err := <-returned:
						if err == nil {
							t.Error("a hung connection is a success")
						}
					case <-ctx.Done():
						t.Error("the caller is kept")
					}
					mustHaveFired(t, armed)
				})
			}
		})
	}
}
