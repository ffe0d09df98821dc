package inbox

import (
	"context"
	"testing"

	"github.com/semel-go/semel"
)

// events hands on what a box tells its observer.
type events chan semel.Event

func newEvents() events { return make(events, 1000) }

// Observe is [semel.Observer]'s.
func (e events) Observe(ev semel.Event) { e <- ev }

// blocked waits until a claim was kept out by another transaction.
func (e events) blocked(t *testing.T) {
	t.Helper()
	for {
		select {
		case ev := <-e:
			if ev.Kind == semel.EventStoreCall && ev.Call == "claim" && ev.Err != nil {
				return
			}
		case <-t.Context().Done():
			t.Fatal("no claim was kept out")
		}
	}
}

// holder is a withdrawal whose transaction stays open until it is told to go on.
type holder struct {
	inside chan struct{}
	leave  chan error
	ended  chan error
}

// hold starts one and waits until it is inside its transaction.
func hold(t *testing.T, b box, op semel.Op, name string) *holder {
	t.Helper()
	h := &holder{inside: make(chan struct{}, 10), leave: make(chan error), ended: make(chan error, 1)}
	go func() {
		_, err := b.do(t.Context(), op, func(ctx context.Context, tx execer) (receipt, error) {
			r, err := withdraw(ctx, tx, name, 1)
			h.inside <- struct{}{}
			if told := <-h.leave; told != nil {
				return r, told
			}
			return r, err
		})
		h.ended <- err
	}()
	select {
	case <-h.inside:
	case err := <-h.ended:
		t.Fatalf("the holder ended: %v", err)
	}
	return h
}

// end lets the holder return err, and returns what its caller got.
func (h *holder) end(err error) error {
	h.leave <- err
	return <-h.ended
}

// outcome is what a call returned.
type outcome struct {
	res semel.Result[receipt]
	err error
}

// start makes a call in the background.
func start(ctx context.Context, b box, op semel.Op, fn work) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		res, err := b.do(ctx, op, fn)
		done <- outcome{res, err}
	}()
	return done
}
