package semelhttp_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/onetime"
	"github.com/semel-go/semel/semelhttp"
)

// A token is spent on all routes at once, also where the routes have keys of their own:
// reuse across operations.
func TestTokenIsSpentOnAllRoutes(t *testing.T) {
	t.Parallel()
	byPath := func(r *http.Request) string { return r.URL.Path }
	f := newFormWorld(t, &setup{http: semelhttp.Options{PerRoute: byPath}}, placed)
	token := f.token()
	first := f.submit(token, "green")
	f.submit(token, "green", func(r *http.Request) { r.URL.Path = "/refunds" }).isProblem(t, 409, "token-used")
	replays(t, first, f.submit(token, "green"))
	f.ran(1)
}

// A token that a guarded form has spent is spent for [onetime.Use] too: the answer is of
// another kind, but the work is not done again.
func TestTokenIsSpentForAllLayers(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, nil, placed)
	engine, err := semel.New(f.store, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close(context.WithoutCancel(t.Context()))
	service, err := onetime.New(engine, f.issuer, nil)
	if err != nil {
		t.Fatal(err)
	}
	token := f.token()
	f.submit(token, "green").is(t, 303, "")
	_, err = onetime.Use(t.Context(), service, token, "order", alice, semel.NoInput, func(context.Context) (string, error) {
		t.Error("the work of a spent token ran")
		return "", nil
	})
	if _, kept := errors.AsType[*semel.ResultUnavailableError](err); !kept {
		t.Errorf("got %v", err)
	}
}
