package intx

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
)

func nothing(context.Context, *script) (string, error) { return "", nil }

func TestDuplicateWaitsInASeat(t *testing.T) {
	t.Parallel()
	p := play(t, Settings{Wait: 3 * time.Second}, nil, entry{begin: errLocked}, answering(semel.ClaimDone, false))
	p.want(t, "theirs", true, 0)
	if first, second := p.s.begins[0].wait, p.s.begins[1].wait; first > 50*time.Millisecond || second < 2*time.Second || second > 3*time.Second {
		t.Errorf("waits of %v and %v; want a glance, then the rest of 3s", first, second)
	}
}

func TestNoWaitIsOneGlance(t *testing.T) {
	t.Parallel()
	p := play(t, Settings{Wait: -1}, nil, entry{begin: errLocked})
	if _, busy := errors.AsType[*semel.InProgressError](p.err); !busy || len(p.s.begins) != 1 || errors.Is(p.err, semel.ErrWaitersFull) {
		t.Errorf("%v after %d claims; want in progress after one", p.err, len(p.s.begins))
	}
}

func TestSeatsAreBoundedAndGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		s := &script{conns: 8, plan: []entry{{begin: errLocked}, {hold: hold}, {begin: errLocked}, {hold: hold}, {begin: errLocked}}}
		f := newFlow(t, s, Settings{})
		if cap(f.seats) != 2 {
			t.Errorf("%d seats for 8 connections; want a quarter", cap(f.seats))
		}
		for range 2 {
			go func() { _, _ = Do(t.Context(), f, op(), nothing) }()
			synctest.Wait()
		}
		_, err := Do(t.Context(), f, op(), nothing)
		if !errors.Is(err, semel.ErrWaitersFull) {
			t.Errorf("%v; want that too many wait", err)
		}
		if wait := s.begins[4].wait; wait > time.Millisecond {
			t.Errorf("a glance of %v without a seat; it takes a connection too", wait)
		}
		close(hold)
		synctest.Wait()
		if len(f.seats) != 0 {
			t.Errorf("%d seats are still taken", len(f.seats))
		}
	})
}

func TestDefaultSeats(t *testing.T) {
	t.Parallel()
	for conns, want := range map[int]int{0: 16, 1: 1, 3: 1, 4: 1, 20: 5, 100: 25} {
		if f := newFlow(t, &script{conns: conns}, Settings{}); cap(f.seats) != want {
			t.Errorf("%d seats for %d connections, want %d", cap(f.seats), conns, want)
		}
	}
}

func TestMarkAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		plan  entry
		first bool
		check func(error) bool
	}{
		{entry{}, true, func(err error) bool { return err == nil }},
		{answering(semel.ClaimDone, false), false, func(err error) bool { return err == nil }},
		{answering(semel.ClaimMismatch, false), false, func(err error) bool { _, ok := errors.AsType[*semel.MismatchError](err); return ok }},
		{entry{begin: errLocked}, false, func(err error) bool { _, ok := errors.AsType[*semel.InProgressError](err); return ok }},
		{entry{begin: errConflict}, false, func(err error) bool { return errors.Is(err, errConflict) }},
	} {
		s := &script{plan: []entry{c.plan}}
		first, err := newFlow(t, s, Settings{}).Mark(t.Context(), s, op())
		if first != c.first || !c.check(err) || len(s.begins) != 1 {
			t.Errorf("%+v: first %v, %v after %d claims", c.plan, first, err, len(s.begins))
		}
	}
}
