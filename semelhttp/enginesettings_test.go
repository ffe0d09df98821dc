package semelhttp_test

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
	"github.com/semel-go/semel/semeltest"
)

// What a middleware judges by itself it judges by the engine's settings, where it has
// none of its own.

func TestObservedPanicByTheEnginesPolicy(t *testing.T) {
	t.Parallel()
	told := make(chan semelhttp.Code, 1)
	o := semelhttp.Options{Observe: true, OnObserved: func(_ string, would semelhttp.Code) { told <- would }}
	s := &setup{http: o, engine: semel.Options{Policy: semel.AtMostOnce}}
	w := newWorld(t, s, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	w.store.bend(func(s *faultStore) { s.finished = make(chan semel.FinishParams, 1) })
	w.breaks("b")
	if got := (<-w.store.finished).State; got != semel.StateDone {
		t.Fatalf("the panic is recorded as %v", got)
	}
	w.breaks("b")
	if got := <-told; got != semelhttp.CodeOutcomeUnknown {
		t.Errorf("told %q", got)
	}
}

func TestQuotaByTheEnginesRetention(t *testing.T) {
	t.Parallel()
	clock := semeltest.NewClock()
	s := &setup{
		http:   semelhttp.Options{Quota: &semelhttp.Quota{Records: 1}, Clock: clock},
		engine: semel.Options{Retention: 16 * time.Minute}, now: clock.Now,
	}
	w := newWorld(t, s, echo)
	w.post("b", keyed("1")).is(t, 201, "b")
	clock.Advance(15 * time.Minute)
	w.post("b", keyed("2")).isProblem(t, 503, "overloaded")
	clock.Advance(2 * time.Minute)
	w.post("b", keyed("2")).is(t, 201, "b")
}

func TestOpenAPIByTheEnginesRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &setup{engine: semel.Options{Retention: 72 * time.Hour}}, echo)
	for want, route := range map[string]semelhttp.OpenAPIRoute{
		"at least 3 days":   {Engine: w.engine},
		"at least 24 hours": {},
		"at least 2 hours":  {Engine: w.engine, Options: &semelhttp.Options{Retention: 2 * time.Hour}},
	} {
		route.Method, route.Path = "POST", "/charges"
		if got, err := semelhttp.OpenAPIFragment(route); err != nil || !bytes.Contains(got, []byte(want)) {
			t.Errorf("nothing about %q (%v) in\n%s", want, err, got)
		}
	}
}
