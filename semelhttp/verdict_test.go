package semelhttp_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// What a handler decided counts when it panics afterwards, unless it had said that
// the answer is final, which then is none.
func TestDecideBeforeAPanic(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		policy semel.Policy
		said   error
		want   semel.State
	}{
		"released under at most once":  {semel.AtMostOnce, semel.Retryable(io.EOF), semel.StateReleased},
		"in doubt under at least once": {semel.AtLeastOnce, semel.InDoubt(io.EOF), semel.StateInDoubt},
		"final under at least once":    {semel.AtLeastOnce, semel.Final(io.EOF), semel.StateReleased},
		"final under at most once":     {semel.AtMostOnce, semel.Final(io.EOF), semel.StateInDoubt},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &setup{http: semelhttp.Options{Policy: tt.policy}}, func(_ http.ResponseWriter, r *http.Request) {
				semelhttp.Decide(r.Context(), tt.said)
				panic(http.ErrAbortHandler)
			})
			w.breaks("b")
			w.state(tt.want)
		})
	}
}

// Golden: what goes into a record by its name.
func TestRecordable(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Location", "etag", "Content-Type", "Link", "Vary", "X-Anything"} {
		if !semelhttp.Recordable(name) {
			t.Errorf("%s is not recorded", name)
		}
	}
	for _, name := range []string{"Set-Cookie", "date", "Content-Length", "Access-Control-Allow-Origin", "X-Auth-Token", "Authorization", "Connection", "Idempotency-Key", "Idempotent-Replayed", "no name", ""} {
		if semelhttp.Recordable(name) {
			t.Errorf("%q is recorded", name)
		}
	}
}
