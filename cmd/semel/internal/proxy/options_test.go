package proxy

import (
	"testing"
	"time"

	"github.com/semel-go/semel/cmd/semel/internal/settings"
)

func cfgWith(rule settings.Rule, routes ...settings.Route) *settings.Proxy {
	cfg := &settings.Proxy{Rule: rule, Routes: routes, UpstreamTimeout: time.Second}
	return cfg
}

// All routes take the memory of request bodies from one budget, which has room
// for the largest body of any, twice where its key is read from it.
func TestOneBodyBudget(t *testing.T) {
	t.Parallel()
	small := settings.Rule{Methods: []string{"POST"}, Lease: 30 * time.Second, Retention: time.Hour, MaxRequestBody: 1 << 20, MaxResponseBody: 1 << 20}
	large := small
	large.MaxRequestBody = settings.MaxBody
	cfg := cfgWith(small, settings.Route{Rule: large, Path: "/a", Enabled: true, Keys: []settings.KeySource{{Kind: settings.KeyBody, Name: "/id"}}})
	g, err := dry(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := g.options(cfg.Rest()).BodyBudget, g.options(cfg.Routes[0]).BodyBudget; a == nil || a != b {
		t.Error("two routes have two budgets")
	}
}

// A claim has to be answered within the shortest lease of any route.
func TestClaimTimeout(t *testing.T) {
	t.Parallel()
	rule := func(lease time.Duration) settings.Rule { return settings.Rule{Lease: lease, Retention: time.Hour} }
	for _, tc := range []struct {
		cfg  *settings.Proxy
		want time.Duration
	}{
		{cfgWith(rule(30 * time.Second)), 2 * time.Second},
		{cfgWith(rule(time.Second)), 500 * time.Millisecond},
		{cfgWith(rule(30*time.Second), settings.Route{Rule: rule(3 * time.Second)}), 1500 * time.Millisecond},
	} {
		if got := EngineOptions(tc.cfg, nil, nil, nil).ClaimTimeout; got != tc.want {
			t.Errorf("claim timeout %v, want %v", got, tc.want)
		}
	}
}
