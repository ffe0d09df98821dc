package onetime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/backends"
	"github.com/semel-go/semel/onetime"
)

// world is a service in two replicas on one database.
type world struct {
	handle   *backends.Handle
	issuer   *onetime.Issuer
	engines  [2]*semel.Engine
	replicas [2]*onetime.Service
	stored   [2]*onetime.Stored
}

// everywhere runs a rule on each store.
func everywhere(t *testing.T, opts onetime.Options, rule func(t *testing.T, w *world)) {
	t.Helper()
	for _, b := range backends.Leased() {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			rule(t, newWorld(t, b, opts))
		})
	}
}

func newWorld(t *testing.T, b backends.Backend, opts onetime.Options) *world {
	t.Helper()
	w := &world{}
	issuer, err := onetime.NewIssuer([][]byte{bytes.Repeat([]byte{7}, 32)}, &onetime.IssuerOptions{Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	w.issuer = issuer
	dsn := b.Database(t)
	for i := range w.replicas {
		w.handle = b.OpenFor(t, dsn)
		w.join(t, i, opts)
	}
	return w
}

// join starts a replica on the handle that was opened last.
func (w *world) join(t *testing.T, i int, opts onetime.Options) {
	t.Helper()
	engine, err := semel.New(w.handle.Store, &semel.Options{ClaimTimeout: 20 * time.Second, Retention: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	w.engines[i] = engine
	if w.replicas[i], err = onetime.New(engine, w.issuer, &opts); err != nil {
		t.Fatal(err)
	}
	if w.stored[i], err = onetime.NewStored(engine, &onetime.StoredOptions{Lifetime: time.Hour}); err != nil {
		t.Fatal(err)
	}
}

// token is a new token of alice's order form.
func (w *world) token(t *testing.T) string {
	t.Helper()
	token, _, err := w.issuer.Issue("order", "alice")
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// key is the key of the record of a token.
func (w *world) key(t *testing.T, token string) semel.KeyID {
	t.Helper()
	v, err := w.issuer.Verify(token, "order", "alice")
	if err != nil {
		t.Fatal(err)
	}
	return v.Key().ID()
}

// submit sends a form to a replica.
func (w *world) submit(t *testing.T, replica int, token, subject, content string, work func(context.Context) (string, error)) (semel.Result[string], error) {
	t.Helper()
	return onetime.Use(t.Context(), w.replicas[replica], token, "order", subject, semel.InputString(content), work)
}

// never is work that must not run.
func never(t *testing.T) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		t.Error("the work ran a second time")
		return "", errors.New("it must not run")
	}
}

func says(value string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return value, nil }
}

// want checks an outcome: its value, and whether it is a replay.
func want(t *testing.T, res semel.Result[string], err error, value string, replayed bool) {
	t.Helper()
	if err != nil || res.Value != value || res.Replayed != replayed {
		t.Errorf("got %q, replayed %v, %v; want %q, %v", res.Value, res.Replayed, err, value, replayed)
	}
}

// outcome names what came of a submit.
func outcome(res semel.Result[string], err error) string {
	_, busy := errors.AsType[*semel.InProgressError](err)
	_, doubt := errors.AsType[*semel.InDoubtError](err)
	_, changed := errors.AsType[*onetime.ContentChangedError](err)
	switch {
	case busy:
		return "in progress"
	case doubt:
		return "in doubt"
	case changed:
		return "changed"
	case err != nil:
		return err.Error()
	case res.Replayed:
		return "replayed"
	}
	return fmt.Sprintf("ran %d", res.Attempt)
}
