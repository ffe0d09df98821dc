package onetime_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/onetime"
	"github.com/semel-go/semel/semeltest"
)

// secretOf is a secret of one byte's value, repeated.
func secretOf(b byte) []byte {
	secret := make([]byte, 32)
	for i := range secret {
		secret[i] = b
	}
	return secret
}

// world is a service on a memory store; both have one clock.
type world struct {
	t      *testing.T
	clock  *semeltest.Clock
	store  *semeltest.FaultStore
	issuer *onetime.Issuer
	engine *semel.Engine
	forms  *onetime.Service
}

// setup changes what newWorld builds.
type setup struct {
	issuer onetime.IssuerOptions
	engine semel.Options
	forms  onetime.Options
}

func newWorld(t *testing.T, s setup) *world {
	t.Helper()
	w := &world{t: t, clock: semeltest.NewClock()}
	mem, err := memstore.New(&memstore.Options{Now: w.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	w.store = semeltest.NewFaultStore(mem)
	s.engine.Clock, s.issuer.Clock = w.clock, w.clock
	if w.engine, err = semel.New(w.store, &s.engine); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // what a test fails to finish must show
		if err := w.engine.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if w.issuer, err = onetime.NewIssuer([][]byte{secretOf(1)}, &s.issuer); err != nil {
		t.Fatal(err)
	}
	if w.forms, err = onetime.New(w.engine, w.issuer, &s.forms); err != nil {
		t.Fatal(err)
	}
	return w
}

// issue returns a new token of alice's order form.
func (w *world) issue() string {
	w.t.Helper()
	return issueFor(w.t, w.issuer, "order", "alice")
}

func issueFor(t *testing.T, issuer *onetime.Issuer, purpose, subject string) string {
	t.Helper()
	token, _, err := issuer.Issue(purpose, subject)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// submit sends alice's order form with a content; work is what it does.
func (w *world) submit(token, content string, work func(context.Context) (string, error)) (semel.Result[string], error) {
	w.t.Helper()
	return onetime.Use(w.t.Context(), w.forms, token, "order", "alice", semel.InputString(content), work)
}

// says is work that succeeds.
func says(value string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return value, nil }
}

// never is work that must not run.
func (w *world) never(context.Context) (string, error) {
	w.t.Error("the work ran a second time")
	return "", errors.New("it must not run")
}

// wantRefused checks that an attempt was refused, without anything of a result.
func wantRefused(t *testing.T, what string, res semel.Result[string], err error) {
	t.Helper()
	if err != onetime.ErrRefused || res != (semel.Result[string]{}) {
		t.Errorf("%s: got %+v, %v; want ErrRefused itself", what, res, err)
	}
}

const hour = time.Hour
