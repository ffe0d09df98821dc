package idgen_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/idgen"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semeltest"
)

// Ids of one node are new, rise for each caller, and bear time and worker.
func TestNodeIsForAllCallers(t *testing.T) {
	t.Parallel()
	layout := idgen.Layout{WorkerBits: 1, SequenceBits: 22} // so many that nobody waits
	node, err := idgen.NewNode(t.Context(), newStore(t), &idgen.Options{Layout: layout})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now().Truncate(time.Millisecond)
	all := together(8, 50_000, func() idgen.Snowflake {
		id, err := node.Next(t.Context())
		if err != nil {
			t.Error(err)
		}
		return id
	})
	end := time.Now()
	for _, own := range all {
		if !slices.IsSorted(own) {
			t.Error("a caller got a smaller one after a greater one")
		}
	}
	ids := slices.Concat(all...)
	mustDiffer(t, ids)
	for _, id := range ids {
		if at := layout.Time(id); at.Before(begin) || at.After(end.Add(10*time.Millisecond)) || layout.Worker(id) != node.Worker() {
			t.Fatalf("%d bears %v and worker %d; issued from %v to %v by %d", id, at, layout.Worker(id), begin, end, node.Worker())
		}
	}
	if err := node.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// No two live nodes share a worker id. When all are taken the error says what helps,
// and a closed node's is free at once.
func TestWorkersAreNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, store := &ledger{}, newStore(t)
		var hosts []*host
		workers := make(map[int]bool)
		for i := range 4 {
			h := newHost(t, book, store, string(rune('a'+i)), idgen.Layout{Epoch: old, WorkerBits: 2})
			h.mustStart()
			hosts = append(hosts, h)
			workers[h.node.Worker()] = true
		}
		if len(workers) != 4 {
			t.Fatalf("4 nodes have the workers %v", workers)
		}
		late := newHost(t, book, store, "late", idgen.Layout{Epoch: old, WorkerBits: 2})
		taken, ok := errors.AsType[*idgen.WorkersError](late.start())
		if !ok || taken.Workers != 4 || !strings.Contains(taken.Error(), "WorkerBits") {
			t.Errorf("a fifth node got %v", taken)
		}
		for range 10 {
			for _, h := range hosts {
				h.mustIssue(1)
			}
		}
		hosts[2].mustClose()
		late.mustStart()
		late.mustIssue(1)
		for _, h := range []*host{hosts[0], hosts[1], hosts[3], late} {
			h.mustClose()
		}
		book.mustBeClean(t)
	})
}

// A node keeps its worker id for as long as it lives, at work or not, and the context of
// NewNode has no part in that.
func TestNodeLivesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		layout := idgen.Layout{Epoch: old}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		node, err := idgen.NewNode(ctx, newStore(t), &idgen.Options{Layout: layout})
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		worker := node.Worker()
		for range 20 {
			time.Sleep(time.Minute)
			if id, err := node.Next(t.Context()); err != nil || layout.Worker(id) != worker || time.Since(layout.Time(id)) > time.Millisecond {
				t.Fatalf("%v of worker %d at %v, %v", id, layout.Worker(id), layout.Time(id), err)
			}
		}
		if err := node.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestClosedNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, &ledger{}, newStore(t), "a", two)
		for range 30 { // within a moment: each begins after the last one's ids
			h.mustStart()
			h.mustIssue(3)
			h.mustClose()
			h.mustClose()
			if _, err := h.next(); !errors.Is(err, idgen.ErrClosed) {
				t.Errorf("a closed node said %v", err)
			}
		}
		h.book.mustBeClean(t)
	})
}

// A waiting caller is sent away by Close, and by its own context.
func TestWaitingCallersAreSentAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, &ledger{}, newStore(t), "a", two)
		h.mustStart()
		h.mustIssue(1)
		h.step(-50 * time.Millisecond)
		cause := errors.New("gone home")
		ctx, cancel := context.WithCancelCause(t.Context())
		answers := make(chan error, 2)
		for _, ctx := range []context.Context{ctx, t.Context()} {
			go func() {
				_, err := h.node.Next(ctx)
				answers <- err
			}()
		}
		synctest.Wait()
		cancel(cause)
		if err := <-answers; !errors.Is(err, cause) {
			t.Errorf("the one whose context ended got %v", err)
		}
		h.mustClose()
		if err := <-answers; !errors.Is(err, idgen.ErrClosed) {
			t.Errorf("the other one got %v", err)
		}
	})
}

// A burst borrows from the next milliseconds, ten at most; then the rate is the
// layout's.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, &ledger{}, newStore(t), "a", two) // 16 a millisecond
		h.mustStart()
		begin := time.Now()
		h.mustIssue(11 * 16)
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("a burst of eleven milliseconds' worth waited %v", waited)
		}
		for range 500 * 16 {
			id, err := h.next()
			if ahead := time.Until(two.Time(id)); err != nil || ahead > 10*time.Millisecond {
				t.Fatalf("ahead by %v, %v", ahead, err)
			}
		}
		if took := time.Since(begin); took < 500*time.Millisecond || took > 510*time.Millisecond {
			t.Errorf("511 milliseconds' worth of ids took %v", took)
		}
		h.mustClose()
		h.book.mustBeClean(t)
	})
}

// Ids of two layouts could be equal, so a group has one.
func TestGroupHasOneLayout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, store := &ledger{}, newStore(t)
		a, b := newHost(t, book, store, "a", two), newHost(t, book, store, "b", idgen.Layout{Epoch: old})
		a.mustStart()
		a.mustClose()
		refused, ok := errors.AsType[*idgen.LayoutError](b.start())
		if !ok || refused.Group != "ids" {
			t.Errorf("another layout: %v", refused)
		}
		b.opts.Group = "others"
		b.mustStart()
		b.mustClose()
	})
}

// A worker id whose record an operator has resolved as done is retired.
func TestRetiredWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		h := newHost(t, &ledger{}, store, "a", two)
		for range 2 {
			h.mustStart()
			h.mustClose()
			retire(t, store)
		}
		if _, ok := errors.AsType[*idgen.WorkersError](h.start()); !ok {
			t.Error("a retired worker id was taken")
		}
	})
}

// retire resolves the record that was given back.
func retire(t *testing.T, store *memstore.Store) {
	t.Helper()
	list, err := store.List(t.Context(), semel.ListParams{State: semel.StateReleased, Limit: 10})
	if err != nil || len(list.Records) != 1 {
		t.Fatal(list, err)
	}
	res, err := store.Resolve(t.Context(), semel.ResolveParams{
		Key: list.Records[0].Key, Token: semel.NewToken(), Fence: list.Records[0].Fence, Resolution: semel.ResolveDone, Retention: semel.Forever,
	})
	if err != nil || !res.Resolved {
		t.Fatal(res, err)
	}
}

func TestLayoutEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		layout := idgen.Layout{WorkerBits: 8, SequenceBits: 16, Epoch: time.Now().Add(-(1<<39 - 6) * time.Millisecond)}
		h := newHost(t, &ledger{}, newStore(t), "a", layout)
		h.mustStart()
		h.mustIssue(5)
		time.Sleep(5 * time.Millisecond)
		h.mustIssue(5)
		time.Sleep(time.Millisecond)
		if id, err := h.next(); !errors.Is(err, idgen.ErrTimeSpent) {
			t.Errorf("past the last millisecond: %d, %v", id, err)
		}
		h.mustClose()
		future := newHost(t, h.book, newStore(t), "b", idgen.Layout{Epoch: time.Now().Add(time.Hour)})
		if wrong, ok := errors.AsType[*idgen.ClockError](future.start()); !ok || wrong.Behind < time.Hour {
			t.Errorf("before the epoch: %v", wrong)
		}
	})
}

// All mistakes are reported at once, each with its fix.
func TestNewNodeRefuses(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	_, err := idgen.NewNode(t.Context(), store, &idgen.Options{
		Layout: idgen.Layout{WorkerBits: 17, SequenceBits: 23}, Lease: time.Millisecond, MaxWait: -1,
	})
	for _, want := range []string{"WorkerBits is 17", "SequenceBits is 23", "23 bits for milliseconds", "Lease 1ms", "MaxWait is negative"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if _, err := idgen.NewNode(t.Context(), semeltest.NewFaultStore(store), nil); !errors.Is(err, semel.ErrUnsupported) {
		t.Errorf("a store without checkpoints: %v", err)
	}
	if _, err := idgen.NewNode(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), "nil") {
		t.Errorf("no store: %v", err)
	}
	cause := errors.New("gone home")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := idgen.NewNode(ctx, store, nil); !errors.Is(err, cause) {
		t.Errorf("an ended context: %v", err)
	}
}

// A store that does not answer is an error in the time that its calls may take.
func TestNewNodeWithoutAStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, &ledger{}, newStore(t), "a", two)
		h.store.cut()
		begin := time.Now()
		if err := h.start(); !errors.Is(err, semel.ErrStoreUnavailable) || time.Since(begin) > 10*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		h.heal()
		h.mustStart()
		h.mustIssue(1)
		h.mustClose()
	})
}
