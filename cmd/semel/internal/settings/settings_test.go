package settings_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/settings"
)

const base = "--upstream=http://127.0.0.1:9000 --principal=global"

// load reads a command line and an environment as `semel proxy` does.
func load(t *testing.T, line string, environ ...string) (*settings.Proxy, error) {
	t.Helper()
	fs := pflag.NewFlagSet("proxy", pflag.ContinueOnError)
	settings.AddProxyFlags(fs)
	if err := fs.Parse(strings.Fields(line)); err != nil {
		t.Fatalf("parse %q: %v", line, err)
	}
	if err := settings.FromEnv(fs, environ, nil); err != nil {
		return nil, err
	}
	return settings.Read(fs)
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	got, err := load(t, base)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		name      string
		got, want any
	}
	for _, r := range []row{
		{"listen", got.Listen, "127.0.0.1:8080"},
		{"admin", got.Admin, "127.0.0.1:8081"},
		{"store", got.Store, "sqlite:semel.db"},
		{"require-key", got.RequireKey, false},
		{"methods", strings.Join(got.Methods, ","), "POST,PATCH"},
		{"retention", got.Retention, 24 * time.Hour},
		{"lease", got.Lease, 30 * time.Second},
		{"wait", got.Wait, time.Duration(0)},
		{"max-request-body", got.MaxRequestBody, int64(10 << 20)},
		{"max-response-body", got.MaxResponseBody, int64(1 << 20)},
		{"on-unknown", got.Hold, true},
		{"store-5xx", got.StoreErrors, false},
		{"key-forward", got.KeyForward, settings.ForwardPass},
		{"upstream-idle-timeout", got.UpstreamIdleTimeout, time.Second},
		{"upstream", got.Upstream.String(), "http://127.0.0.1:9000"},
	} {
		if r.got != r.want {
			t.Errorf("--%s is %v by default, want %v", r.name, r.got, r.want)
		}
	}
}

// A setting that cannot be meant is refused at start, with the fix.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ line, want string }{
		{"", "--upstream: name the service to guard"},
		{"", "--principal: say whose key a key is: header:NAME, cookie:NAME, jwt:CLAIM, client-cert or global"},
		{base + " --principal=saml:x", `"saml" is not built in; built in are header:NAME, cookie:NAME, jwt:CLAIM, client-cert or global`},
		{base + " --store=nats://localhost/0", `--store: stores of the kind "nats" are not built in; built in are memory:, sqlite:FILE, postgres://`},
		{base + " --store=postgres://u:canary@localhost/x?sslmod=require", `--store: "sslmod" is no parameter of the store; did you mean sslmode?`},
		{base + " --store=semel.db", "write sqlite:semel.db"},
		{base + " --store=memory:x", "write memory:"},
		{base + " --store=sqlite:", "needs a file"},
		{base + " --principal=authorization", `"authorization" is no kind of principal; did you mean header:Authorization? The kinds are header:NAME,`},
		{base + " --principal=jwt:sub", "--principal: jwt needs --jwks"},
		{base + " --principal=jwt", "write jwt:sub"},
		{base + " --jwks=keys.json", "--jwks: no principal is jwt:CLAIM"},
		{base + " --jwt-issuer=x", "--jwt-issuer: no principal is jwt:CLAIM"},
		{base + " --jwt-audience=x", "--jwt-audience: no principal is jwt:CLAIM"},
		{base + " --principal=header:", "write it like header:NAME"},
		{base + " --principal=header:X-Ten,ant", "write it like header:NAME"},
		{base + " --principal=header:x-forwarded-for", "X-Forwarded-For tells no callers apart"},
		{base + " --principal=header:Host", "Host tells no callers apart"},
		{base + " --principal=header:Idempotency-Key", "Idempotency-Key tells no callers apart"},
		{base + " --principal=global:x", "takes no name"},
		{base + " --principal=client-cert", "--tls-client-ca"},
		{base + " --config=/no/such/semel.yaml", "--config: open /no/such/semel.yaml"},
		{base + " --authorize=127.0.0.1:7000", "write http://HOST:PORT/PATH"},
		{base + " --authorize=http://user:canary@auth", "credentials in the URL are not sent"},
		{base + " --authorize=http://127.0.0.1:8080/auth", "the gateway would ask itself"},
		{base + " --authorize=http://auth --authorize-timeout=0s", "--authorize-timeout: 0s would let"},
		{base + " --authorize-headers=X-User", "nobody is asked; add --authorize URL"},
		{base + " --authorize=http://auth --authorize-headers=a:b", "is no header name"},
		{base + " --authorize=http://auth --authorize-headers=connection", "Connection belongs to one connection"},
		{base + " --lease=24h", "raise --retention"},
		{base + " --lease=999ms", "use 1s or more"},
		{base + " --retention=0s", "use 1s or more, or forever"},
		{base + " --retention=500ms", "use 1s or more, or forever"},
		{base + " --wait=24h", "lower --wait"},
		{base + " --wait=-1s", "write one such as"},
		{base + " --lease=30", "write one such as"},
		{base + " --admin=127.0.0.1:8080", "--admin: 127.0.0.1:8080 is --listen too"},
		{base + " --admin=localhost:8080", "is --listen too"},
		{base + " --listen=8080", "write HOST:PORT"},
		{base + " --methods=GET", `"GET" cannot be guarded`},
		{base + " --methods=post", `"post" cannot be guarded`},
		{base + " --on-unknown=maybe", "not one of hold, retry"},
		{base + " --key-forward=all", "not one of pass, derive, strip"},
		{base + " --max-request-body=10MiBs", "is no size"},
		{base + " --max-request-body=0", "is no size"},
		{base + " --max-response-body=9999999999GiB", "is no size"},
		{base + " --max-response-body=2GiB", "use 1GiB or less"},
		{base + " --max-request-body=2GiB", "use 1GiB or less"},
		{base + " --require-key=perhaps", "neither true nor false"},
		{base + " --log-format=xml", "not one of text, json"},
		{base + " --tls-cert=a.pem", "--tls-key"},
		{base + " --tls-key=a.pem", "--tls-cert"},
		{base + " --tls-client-ca=a.pem", "need a TLS listener"},
		{base + " --shutdown-timeout=0s", "would cut running requests"},
		{base + " --upstream-idle-timeout=0s", "past the upstream's keep-alive"},
		{base + " --upstream=http://127.0.0.1:9000/api", "would change every request"},
		{base + " --upstream=http://127.0.0.1:9000?x=1", "would change every request"},
		{base + " --upstream=http://127.0.0.1:9000#x", "would change every request"},
		{base + " --upstream=http://user:secret@127.0.0.1:9000", "credentials in the URL are not sent on"},
		{base + " --upstream=ftp://127.0.0.1", "write http://HOST:PORT"},
		{base + " --upstream=127.0.0.1:9000", "write http://HOST:PORT"},
		{base + " --upstream=http://localhost:8080", "the gateway would call itself"},
		{base + " --upstream=http://[::1]:8080 --listen=:8080", "the gateway would call itself"},
		{base + " --upstream=http://127.0.0.1 --listen=127.0.0.1:80", "the gateway would call itself"},
		{base + " --upstream=http://127.0.0.1:8081", "is --admin"},
	} {
		_, err := load(t, tc.line)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s\n got: %v\nwant: %s", tc.line, err, tc.want)
		}
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	_, err := load(t, "--lease=x --retention=y --methods=HEAD")
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 5 { // upstream, principal, lease, retention, methods: and none that only follows
		t.Errorf("want five lines, one for each mistake, got:\n%v", err)
	}
}

// The text of a refused URL must not show its password.
func TestPasswordNotShown(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"upstream", "authorize"} {
		for _, address := range []string{
			"ftp://user:canary@127.0.0.1:9000",
			"http://user:canary@[::1", // which no parser takes apart
			"user:canary@127.0.0.1:9000",
			"http://user:1/canary@127.0.0.1#x",
			"http://user:can%ary@127.0.0.1",
		} {
			_, err := load(t, base+" --"+flag+"="+address)
			if err == nil || strings.Contains(err.Error(), "can") {
				t.Errorf("--%s=%s: got %v", flag, address, err)
			}
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	got, err := load(t, "--lease=5s",
		"SEMEL_UPSTREAM=http://127.0.0.1:9000", "SEMEL_PRINCIPAL=header:x-tenant", "SEMEL_LEASE=7s",
		"SEMEL_STORE_5XX=true", "SEMEL_MAX_REQUEST_BODY=2KiB", "SEMEL_RETENTION=forever", "HOME=/nowhere")
	if err != nil {
		t.Fatal(err)
	}
	if got.Lease != 5*time.Second {
		t.Errorf("lease %v: a flag wins over its variable", got.Lease)
	}
	if !got.StoreErrors || got.MaxRequestBody != 2048 || got.Retention != semel.Forever {
		t.Errorf("variables were not read: %+v", got)
	}
	if got.Principal.String() != "header:X-Tenant" {
		t.Errorf("principal %v", got.Principal)
	}
}

// Field fault: dedupe switched off by configuration without a word. A misspelt
// variable would do that.
func TestUnknownVariable(t *testing.T) {
	t.Parallel()
	_, err := load(t, base, "SEMEL_REQUIRE_KEYS=true", "SEMEL_RETENTIONS=1h")
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"did you mean SEMEL_REQUIRE_KEY?", "did you mean SEMEL_RETENTION?"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"1": 1, "512B": 512, "4KiB": 4096, "10MiB": 10 << 20, "1GiB": 1 << 30, "3KB": 3000, "5MB": 5e6, "1GB": 1e9,
	} {
		got, err := load(t, base+" --max-request-body="+text)
		if err != nil || got.MaxRequestBody != want {
			t.Errorf("%s is %v bytes (%v), want %d", text, got.MaxRequestBody, err, want)
		}
	}
}
