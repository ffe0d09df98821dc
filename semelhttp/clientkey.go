package semelhttp

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"

	"github.com/semel-go/semel"
)

// NewKey returns a new key: a random UUID (version 4, RFC 9562).
func NewKey() string {
	var b [16]byte
	rand.Read(b[:]) // never fails (documentation of crypto/rand)
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// WithKey returns a context whose requests a [Transport] sends with key: one
// logical operation, so use it for one request and its repetitions. A semel
// operation that begins under the context does not inherit the key.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, givenKey{}, given{text: key, run: runOf(ctx)})
}

// WithLabel names a call to another service that is made inside a semel
// operation. The [Transport] derives the key from the operation's own key and the
// label, so that the call has the same key on every attempt, also after a crash.
// Labels are unique within the operation: two calls need two labels.
func WithLabel(ctx context.Context, label string) context.Context {
	return context.WithValue(ctx, givenLabel{}, given{text: label, run: runOf(ctx)})
}

// SentKey returns the key with which a [Transport] sent the request that resp
// answers, or "" if there was none. After a 303 it is that of the request which led
// there; an answer of another origin, to which no key goes, has none. Keep it out of
// logs.
func SentKey(resp *http.Response) string {
	if resp == nil || resp.Request == nil {
		return ""
	}
	if op := operationFrom(resp.Request.Context()); op != nil && op.origin == originOf(resp.Request.URL) {
		return op.key
	}
	return ""
}

type (
	givenKey   struct{}
	givenLabel struct{}
)

// given is what a caller put into a context, and in which run.
type given struct {
	text string
	run  *semel.Run
}

func runOf(ctx context.Context) *semel.Run {
	run, _ := semel.RunFrom(ctx)
	return run
}

// from returns what was put into ctx under slot, unless a run has begun since.
func from(ctx context.Context, slot any) string {
	g, ok := ctx.Value(slot).(given)
	if !ok || g.run != runOf(ctx) {
		return ""
	}
	return g.text
}
