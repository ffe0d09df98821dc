package proxy_test

import (
	"strings"
	"testing"
)

const (
	jsonBody = "Content-Type: application/json"
	formBody = "Content-Type: application/x-www-form-urlencoded"
)

// Keys from where the clients of each route put them.
func TestKeySources(t *testing.T) {
	t.Parallel()
	up := numbered(t)
	g := startFile(t, up.URL, `
routes:
  - {path: /vote, key: [header:X-Vote, body:/vote/id], require-key: true}
  - {path: /hook, key: webhook:github}
  - {path: /form, key: derived:1m}
  - {path: /page, key: [header:Idempotency-Key, form:idempotency_key], require-key: true}
  - {path: /once, key: derived:1m, duplicates: reject}
`)
	const a, b = `{"vote":{"id":"a"}}`, `{"vote":{"id":"b"}}`
	for _, step := range []struct {
		path, body, want string // "": a replay
		header           []string
	}{
		{"/vote", a, "execution 1", []string{jsonBody}},
		{"/vote", a, "", []string{jsonBody}},
		{"/vote", b, "execution 2", []string{jsonBody}},
		{"/vote", "x", "execution 3", []string{"X-Vote: v"}},
		{"/vote", "x", "", []string{"X-Vote: v"}},
		{"/vote", "x", "missing-key", []string{"Idempotency-Key: k"}},
		{"/hook", "x", "execution 4", []string{"X-GitHub-Delivery: d"}},
		{"/hook", "x", "", []string{"X-GitHub-Delivery: d"}},
		{"/form", "x", "execution 5", nil},
		{"/form", "x", "", nil},
		{"/form", "y", "execution 6", nil},
		{"/form", "x", "execution 7", []string{"Idempotency-Key: k"}}, // meant to be another
		{"/page", "idempotency_key=p&n=1", "execution 8", []string{formBody}},
		{"/page", "idempotency_key=p&n=1", "", []string{formBody}},
		{"/page", "idempotency_key=p&n=2", "key-reused", []string{formBody}},
		{"/page", "n=1", "missing-key", []string{formBody}},
		{"/page", "idempotency_key=&n=1", "invalid-key", []string{formBody}},
		{"/page", "n=1", "execution 9", []string{formBody, "Idempotency-Key: p2"}}, // sent by the script
		{"/once", "x", "execution 10", nil},
		{"/once", "x", "duplicate-content", nil},
	} {
		got := g.send("POST", step.path, "", step.body, step.header...)
		switch {
		case step.want == "" && got.replayed(), step.want != "" && !got.replayed() && strings.Contains(got.body, step.want):
		default:
			t.Errorf("%+v: %d %s, replayed %v", step, got.status, got.body, got.replayed())
		}
	}
}

// The path is the key: a client can neither choose another one nor go without.
func TestKeyInPath(t *testing.T) {
	t.Parallel()
	up := numbered(t)
	g := startFile(t, up.URL, `
require-key: true
routes:
  - {path: "/polls/{poll}/votes", key: path:poll, fingerprint: {json: {ignore: [/choice]}}}
  - {path: "/teams/{team}/{member}/", key: path:team}
  - {path: "127.0.0.1/coupons/{coupon}", key: [header:X-Coupon, path:coupon]}
`)
	const a, b = `{"choice":"a"}`, `{"choice":"b"}`
	for _, step := range []struct {
		path, body, want string // "": a replay
		header           []string
	}{
		{"/polls/p1/votes", a, "execution 1", nil},
		{"/polls/p1/votes", b, "", nil},
		{"/polls/p1/votes", a, "", []string{"Idempotency-Key: other"}},
		{"/polls/p2/votes", a, "execution 2", []string{"Idempotency-Key: other"}},
		{"/polls/%70%31/votes", a, "key-reused", nil},
		{"/polls//p1/votes", a, "key-reused", nil}, // the path is compared as it came
		{"/polls/p3/../p1/votes", a, "key-reused", nil},
		{"/polls/a%2Fb/votes", a, "execution 3", nil},
		{"/polls/a%2Fb/votes", a, "", nil},
		{"/polls/a/votes", a, "execution 4", nil},
		{"/polls/%20/votes", a, "invalid-key", nil},
		{"/polls/p1/votes/", a, "missing-key", nil}, // another route
		{"/teams/red/ada", "x", "execution 5", nil}, // without the slash at the end, too
		{"/teams/red/ada", "x", "", nil},
		{"/teams/red/ada/more", "x", "key-reused", nil},
		{"/coupons/c1", "x", "execution 6", nil},
		{"/coupons/c1", "x", "", nil},
		{"/coupons/c1", "x", "execution 7", []string{"X-Coupon: c2"}},
		{"/coupons/c2", "x", "key-reused", nil},
	} {
		got := g.send("POST", step.path, "", step.body, append(step.header, jsonBody)...)
		switch {
		case step.want == "" && got.replayed(), step.want != "" && !got.replayed() && strings.Contains(got.body, step.want):
		default:
			t.Errorf("%+v: %d %s, replayed %v", step, got.status, got.body, got.replayed())
		}
	}
	up.wantExecuted(t, 7)
}

// A key in the body or a derived one makes the authoriser a question of every
// request that might be claimed.
func TestAuthorizeOfKeysInTheBody(t *testing.T) {
	t.Parallel()
	auth := newAuthoriser(t, nil)
	auth.says(403)
	up := numbered(t)
	g := startFile(t, up.URL, "routes:\n  - {path: '/polls/{poll}', key: 'path:poll', require-key: true}\n  - {path: /vote, key: 'body:/id'}\n  - {path: /form, key: 'derived:1m'}\n  - {path: /hook, key: 'webhook:gitea'}\n", "--authorize="+auth.URL)
	for _, path := range []string{"/vote", "/form", "/hook", "/polls/p1"} {
		g.send("POST", path, "", `{"id":"a"}`, jsonBody).want(t, 403, "replay-forbidden")
	}
	up.wantExecuted(t, 0)
}

func TestFingerprintOfJSON(t *testing.T) {
	t.Parallel()
	up := numbered(t)
	g := startFile(t, up.URL, "routes:\n  - {path: /, fingerprint: {json: {ignore: [/sent]}}}\n")
	g.post("k-1", `{"n":1.0,"sent":1}`, jsonBody)
	if a := g.post("k-1", `{ "sent": 2, "n": 1 }`, jsonBody); !a.replayed() {
		t.Errorf("the same, written differently: %d %s", a.status, a.body)
	}
	g.post("k-1", `{"n":2}`, jsonBody).want(t, 422, "key-reused")
	g.post("k-2", `{"n":1,"n":2}`, jsonBody).want(t, 400, "ambiguous-body")
}

// On an observed route nothing is refused or replayed, and everything is counted.
func TestObserve(t *testing.T) {
	t.Parallel()
	up := numbered(t)
	g := startFile(t, up.URL, "routes:\n  - {path: /, name: all, observe: true, require-key: true}\n")
	for _, step := range [][]string{{"k-1", "tea"}, {"k-1", "tea"}, {"k-1", "coffee"}, {"", "tea"}, {"a,b", "tea"}} {
		if a := g.post(step[0], step[1]); a.status != 200 || a.replayed() {
			t.Errorf("%q: %d %s", step, a.status, a.body)
		}
	}
	up.wantExecuted(t, 5)
	want := []string{
		`semel_observed_total{operation="POST all",would="missing-key"} 1`, `would="invalid-key"} 1`,
		`would="replay"} 1`, `would="key-reused"} 1`,
	}
	g.untilMetrics(want...)
	if !strings.Contains(g.logs.String(), "the route POST,PATCH / is only observed: duplicates run again") {
		t.Errorf("the log does not say so: %s", g.logs)
	}
}

// untilMetrics reads the metrics until they hold each of the lines: observations
// are made beside the requests.
func (g *gateway) untilMetrics(want ...string) {
	g.t.Helper()
	for range 2000 {
		_, text := g.admin("/metrics")
		missing := 0
		for _, line := range want {
			if !strings.Contains(text, line) {
				missing++
			}
		}
		if missing == 0 {
			return
		}
	}
	_, text := g.admin("/metrics")
	g.t.Errorf("want %q, got %s", want, text)
}

// A caller who uses up his keys is refused, and nobody else.
func TestQuota(t *testing.T) {
	t.Parallel()
	up := numbered(t)
	g := startFile(t, up.URL, "principal: header:X-Tenant\nroutes:\n  - {path: /rate, quota: {new-keys-per-minute: 2}}\n  - {path: /kept, quota: {records: 2}}\n", "--principal=header:X-Tenant")
	for _, path := range []string{"/rate", "/kept"} {
		for _, key := range []string{"a", "b"} {
			if a := g.send("POST", path, path+key, "x", "X-Tenant: red"); a.status != 200 {
				t.Errorf("%s %s: %d %s", path, key, a.status, a.body)
			}
		}
		over := g.send("POST", path, path+"c", "x", "X-Tenant: red")
		over.want(t, 503, "overloaded")
		if over.header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		if a := g.send("POST", path, path+"a", "x", "X-Tenant: red"); !a.replayed() {
			t.Errorf("a replay costs nothing: %d %s", a.status, a.body)
		}
		if a := g.send("POST", path, path+"c", "x", "X-Tenant: blue"); a.status != 200 {
			t.Errorf("another caller: %d %s", a.status, a.body)
		}
	}
	up.wantExecuted(t, 6)
}
