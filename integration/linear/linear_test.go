package linear

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/backends"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/integration/internal/faultproxy"
	"github.com/semel-go/semel/integration/internal/soak"
)

// clock moves only when told to.
type clock struct {
	mu   sync.Mutex
	past time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Unix(1_750_000_000, 0).Add(c.past)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.past += d
}

func TestMemory(t *testing.T) {
	t.Parallel()
	linearizable(t, "memory", memory(t), Load{Seed: 1, Rounds: 40})
}

// Of each store there are two handles on one database, as two processes have them, and
// where there is a server, a third one whose connections break.
func TestDatabases(t *testing.T) {
	t.Parallel()
	for _, b := range backends.Leased() {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			dsn := b.Database(t)
			h := b.OpenFor(t, dsn)
			s := Subject{
				Stores: []semel.Store{h.Store, b.OpenFor(t, dsn).Store},
				Lapse: func(ctx context.Context, keys []semel.KeyID) error {
					return h.Pass(ctx, 2*lease, false, keys...)
				},
			}
			l := Load{Seed: 1, Rounds: 10}
			if b.Proxy != nil && !b.Resends {
				proxy := b.Proxy(t)
				s.Stores = append(s.Stores, b.OpenFor(t, engines.Through(dsn, proxy.Addr())).Store)
				l.Loss = 0.03 // the rest gets lost on the way
				defer breakConnections(proxy)()
			}
			linearizable(t, b.Name, s, l)
		})
	}
}

// breakConnections breaks one after the other, in the middle of statements, until it is
// told to stop.
func breakConnections(proxy *faultproxy.Proxy) (stop func()) {
	faults := []faultproxy.Fault{faultproxy.CutBefore(), faultproxy.CutReply(), faultproxy.Reset()}
	quit := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for i := 0; ; i++ {
			statements := 0
			armed := proxy.Arm(func(string) bool { statements++; return statements == 20 }, faults[i%len(faults)])
			select {
			case <-armed.Fired():
			case <-quit:
				proxy.Disarm(armed)
				return
			}
		}
	})
	return func() {
		close(quit)
		all.Wait()
	}
}

// enough is how many runs have seen every answer.
const enough = 10

// linearizable runs callers on the store until they have seen every answer, or as long
// as the soak goes on.
func linearizable(t *testing.T, name string, s Subject, l Load) {
	t.Helper()
	var f Figures
	runs, began, unseen := 0, time.Now(), answers()
	for !t.Failed() && (time.Since(began) < soak.Duration(t) || len(unseen) > 0 && runs < enough) {
		f = runOnce(t, s, l)
		maps.DeleteFunc(unseen, func(answer string, _ bool) bool { return f.Answers[answer] > 0 })
		l.Seed++
		runs++
	}
	for answer := range unseen {
		t.Errorf("nobody was told %q in %d runs", answer, runs)
	}
	fmt.Printf("figures: linearizable: %s, %d runs, the last one: %v\n", name, runs, f)
}

// answers are those without which a check shows little.
func answers() map[string]bool {
	all := map[string]bool{}
	for _, answer := range []string{
		"claim acquired", "claim running", "claim done", "claim in-doubt", "claim mismatch", "claim no reply",
		"renew", "renew fenced", "renew no reply", "finish", "finish fenced", "finish no reply",
		"read", "read no reply", "resolve", "resolve refused", "resolve no reply", "lapse",
	} {
		all[answer] = true
	}
	return all
}

// runOnce looks for an order of one run. Calls that hardly overlap would show nothing.
func runOnce(t *testing.T, s Subject, l Load) Figures {
	t.Helper()
	h, err := Run(t.Context(), s, l)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Check(); err != nil {
		t.Error(err)
	}
	f := h.Figures()
	if f.Overlapping < 0.3 || f.Unknown < 0.01 || f.Unknown > 0.1 {
		t.Errorf("%v: want 30 %% or more overlapping, and 1 to 10 %% without a reply", f)
	}
	return f
}
