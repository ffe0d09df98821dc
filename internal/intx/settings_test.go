package intx

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
)

func TestContradictorySettingsAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set  Settings
		text string
	}{
		{Settings{Retention: time.Millisecond}, "Retention"},
		{Settings{Retention: -1}, "Retention"},
		{Settings{Retention: time.Second, Wait: time.Second}, "Wait"},
		{Settings{Waiters: -1}, "Waiters"},
		{Settings{Waiters: 8}, "leaves none"},
		{Settings{Timeout: -1}, "Timeout"},
		{Settings{Isolation: sql.LevelReadUncommitted}, "Isolation"},
		{Settings{MaxResult: -1}, "MaxResult"},
		{Settings{Secret: []byte("short")}, "Secret"},
	} {
		if _, err := New[*script](&script{conns: 8}, nil, c.set); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: error %v; want one that says %q", c.set, err, c.text)
		}
	}
}

// What belongs to a lease is refused by name, and not ignored.
func TestSettingsOfALeaseAreRefused(t *testing.T) {
	t.Parallel()
	f := newFlow(t, &script{}, Settings{})
	for _, c := range []struct {
		op   semel.Op
		text string
	}{
		{semel.Op{Lease: time.Minute}, "Lease"},
		{semel.Op{Policy: semel.AtMostOnce}, "Policy"},
		{semel.Op{MaxAttempts: 3}, "MaxAttempts"},
		{semel.Op{Recovering: true}, "Recovering"},
		{semel.Op{Detached: true}, "Detached"},
		{semel.Op{Retention: time.Millisecond}, "Retention"},
		{semel.Op{Wait: 25 * time.Hour}, "Wait"},
	} {
		c.op.Key, c.op.Input = op().Key, op().Input
		if _, err := Do(t.Context(), f, c.op, nothing); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: error %v; want one that says %q", c.op, err, c.text)
		}
	}
	if _, err := Do(t.Context(), f, semel.Op{}, nothing); err == nil || !strings.Contains(err.Error(), "KeyOf") {
		t.Errorf("no key: %v", err)
	}
}

// watcher keeps what an observer is told.
type watcher []semel.Event

func (w *watcher) Observe(ev semel.Event) { *w = append(*w, ev) }

func (w *watcher) kinds() (all []string) {
	for _, ev := range *w {
		name := ev.Kind.String()
		if ev.Call != "" {
			name += " " + ev.Call
		}
		all = append(all, name)
	}
	return all
}

func TestEvents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		set  Settings
		plan entry
		err  error
		want []string
	}{
		{"a run", Settings{}, entry{}, nil, []string{"store-call claim", "claim", "store-call finish", "finish"}},
		{"a failure", Settings{}, entry{}, errOther, []string{"store-call claim", "claim", "finish"}},
		{"a conflict", Settings{Retries: -1}, entry{commit: errConflict}, nil, []string{"store-call claim", "claim", "store-call finish", "finish"}},
		{"a replay", Settings{}, answering(semel.ClaimDone, false), nil, []string{"store-call claim", "replay"}},
		{"a mismatch", Settings{}, answering(semel.ClaimMismatch, false), nil, []string{"store-call claim", "mismatch"}},
		{"a lease", Settings{}, answering(semel.ClaimRunning, false), nil, []string{"store-call claim", "conflict"}},
		{"a doubt", Settings{}, answering(semel.ClaimInDoubt, false), nil, []string{"store-call claim", "in-doubt"}},
		{"no wait", Settings{Wait: -1}, entry{begin: errLocked}, nil, []string{"store-call claim", "conflict"}},
		{"a tombstone", Settings{MaxResult: 1}, entry{}, nil, []string{"store-call claim", "claim", "store-call finish", "finish", "tombstone"}},
	} {
		w := new(watcher)
		c.set.Observer = w
		s := &script{plan: []entry{c.plan}}
		_, _ = Do(t.Context(), newFlow(t, s, c.set), op(), func(context.Context, *script) (string, error) { return "mine", c.err })
		if got := w.kinds(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		for _, ev := range *w {
			if ev.Operation != "o" || ev.Key != op().Key.ID() {
				t.Errorf("%s: event %+v without label or key", c.name, ev)
			}
		}
	}
}

// purges is a store that has some expired records.
type purges struct {
	semel.Store
	calls int
	more  bool
	err   error
}

func (p *purges) Purge(_ context.Context, params semel.PurgeParams) (semel.PurgeResult, error) {
	p.calls++
	return semel.PurgeResult{Purged: params.Limit, More: p.more}, p.err
}

func TestCommitsSetOffThePurge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		every time.Duration
		store purges
		want  int
	}{
		{time.Hour, purges{}, 0},
		{-1, purges{}, 0},
		{time.Nanosecond, purges{}, 3},
		{time.Nanosecond, purges{err: errors.New("no")}, 3},
	} {
		f, err := New[*script](&script{plan: []entry{{}}}, &c.store, Settings{PurgeEvery: c.every, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := Do(t.Context(), f, op(), nothing); err != nil {
				t.Error(err)
			}
		}
		if c.store.calls != c.want {
			t.Errorf("every %v: %d purges, want %d", c.every, c.store.calls, c.want)
		}
	}
}

// While more are due the next commit purges too, whatever the interval.
func TestPurgeKeepsUp(t *testing.T) {
	t.Parallel()
	store := &purges{more: true}
	f, err := New[*script](&script{plan: []entry{{}}}, store, Settings{PurgeEvery: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	f.lastPurge.Store(time.Now().Add(-2 * time.Hour).UnixNano())
	for i := range 3 {
		store.more = i < 1
		if _, err := Do(t.Context(), f, op(), nothing); err != nil {
			t.Error(err)
		}
	}
	if store.calls != 2 {
		t.Errorf("%d purges, want 2", store.calls)
	}
}
