package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/semel-go/semel/cmd/semel/internal/keys"
	"github.com/semel-go/semel/semelhttp"
)

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "semel.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const config = `upstream: http://127.0.0.1:9000
principal: header:Authorization
authorize: http://auth.example/check?token=CANARY
lease: 45s
routes:
  - path: /orders/{id}
    methods: [PUT]
    key: [header:X-Key, derived:1m]
    duplicates: reject
    retention: 36h
    fingerprint: {json: {ignore: [/sent-at]}}
    cors: {origins: [https://shop.example], credentials: true, max-age: 10m}
    quota: {records: 1000}
  - path: /hooks/
    key: webhook:github
    principal: global
    observe: true
  - path: /signed/
    key: webhook:standard
    verify: standard:/no/such/file.whsec
  - path: /free/
    enabled: false
  - path: /forms/
    key: form-token:order
    require-key: true
form-tokens:
  secrets: [/no/such/new.secret, /no/such/old.secret]
  endpoints:
    - {path: /tokens/order, purpose: order, lifetime: 2h, cors: {origins: [https://shop.example]}}
`

func TestConfigCheck(t *testing.T) {
	t.Parallel()
	got := run(t, "", nil, "config", "check", writeConfig(t, config))
	got.want(t, 0)
	var rows []string
	for line := range strings.Lines(got.out) {
		rows = append(rows, strings.Join(strings.Fields(line), " "))
	}
	for i, want := range []string{
		"METHODS PATH MODE KEY REQUIRED PRINCIPAL RETENTION LEASE WAIT ON-UNKNOWN ALSO",
		"PUT /orders/{id} guard header:X-Key derived:1m never missing header:Authorization 36h 45s 0s hold rejects duplicates, json, cors, quota",
		"POST,PATCH /hooks/ observe webhook:github no global 24h 45s 0s hold -",
		"POST,PATCH /signed/ guard webhook:standard no header:Authorization 24h 45s 0s hold verify",
		"POST,PATCH /free/ off header:Idempotency-Key no header:Authorization 24h 45s 0s hold -",
		"POST,PATCH /forms/ guard form-token:order yes header:Authorization 24h 45s 0s hold -",
		"POST,PATCH (all others) guard header:Idempotency-Key no header:Authorization 24h 45s 0s hold -",
		"GET,POST /tokens/order tokens - - header:Authorization - - - - issues form-token:order for 2h",
	} {
		if len(rows) != 8 || rows[i] != want {
			t.Fatalf("row %d, want %q, got:\n%s", i, want, got.out)
		}
	}
	bad := run(t, "", nil, "config", "check", writeConfig(t, "leese: 3s\nroutes:\n  - path: /a\n    wait: x\n"), "--upstream=http://127.0.0.1:9000")
	bad.want(t, 1,
		`semel: semel.yaml:1: "leese" is no key here; did you mean lease?`,
		`semel: semel.yaml:4: routes[0].wait: "x" is no duration`,
		"semel: --principal: say whose key a key is")
	if bad.out != "" || strings.Count(bad.err, "\n") != 3 {
		t.Errorf("out: %s\nerr: %s", bad.out, bad.err)
	}
	// Known to the middleware alone.
	run(t, "", nil, "config", "check", writeConfig(t, "upstream: http://127.0.0.1:9000\nprincipal: global\nroutes:\n  - path: /a\n    key: [header:X, header:x]\n")).
		want(t, 1, "semel.yaml:4: the route POST,PATCH /a: ", "stands there twice")
	run(t, "", nil, "config", "check").want(t, 1, "semel config check takes one FILE, and was given 0; see semel config check --help")
	run(t, "", nil, "config", "check", "/no/such/file").want(t, 1, "--config: open /no/such/file")
}

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	got := run(t, "", nil, "openapi", "--config="+writeConfig(t, strings.ReplaceAll(config, "path: /orders", "path: api.example/orders")))
	got.want(t, 0)
	var fragment struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal([]byte(got.out), &fragment); err != nil {
		t.Fatalf("%v: %s", err, got.out)
	}
	// Neither the observed route nor the one that is switched off.
	if len(fragment.Paths) != 3 || fragment.Paths["/signed/"]["post"] == nil || fragment.Paths["/orders/{id}"]["put"] == nil || !strings.Contains(got.out, "X-Key") || strings.Contains(got.out, "CANARY") {
		t.Errorf("got %s", got.out)
	}
	run(t, "", nil, "openapi", "--upstream=http://127.0.0.1:9000", "--principal=global").want(t, 1, "write them under routes:")
}

// What is printed says where it comes from, keeps secrets to itself, and is a
// file that means the same.
func TestConfigPrint(t *testing.T) {
	t.Parallel()
	got := run(t, "", []string{"SEMEL_WAIT=3s"}, "config", "print", "--config="+writeConfig(t, config), "--admin=off")
	got.want(t, 0, "lease: 45s # semel.yaml:4", "wait: 3s # SEMEL_WAIT", "admin: off # --admin", "retention: 24h # default", "authorize: http://auth.example/check?xxxxx", "36h")
	if strings.Contains(got.out, "CANARY") {
		t.Errorf("a secret is printed:\n%s", got.out)
	}
	again := run(t, "", nil, "config", "print", "--config="+writeConfig(t, got.out))
	again.want(t, 0)
	if withoutComments(again.out) != withoutComments(got.out) {
		t.Errorf("printed:\n%s\nprinted of that:\n%s", got.out, again.out)
	}
}

func withoutComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, " #")
		if !strings.HasPrefix(line, "#") {
			b.WriteString(strings.TrimSpace(line) + "\n")
		}
	}
	return b.String()
}

// SIGHUP reads the file again; a wrong one is refused and the old rules stay.
func TestReloadOnHangup(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(service.Close)
	base := "upstream: " + service.URL + "\nprincipal: global\nstore: 'memory:'\n"
	file := writeConfig(t, base)
	g := serveLogged(t, "--config="+file)
	reload := func(text, wantLog string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(base+text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		g.waitFor(wantLog)
	}
	if status, body := post(t, g.url, ""); status != 200 {
		t.Fatalf("got %d %s", status, body)
	}
	reload("require-key: true\n", "reloaded: guarding POST, PATCH")
	if status, body := post(t, g.url, ""); status != 400 {
		t.Errorf("after the reload: %d %s", status, body)
	}
	reload("requier-key: false\n", `semel.yaml:4: \"requier-key\" is no key here; did you mean require-key?`)
	if status, body := post(t, g.url, ""); status != 400 {
		t.Errorf("after a wrong file: %d %s", status, body)
	}
	reload("", "reloaded: guarding POST, PATCH")
	if status, body := post(t, g.url, ""); status != 200 {
		t.Errorf("after the last reload: %d %s", status, body)
	}
}

// One caller's records are listed by the principal, which no record holds.
func TestListByPrincipal(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	got := run(t, "", nil, "keys", "list", "--json", "--principal="+alice, s.flag)
	if n := strings.Count(got.out, "\n"); n != 5 {
		t.Errorf("%d records, want 5: %s%s", n, got.out, got.err)
	}
	run(t, "", nil, "keys", "list", "--principal=global", s.flag).want(t, 0)
	for _, args := range [][]string{{"--principal=global"}, {"--principal=" + alice, "--secret-file=" + writeConfig(t, "0123456789abcdef")}} {
		other := run(t, "", nil, append([]string{"keys", "list", "--json", s.flag}, args...)...)
		if other.out != "" || other.code != 0 {
			t.Errorf("%v lists %s %s", args, other.out, other.err)
		}
	}
}

// The same where the gateway has a secret.
func TestListByPrincipalUnderASecret(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(service.Close)
	store := "--store=sqlite:" + filepath.Join(t.TempDir(), "semel.db")
	secret := writeConfig(t, "0123456789abcdef")
	url := serve(t, store, "--upstream="+service.URL, "--principal=header:authorization", "--secret-file="+secret)
	post(t, url, "k-1")
	got := run(t, "", []string{"SEMEL_SECRET_FILE=" + secret}, "keys", "list", "--json", "--principal="+alice, store)
	var view keys.View
	if err := json.Unmarshal([]byte(got.out), &view); err != nil || view.ID != semelhttp.KeyFor(alice, "", "k-1").ID().String() {
		t.Errorf("%v: %s%s", err, got.out, got.err)
	}
	if other := run(t, "", nil, "keys", "list", "--json", "--principal="+alice, store); other.out != "" {
		t.Errorf("without the secret: %s", other.out)
	}
}
