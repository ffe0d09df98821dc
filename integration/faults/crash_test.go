package faults

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/backends"
	"github.com/semel-go/semel/integration/internal/soak"
)

// load is callers who claim and finish new keys as fast as they can, and remember what
// they were told.
type load struct {
	store semel.Store
	quit  chan struct{}
	all   sync.WaitGroup
	acked atomic.Int64

	mu      sync.Mutex
	records map[semel.KeyID]told
	wrong   []error
}

// told is what a caller was told of a key.
type told struct {
	state semel.State // the last one acknowledged
	fence semel.Fence
	open  bool // a call after it got no reply
	never bool // a claim after it was told to be not executed
}

const loadCallers = 16

func startLoad(s semel.Store) *load {
	l := &load{store: s, quit: make(chan struct{}), records: map[semel.KeyID]told{}}
	for range loadCallers {
		l.all.Go(l.run)
	}
	return l
}

func (l *load) run() {
	for {
		select {
		case <-l.quit:
			return
		default:
		}
		key := semel.KeyID(semel.NewToken())
		k, err := l.one(key)
		l.mu.Lock()
		l.records[key] = k
		if err != nil && !noReply(err) && !unavailable(err) {
			l.wrong = append(l.wrong, err)
		}
		l.mu.Unlock()
	}
}

// one claims and finishes a key.
func (l *load) one(key semel.KeyID) (k told, err error) {
	r := &record{key: key, mine: semel.NewToken()}
	res, err := l.store.Claim(context.Background(), claimBy(r, r.mine))
	if err != nil {
		k.open, k.never = noReply(err), unavailable(err)
		return k, err
	}
	if res.Outcome != semel.ClaimAcquired {
		return k, fmt.Errorf("a new key is %v", res.Outcome)
	}
	k.state, k.fence = semel.StateRunning, res.Record.Fence
	l.acked.Add(1)
	p := finishBy(r, r.mine, semel.StateDone)
	p.Result.Data = resultOf(k.fence)
	_, err = l.store.Finish(context.Background(), p)
	switch {
	case err == nil:
		k.state = semel.StateDone
		l.acked.Add(1)
	case noReply(err):
		k.open = true
	}
	return k, err
}

func resultOf(f semel.Fence) []byte { return strconv.AppendInt(nil, int64(f), 10) }

// reached returns when n more calls were acknowledged.
func (l *load) reached(ctx context.Context, n int64) error {
	for goal := l.acked.Load() + n; l.acked.Load() < goal; {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d calls of %d were acknowledged: %w", l.acked.Load(), goal, context.Cause(ctx))
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

func (l *load) end() {
	close(l.quit)
	l.all.Wait()
}

// check compares what the callers were told with what is there.
func (l *load) check(t *testing.T, s semel.Store) (claims, results, lost int) {
	t.Helper()
	if err := errors.Join(l.wrong...); err != nil {
		t.Errorf("neither ErrNoReply nor ErrStoreUnavailable: %v", err)
	}
	for key, k := range l.records {
		r, err := readBack(t.Context(), s, key)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case k.never && r.State != semel.StateNone:
			t.Errorf("a claim was told to be not executed, and the record is %v", r.State)
		case k.state == semel.StateNone:
			continue
		case r.State == semel.StateNone || r.State == semel.StateRunning && k.state == semel.StateDone:
			lost++
		case r.Fence != k.fence:
			t.Errorf("the fence is %d, it was acknowledged as %d", r.Fence, k.fence)
		case r.State == semel.StateDone && string(r.Result.Data) != string(resultOf(k.fence)):
			t.Errorf("fence %d has the result %q", k.fence, r.Result.Data)
		case r.State != k.state && !k.open:
			t.Errorf("the record is %v; the last call on it was acknowledged, and it was %v", r.State, k.state)
		}
		claims++
		if k.state == semel.StateDone {
			results++
		}
	}
	return claims, results, lost
}

// readBack reads a record of a server that is back; a client that could not connect for a
// while may take a second to notice.
func readBack(ctx context.Context, s semel.Store, key semel.KeyID) (semel.Record, error) {
	for began := time.Now(); ; {
		r, err := s.Read(ctx, semel.ReadParams{Key: key})
		if !unavailable(err) || time.Since(began) > 10*time.Second {
			return r, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Field faults: a failover or restart of the store loses claims and results; callers of
// a store that goes down are told that nothing happened.
//
// The server is killed with SIGKILL under load and started again. With its default
// durability, nothing that was acknowledged is lost.
func TestServerKilledUnderLoad(t *testing.T) {
	t.Parallel()
	for _, b := range []backends.Backend{backends.PostgresPool(), backends.MariaDB(), backends.Redis()} {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			server := b.Private(t, nil)
			h := b.OpenFor(t, server.Database(t))
			if g := guarantees(t, h.Store); g.SurvivesEngineCrash != semel.Yes {
				t.Errorf("it promises that what is acknowledged survives a crash of the engine: %v, %q", g.SurvivesEngineCrash, g.Notes)
			}
			crashes, began := 0, time.Now()
			claims, results := 0, 0
			for crashes < 2 || time.Since(began) < soak.Duration(t) {
				l := crash(t, server, h.Store)
				c, r, lost := l.check(t, h.Store)
				if lost > 0 {
					t.Errorf("%d of %d acknowledged records are lost", lost, c)
				}
				crashes, claims, results = crashes+1, claims+c, results+r
			}
			fmt.Printf("crash test: %s killed %d times under load: %d claims and %d results were acknowledged, none is lost\n", b.Name, crashes, claims, results)
		})
	}
}

// crash kills a server that callers are busy with, and starts it again.
func crash(t *testing.T, server backends.Server, s semel.Store) *load {
	t.Helper()
	l := startLoad(s)
	if err := l.reached(t.Context(), 300); err != nil {
		t.Error(err)
	}
	server.Kill(t)
	l.end()
	server.Restart(t)
	return l
}

func guarantees(t *testing.T, s semel.Store) semel.Guarantees {
	t.Helper()
	g, err := s.Guarantees(t.Context(), semel.GuaranteesParams{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A server that acknowledges before it writes forgets, when it is killed; the store says
// so.
func TestServerThatForgets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		backend backends.Backend
		setting map[string]string
	}{
		{backends.PostgresPool(), map[string]string{"synchronous_commit": "off", "wal_writer_delay": "10s"}},
		{backends.MariaDB(), map[string]string{"innodb_flush_log_at_trx_commit": "0"}},
		{backends.Redis(), map[string]string{"appendonly": "no"}},
	} {
		t.Run(test.backend.Name, func(t *testing.T) {
			t.Parallel()
			server := test.backend.Private(t, test.setting)
			h := test.backend.OpenFor(t, server.Database(t))
			if g := guarantees(t, h.Store); g.SurvivesEngineCrash != semel.No || g.SurvivesPowerLoss != semel.No || len(g.Notes) == 0 {
				t.Errorf("with %v it promises %+v", test.setting, g)
			}
			l := crash(t, server, h.Store)
			claims, _, lost := l.check(t, h.Store)
			fmt.Printf("crash test: %s with %v, killed once: %d of %d acknowledged records are lost, as its guarantees say\n", test.backend.Name, test.setting, lost, claims)
		})
	}
}
