package faults

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/backends"
	"github.com/semel-go/semel/integration/internal/soak"
	"github.com/semel-go/semel/semeltest"
)

const (
	shortLease = time.Second
	pauseKeys  = 8
)

// Field faults: a handler outlives its lease, and there are two runs; a lease is judged by
// a clock that stands still while the others' go on.
//
// The server stops for longer than a lease. Each owner has ended by his own clock before
// the next one begins, and he is fenced.
func TestServerPausedBeyondTheLease(t *testing.T) {
	t.Parallel()
	for _, b := range []backends.Backend{backends.PostgresPool(), backends.MariaDB(), backends.Redis()} {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			server := b.Private(t, nil)
			dsn := server.Database(t)
			p := &pausing{T: t, server: server, store: b.OpenFor(t, dsn).Store}
			lost := semeltest.NewFaultStore(p.store)
			lost.Always(semeltest.Renew, semeltest.Fail(semel.ErrNoReply)) // one that waits at the server would begin a new lease
			p.former, p.next = p.engine(lost), p.engine(b.OpenFor(t, dsn).Store)
			rounds, began := 0, time.Now()
			for rounds < 1 || time.Since(began) < soak.Duration(t) {
				p.round()
				rounds++
			}
			fmt.Printf("figures: %s paused %d times beyond the leases of %d keys: no key had two owners\n", b.Name, rounds, rounds*(pauseKeys+2))
		})
	}
}

// pausing is two engines, as of two processes, on a server that stops.
type pausing struct {
	*testing.T
	server       backends.Server
	store        backends.Store
	former, next *semel.Engine
}

// engine is one whose leases are short.
func (p *pausing) engine(s semel.Store) *semel.Engine {
	p.Helper()
	e, err := semel.New(s, &semel.Options{
		Lease: shortLease, ClaimTimeout: shortLease / 2, FinishTimeout: 10 * time.Second, PurgeEvery: -1,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			p.Error(err)
		}
	})
	return e
}

// held is a key that the former engine owns until its lease is lost.
type held struct {
	op          semel.Op
	began, lost chan struct{}
}

func newHeld() *held {
	scope := semel.Scope{Principal: semel.Global, Operation: "pause"}
	key := semel.KeyOf(scope, fmt.Sprintf("%x", semel.NewToken()))
	return &held{op: semel.Op{Key: key, Input: semel.NoInput}, began: make(chan struct{}), lost: make(chan struct{})}
}

// round pauses the server until the leases of all that the former engine owned are over.
func (p *pausing) round() {
	p.Helper()
	stale, doubtful := p.claimed(semel.AtLeastOnce), p.claimed(semel.AtMostOnce)
	var all sync.WaitGroup
	for range pauseKeys {
		h := newHeld()
		all.Go(func() { p.hold(h) })
		<-h.began
		all.Go(func() { p.follow(h) })
	}
	over := time.After(3 * shortLease / 2) // a busy machine stops handlers late
	p.server.Pause(p.T)
	<-over
	p.server.Resume(p.T)
	all.Wait()
	p.fenced(stale)
	p.settled(doubtful)
}

// hold owns a key until the engine says that the lease is lost.
func (p *pausing) hold(h *held) {
	res, err := semel.Do(p.Context(), p.former, h.op, func(ctx context.Context) (string, error) {
		close(h.began)
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, semel.ErrLeaseLost) {
			p.Errorf("the former owner was stopped by %v", cause)
		}
		close(h.lost)
		return "former", errors.New("stopped half-way")
	})
	if err == nil && res.Value != "next" {
		p.Errorf("the former owner's caller was given %q", res.Value)
	}
}

// follow asks for the key until it is its turn.
func (p *pausing) follow(h *held) {
	for {
		_, err := semel.Do(p.Context(), p.next, h.op, func(context.Context) (string, error) {
			select {
			case <-h.lost:
			default:
				p.Error("two live owners: the next one began before the former one's lease was lost")
			}
			return "next", nil
		})
		_, running := errors.AsType[*semel.InProgressError](err)
		switch {
		case err == nil:
			return
		case !running && !errors.Is(err, semel.ErrStoreUnavailable):
			p.Errorf("the next owner: %v", err)
			return
		}
	}
}

// claimed is a record that is claimed for a short lease, without an engine that renews it.
func (p *pausing) claimed(policy semel.Policy) *record {
	p.Helper()
	r := newRecord()
	c := claimBy(r, r.mine)
	c.Lease, c.Policy = shortLease, policy
	if res, err := p.store.Claim(p.Context(), c); err != nil || res.Outcome != semel.ClaimAcquired {
		p.Fatalf("claim: %v, %v", res.Outcome, err)
	}
	return r
}

// fenced lets another one take over, and the former owner come back.
func (p *pausing) fenced(r *record) {
	p.Helper()
	p.until(r, semel.ClaimAcquired)
	for _, call := range []func(context.Context, backends.Store, *record) (string, error){renew, checkpoint, finish(semel.StateDone), finish(semel.StateReleased)} {
		if got, err := call(p.Context(), p.store, r); got != "fenced" || err != nil {
			p.Errorf("the former owner comes back: %q, %v; want fenced", got, err)
		}
	}
}

// settled: of a run that nobody else may take over, the owner may still say how it
// ended.
func (p *pausing) settled(r *record) {
	p.Helper()
	p.until(r, semel.ClaimInDoubt)
	if got, err := finish(semel.StateDone)(p.Context(), p.store, r); got != "finished" || err != nil {
		p.Errorf("the owner of a record in doubt by lapse: %q, %v; want finished", got, err)
	}
	p.until(r, semel.ClaimDone)
}

// until asks with another token until it is told so. By the server's clock the lease may
// still go on for a moment.
func (p *pausing) until(r *record, want semel.Outcome) {
	p.Helper()
	for {
		res, err := p.store.Claim(p.Context(), claimBy(r, r.other))
		if err != nil || res.Outcome != semel.ClaimRunning {
			if err != nil || res.Outcome != want {
				p.Errorf("another claim: %v, %v; want %v", res.Outcome, err, want)
			}
			return
		}
	}
}
