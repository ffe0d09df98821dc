package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/settings"
)

// loadFile reads a file together with flags and environment.
func loadFile(t *testing.T, text, line string, environ ...string) (*settings.Proxy, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "semel.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return load(t, "--config="+file+" "+line, environ...)
}

const yamlBase = "upstream: http://127.0.0.1:9000\nprincipal: global\n"

func TestPrecedence(t *testing.T) {
	t.Parallel()
	text := yamlBase + "lease: 11s\nwait: 11s\nretention: 11h\n"
	got, err := loadFile(t, text, "--lease=13s", "SEMEL_LEASE=12s", "SEMEL_WAIT=12s")
	if err != nil {
		t.Fatal(err)
	}
	if got.Lease != 13*time.Second || got.Wait != 12*time.Second || got.Retention != 11*time.Hour || got.MaxRequestBody != 10<<20 {
		t.Errorf("flag %v, variable %v, file %v, default %v: want 13s, 12s, 11h, 10MiB", got.Lease, got.Wait, got.Retention, got.MaxRequestBody)
	}
	from := map[string]string{}
	for _, s := range got.Settings {
		from[s.Name] = s.From
	}
	for name, want := range map[string]string{"lease": "--lease", "wait": "SEMEL_WAIT", "retention": "semel.yaml:5", "max-request-body": "default"} {
		if from[name] != want {
			t.Errorf("%s comes from %q, want %q", name, from[name], want)
		}
	}
}

// The file is read anew; what an earlier version of it said is gone.
func TestReadAgain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "semel.yaml")
	fs := pflag.NewFlagSet("proxy", pflag.ContinueOnError)
	settings.AddProxyFlags(fs)
	if err := fs.Parse([]string{"--config=" + file, "--wait=1s"}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		text  string
		lease time.Duration
	}{{"lease: 7s\nwait: 2s\n", 7 * time.Second}, {"", 30 * time.Second}} {
		if err := os.WriteFile(file, []byte(yamlBase+step.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := settings.Read(fs)
		if err != nil || got.Lease != step.lease || got.Wait != time.Second {
			t.Errorf("lease %v, wait %v, %v", got.Lease, got.Wait, err)
		}
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	got, err := loadFile(t, `
upstream: http://127.0.0.1:9000
principal: header:Authorization
methods: [POST, PUT]
require-key: true
max-request-body: 4096
routes:
  - path: /orders/{id}
    name: order
    methods: [POST]
    retention: forever
    lease: 1m
    wait: 5s
    on-unknown: retry
    store-5xx: true
    require-key: false
    max-response-body: 64KiB
    fingerprint: {json: {include: [/order], ignore: [/order/sent]}}
    cors: {origins: [https://shop.example], credentials: true, max-age: 10m, preflight: answer}
    quota: {new-keys-per-minute: 60, records: 1000}
  - path: /votes
    key: [header:X-Vote, body:/vote/id, derived:1m]
    duplicates: reject
    observe: true
  - {path: /hooks/, key: webhook:github, principal: global, enabled: false}
  - {path: "shop.example/polls/{poll}/votes", key: path:poll}
`, "")
	if err != nil {
		t.Fatal(err)
	}
	order, vote, hook, poll := got.Routes[0], got.Routes[1], got.Routes[2], got.Routes[3]
	if order.Path != "/orders/{id}" || order.Name != "order" || order.Retention != semel.Forever || order.Lease != time.Minute || order.Wait != 5*time.Second ||
		order.Hold || !order.StoreErrors || order.RequireKey || order.MaxResponseBody != 64<<10 || strings.Join(order.Methods, ",") != "POST" {
		t.Errorf("order: %+v", order)
	}
	if order.MaxRequestBody != 4096 || order.Principal.String() != "header:Authorization" || !order.Enabled {
		t.Errorf("order does not inherit: %+v", order)
	}
	if order.JSON.Include[0] != "/order" || order.JSON.Ignore[0] != "/order/sent" || *order.Quota != (settings.Quota{NewKeysPerMinute: 60, Records: 1000}) {
		t.Errorf("order: %+v %+v", order.JSON, order.Quota)
	}
	if c := order.CORS; c.Origins[0] != "https://shop.example" || !c.Credentials || c.MaxAge != 10*time.Minute || c.PassPreflight {
		t.Errorf("cors: %+v", c)
	}
	if strings.Join(vote.KeyTexts(), " ") != "header:X-Vote body:/vote/id derived:1m" || !vote.Derived.Reject || !vote.Observe || strings.Join(vote.Methods, ",") != "POST,PUT" {
		t.Errorf("vote: %+v", vote)
	}
	if hook.Enabled || hook.Principal.Kind != settings.PrincipalGlobal || hook.Keys[0].String() != "webhook:github" || hook.Name != "/hooks/" {
		t.Errorf("hook: %+v", hook)
	}
	if poll.Keys[0].String() != "path:poll" || !poll.RequireKey {
		t.Errorf("poll: %+v", poll)
	}
}

// Field fault: dedupe switched off by configuration without a word. Whatever
// cannot be meant is refused, with its line and what was meant instead.
func TestFileRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, want string }{
		{"leese: 3s", `semel.yaml:3: "leese" is no key here; did you mean lease?`},
		{"config: x", `"config" is no key here`},
		{"lease: 3", `semel.yaml:3: lease: "3" is no duration`},
		{"require-key: 'yes'", "semel.yaml:3: require-key: this has to be true or false"},
		{"methods: [POST, GET]", `semel.yaml:3: methods: "GET" cannot be guarded`},
		{"methods: []", "semel.yaml:3: methods: the list is empty"},
		{"methods: ['POST,PUT']", "semel.yaml:3: methods[0]: write one value in each line"},
		{"lease: 2h\nretention: 1h", "semel.yaml:3: lease: 2h0m0s is not below --retention 1h0m0s"},
		{"routes:\n  - lease: 1s", "semel.yaml:4: routes[0]: the route has no path"},
		{"routes:\n  - path: /a\n    leese: 1s", `semel.yaml:5: "leese" is no key in routes[0]; did you mean lease?`},
		{"routes:\n  - path: /a\n    listen: :80", `semel.yaml:5: "listen" is no key in routes[0]`},
		{"routes:\n  - path: /a\n    lease: 3d", `semel.yaml:5: routes[0].lease: "3d" is no duration`},
		{"routes:\n  - path: /a\n    lease: [1s]", "semel.yaml:5: routes[0].lease: this has to be a single value"},
		{"routes:\n  - path: /a\n    retention: 10s", "semel.yaml:4: routes[0]: 30s is not below retention 10s: a record would expire while it runs; raise retention"},
		{"routes:\n  - path: /a\n    wait: 24h", "semel.yaml:5: routes[0].wait: 24h0m0s is not below retention"},
		{"routes:\n  - path: /a\n    principal: client-cert", "semel.yaml:5: routes[0].principal: client-cert needs --tls-client-ca"},
		{"routes:\n  - path: /a\n    principal: jwt:sub", "semel.yaml:5: routes[0].principal: jwt needs --jwks"},
		{"routes:\n  - path: POST /a", "semel.yaml:4: routes[0].path: write the path alone"},
		{"routes:\n  - path: a", `"a" is no path; begin with /`},
		{"routes:\n  - path: /a/{x", `semel.yaml:4: routes[0].path: "/a/{x" is no pattern: at offset 3: bad wildcard segment (must end with '}')`},
		{"routes:\n  - path: /a\n  - path: /a", "semel.yaml:5: routes[1]: POST /a has a route already (semel.yaml:4)"},
		{"routes:\n  - path: /a/{x}\n  - path: /{y}/b", "semel.yaml:5: routes[1]: /{y}/b and /a/{x} (semel.yaml:4) match some paths both"},
		{"routes:\n  - {path: /a, methods: [POST], cors: {origins: ['*']}}\n  - {path: /a, methods: [PUT], cors: {origins: ['*']}}", "cors counts for all methods of a path, and semel.yaml:4 has it already"},
		{"routes:\n  - path: /a\n    enabled: false\n    observe: true", "semel.yaml:6: routes[0].observe: a route that is not enabled observes nothing"},
		{"routes:\n  - path: /a\n    key: cookie:x", `semel.yaml:5: routes[0].key: "cookie:x" is no place of a key; choose from header:NAME`},
		{"routes:\n  - path: /a\n    key: header:a b", "name a header, such as header:Idempotency-Key"},
		{"routes:\n  - path: /a\n    key: [header:A, header:A]", "semel.yaml:5: routes[0].key[1]: header:A stands there twice"},
		{"routes:\n  - path: /a\n    key: 'body:'", "name a place in the body"},
		{"routes:\n  - path: /a\n    key: body:event/id", "semel.yaml:5: routes[0].key: "},
		{"routes:\n  - path: /a/{x}\n    key: path:y\n    require-key: true", `semel.yaml:5: routes[0].key: "/a/{x}" has no {y}; name a wildcard of the route's path`},
		{"routes:\n  - path: /a/{$}\n    key: path:$\n    require-key: true", `has no {$}`},
		{"routes:\n  - path: /a/{x...}\n    key: path:x\n    require-key: true", `has no {x}`},
		{"routes:\n  - path: /a/{x\n    key: path:x\n    require-key: true", "is no pattern"},
		{"routes:\n  - path: /a/{x}\n    key: path:x", "semel.yaml:5: routes[0].key: a path always has its key; add require-key: true"},
		{"routes:\n  - path: /a/{x}\n    key: [path:x, path:x]\n    require-key: true", "path:x stands there twice"},
		{"routes:\n  - path: /a/{x}\n    key: path:x\n    require-key: true\n    verify: standard:a.whsec", "does not cover the key of this route"},
		{"routes:\n  - path: /a\n    key: 'form:'", "semel.yaml:5: routes[0].key: name a field of the form, such as form:idempotency_key"},
		{"routes:\n  - path: /a\n    key: form:k\n    verify: standard:a.whsec", "does not cover the key of this route"},
		{"key: path:x", `semel.yaml:3: "key" is no key here`},
		{"routes:\n  - path: /a\n    key: webhook:standard\n    verify: a.whsec", `routes[0].verify: "a.whsec" is no check of signatures; write standard:FILE`},
		{"routes:\n  - path: /a\n    key: webhook:standard\n    verify: 'standard:'", "write standard:FILE"},
		{"routes:\n  - path: /a\n    verify: standard:a.whsec", "does not cover the key of this route; write key: webhook:standard"},
		{"routes:\n  - path: /a\n    key: webhook:github\n    verify: standard:a.whsec", "does not cover the key of this route"},
		{"routes:\n  - path: /a\n    enabled: false\n    key: webhook:standard\n    verify: standard:a.whsec", "checks no signatures"},
		{"routes:\n  - path: /a\n    key: webhook:githup", "did you mean webhook:github?"},
		{"routes:\n  - path: /a\n    key: derived:1ms", "is below 2s"},
		{"routes:\n  - path: /a\n    key: derived:5s\n    wait: 5s", "semel.yaml:6: routes[0].wait: 5s is not below the window 5s"},
		{"routes:\n  - path: /a\n    key: derived:soon", `"soon" is no duration`},
		{"routes:\n  - path: /a\n    key: [derived:1m, header:A]", "semel.yaml:5: routes[0].key[1]: a derived key is made where no other is found; write it last"},
		{"routes:\n  - path: /a\n    key: derived:1m\n    require-key: true", "semel.yaml:6: routes[0].require-key: a request without a key gets a derived one"},
		{"routes:\n  - path: /a\n    duplicates: reject", "semel.yaml:5: routes[0].duplicates: only a derived key has it"},
		{"routes:\n  - path: /a\n    key: derived:1m\n    duplicates: drop", `"drop" is not one of replay, reject`},
		{"routes:\n  - path: /a\n    fingerprint: xml", `"xml" is not one of bytes, json`},
		{"routes:\n  - path: /a\n    fingerprint: {json: {include: [a]}}", "semel.yaml:5: routes[0].fingerprint: "},
		{"routes:\n  - path: /a\n    fingerprint: {json: {only: [/a]}}", `"only" is no key in routes[0].fingerprint.json; choose from include, ignore`},
		{"routes:\n  - path: /a\n    quota: {records: -1}", "semel.yaml:5: routes[0].quota.records: this has to be a whole number of at least 1"},
		{"routes:\n  - path: /a\n    cors: {credentials: true}", "semel.yaml:5: routes[0].cors: name the origins"},
		{"routes:\n  - path: /a\n    cors: {origins: ['*'], credentials: true}", "browsers send no credentials to *"},
		{"routes:\n  - path: /a\n    cors: {origins: ['*', 'https://a.b']}", "write it alone"},
		{"routes:\n  - path: /a\n    cors: {origins: [https://a.b/]}", `"https://a.b/" is no origin`},
		{"routes:\n  - path: /a\n    cors: {origins: ['null']}", "it cannot be allowed"},
		{"routes:\n  - path: /a\n    cors: {origins: [https://a.b], preflight: drop}", `"drop" is not one of answer, pass`},
		{"routes:\n  - path: /a\n    cors: {origins: [https://a.b], preflight: pass, max-age: 1m}", "the upstream answers the preflights"},
		{"routes: /a", "semel.yaml:3: routes: this has to be a list"},
		{"routes:\n  - /a", "semel.yaml:4: routes[0]: this has to be a mapping"},
	} {
		_, err := loadFile(t, yamlBase+tc.text, "")
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s\n got: %v\nwant: %s", tc.text, err, tc.want)
			continue
		}
		if n := strings.Count(err.Error(), "\n"); n != 0 {
			t.Errorf("%s\nis one mistake, and told as:\n%v", tc.text, err)
		}
	}
}

// Mistakes in the file, a variable and a flag are all told, each with its place.
func TestAllPlacesAtOnce(t *testing.T) {
	t.Parallel()
	_, err := loadFile(t, yamlBase+"lease: x\nroutes:\n  - path: /a\n    wait: y\n", "--admin=z", "SEMEL_METHODS=w")
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"semel.yaml:3: lease: ", "semel.yaml:6: routes[0].wait: ", "--admin: ", "SEMEL_METHODS: "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in\n%v", want, err)
		}
	}
}

// Nobody knows what a broken file sets, so nothing is said to be missing.
func TestBrokenFileIsOneMistake(t *testing.T) {
	t.Parallel()
	for _, broken := range []string{"routes: [\n", "---\n" + yamlBase} {
		_, err := loadFile(t, yamlBase+broken, "")
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "semel.yaml:3: ") {
			t.Errorf("%q is told as:\n%v", broken, err)
		}
	}
}

// Whatever the file holds, reading it ends with a configuration or an error.
func FuzzFile(f *testing.F) {
	f.Add("lease: 11s\nroutes:\n  - path: /a/{id}\n    key: [header:A, body:/x, derived:1m]\n")
	f.Add("routes:\n  - &a {path: /a, cors: {origins: [https://a.b]}}\n  - *a\n")
	f.Add("? [a]\n: {b: *a}\n---\n- !!binary x\n")
	f.Add("routes: &r [*r]")
	f.Add("routes:\n- path: '{'\n- fingerprint: {json: {include: ['/~2']}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		fs := pflag.NewFlagSet("proxy", pflag.ContinueOnError)
		settings.AddProxyFlags(fs)
		file := filepath.Join(t.TempDir(), "semel.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := fs.Parse([]string{"--config=" + file, "--upstream=http://127.0.0.1:9", "--principal=global"}); err != nil {
			t.Fatal(err)
		}
		cfg, err := settings.Read(fs)
		if err != nil {
			return
		}
		for _, route := range cfg.Routes {
			if route.Path == "" || route.Lease < time.Second || route.Lease >= route.Retention || len(route.Methods) == 0 {
				t.Errorf("taken: %+v", route)
			}
		}
	})
}
