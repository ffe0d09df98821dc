package faults

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/backends"
)

// newEngine is an engine that gives up on a call early, so that a test of calls that get
// lost is over soon.
func newEngine(t *testing.T, s semel.Store) *semel.Engine {
	t.Helper()
	e, err := semel.New(s, &semel.Options{
		Lease: lease, Retention: retention, FinishTimeout: 200 * time.Millisecond, PurgeEvery: -1,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Field faults: saving fails after success, the client is told 500, and the work runs
// twice; the client disconnects, the result is lost, and the retry runs again; the loser
// of a broken claim waits for itself, and the work runs 0 times.
//
// An operation meets every accident at each of its statements, and its caller asks again
// until he has an answer: the work has run once.
func TestAccidentsOfOperations(t *testing.T) {
	t.Parallel()
	for _, b := range append(backends.Servers(), backends.Redis()) {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			l := newLine(t, b)
			sent := statements(l.proxy, func() { newOperation(l, newEngine(t, l.through.Store)).untilAnswered(t.Context()) })
			for _, a := range accidents() {
				for nth := 1; nth <= sent; nth++ {
					o := newOperation(l, newEngine(t, l.through.Store))
					err := a.during(t, l.proxy, nth, func(ctx context.Context) error {
						_, err := o.ask(ctx)
						return err
					})
					answer := o.untilAnswered(t.Context())
					o.check(fmt.Sprintf("%s at statement %d, first told %v", a.name, nth, err), answer)
				}
			}
		})
	}
}

// operation is one key, asked for again and again.
type operation struct {
	*line
	engine *semel.Engine
	op     semel.Op
	runs   atomic.Int64
}

func newOperation(l *line, e *semel.Engine) *operation {
	scope := semel.Scope{Principal: semel.Global, Operation: "charge"}
	return &operation{
		line: l, engine: e,
		op: semel.Op{Key: semel.KeyOf(scope, fmt.Sprintf("%x", semel.NewToken())), Input: semel.NoInput, Wait: time.Minute},
	}
}

// ask asks once.
func (o *operation) ask(ctx context.Context) (string, error) {
	res, err := semel.Do(ctx, o.engine, o.op, func(context.Context) (string, error) {
		return fmt.Sprint("run ", o.runs.Add(1)), nil
	})
	return res.Value, err
}

// untilAnswered asks for a minute until there is an answer, with more patience each time.
// A claim that got lost is released in the background; until then the key is in progress.
// A client that could not connect may refuse at once, for a second.
func (o *operation) untilAnswered(ctx context.Context) string {
	var value string
	var err error
	patience := shortPatience
	for began := time.Now(); time.Since(began) < time.Minute; patience = min(2*patience, longPatience) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		value, err = o.ask(ctx)
		if errors.Is(err, semel.ErrStoreUnavailable) {
			<-ctx.Done()
		}
		cancel()
		_, running := errors.AsType[*semel.InProgressError](err)
		switch {
		case err == nil:
			return value
		case !running && !errors.Is(err, semel.ErrStoreUnavailable) && !errors.Is(err, context.DeadlineExceeded):
			return err.Error()
		}
	}
	return fmt.Sprint("nothing for a minute; at last: ", err)
}

// For how long a caller waits for an answer, at first and at last: many tries have to fit
// into a minute.
const (
	shortPatience = 300 * time.Millisecond
	longPatience  = 3 * time.Second
)

// check finds one run, its result in the record, and nothing left behind.
func (o *operation) check(what, answer string) {
	o.Helper()
	if err := o.engine.Close(o.Context()); err != nil {
		o.Errorf("%s: %v", what, err)
	}
	r := o.record(o.op.Key.ID())
	if n := o.runs.Load(); n != 1 || answer != "run 1" || r.State != semel.StateDone || string(r.Result.Data) != `"run 1"` {
		o.Errorf("%s: %d runs, answered %q, the record is %v with %q", what, n, answer, r.State, r.Result.Data)
	}
}
