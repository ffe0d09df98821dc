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

func TestNewRefusesNames(t *testing.T) {
	t.Parallel()
	store, _ := memstore.New(nil)
	e, _ := semel.New(store, nil)
	global := semelhttp.PrincipalFunc(semelhttp.Global)
	tests := []struct {
		name      string
		principal semelhttp.PrincipalFunc
		options   semelhttp.Options
		want      string
	}{
		{"principal's header", semelhttp.HeaderPrincipal(""), semelhttp.Options{}, "with a valid name"},
		{"principal's header with a space", semelhttp.HeaderPrincipal("X User"), semelhttp.Options{}, "with a valid name"},
		{"principal's cookie", semelhttp.CookiePrincipal(""), semelhttp.Options{}, "with a valid name"},
		{"replay mark", global, semelhttp.Options{ReplayedHeader: "idempotency-key"}, `ReplayedHeader "Idempotency-Key" holds the key`},
		{"replay mark and webhook", global, semelhttp.Options{ReplayedHeader: "Svix-Id", Keys: []semelhttp.KeySource{semelhttp.KeyWebhook("svix")}}, "holds the key"},
		{"cookie", global, semelhttp.Options{KeepSetCookie: []string{"theme", ""}}, `KeepSetCookie: ""`},
		{"case", global, semelhttp.Options{Methods: []string{"post"}}, "write it in capitals"},
		{"method", global, semelhttp.Options{Methods: []string{"get"}}, "cannot be guarded"},
	}
	for _, tt := range tests {
		if _, err := semelhttp.New(e, tt.principal, &tt.options); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

// A setting that stands alone may still contradict the engine's.
func TestNewRefusesContradictionsWithTheEngine(t *testing.T) {
	t.Parallel()
	store, _ := memstore.New(nil)
	e, _ := semel.New(store, &semel.Options{Lease: 10 * time.Second, Retention: time.Minute, Wait: 30 * time.Second})
	for want, o := range map[string]semelhttp.Options{
		"Lease 1m0s is not below Retention 1m0s": {Lease: time.Minute},
		"Lease 10s is not below Retention 5s":    {Retention: 5 * time.Second, Wait: -1},
		"Wait 30s is not below Retention 20s":    {Retention: 20 * time.Second},
	} {
		if _, err := semelhttp.New(e, semelhttp.Global, &o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
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
