package semelhttp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semelhttp"
)

// All mistakes are reported at once, each with what to do about it.
func TestNewRefusesContradictions(t *testing.T) {
	t.Parallel()
	_, err := semelhttp.New(nil, nil, &semelhttp.Options{
		Headers: []string{"a b", "X-Key", "x-key"}, Methods: []string{"GET", "CONNECT"}, ReplayedHeader: "no:name",
		MinKeyLength: 300, MaxKeyLength: 256, MaxRequestBody: -1, MaxResponseBody: -1,
		Policy: 7, Lease: time.Millisecond, Retention: time.Millisecond, Wait: time.Second,
		Challenge: "a\r\nb",
	})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"semel.New", "Global for one scope", `"a b" is no header name`, `"X-Key" stands there twice`, `"GET" cannot be guarded`, `"CONNECT"`, `ReplayedHeader "No:name"`,
		"MinKeyLength 300", "MaxKeyLength 256", "MaxRequestBody is negative", "MaxResponseBody is negative", "Policy 7", "Lease 1ms is below", "Retention 1ms is below",
		"not below Retention", "Wait 1s", "line breaks",
	} {
		if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) {
			t.Errorf("nothing about %q in:\n%v", want, err)
		}
	}
}

func TestBudgetMustHoldOneBody(t *testing.T) {
	t.Parallel()
	store, _ := memstore.New(nil)
	e, _ := semel.New(store, nil)
	_, err := semelhttp.New(e, semelhttp.Global, &semelhttp.Options{BodyBudget: semelhttp.NewBodyBudget(10 << 20)})
	if err == nil || !strings.Contains(err.Error(), "make it at least 10551296") {
		t.Errorf("got %v", err)
	}
	if _, err := semelhttp.New(e, semelhttp.Global, &semelhttp.Options{MaxRequestBody: 1 << 30}); err != nil {
		t.Errorf("the default budget grows with the bodies: %v", err)
	}
	if _, err := semelhttp.New(e, semelhttp.Global, nil); err != nil {
		t.Errorf("no options: %v", err)
	}
}
