package settings

import (
	"github.com/spf13/pflag"

	"github.com/semel-go/semel/cmd/semel/internal/storeurl"
)

// flag describes one setting of the gateway. All are read as text and parsed
// together, so that one start reports every mistake.
type flag struct {
	name   string
	kind   string // shown in the help; "bool" needs no value
	preset string
	usage  string
}

var proxyFlags = []flag{
	{"config", "FILE", "", "YAML file with settings and rules for routes; flags and variables win over it"},
	{"upstream", "URL", "", "the service to guard, such as http://127.0.0.1:9000 (required)"},
	{"principal", "KIND", "", "whose key it is: " + principalChoices + " (required)"},
	{"jwks", "FILE|URL", "", "public keys of JSON web tokens, for --principal jwt:CLAIM"},
	{"jwt-issuer", "TEXT", "", "refuse tokens of another issuer (iss)"},
	{"jwt-audience", "LIST", "", "refuse tokens for none of these audiences (aud)"},
	{"authorize", "URL", "", "asked before a claim and before a replay: 2xx yes, 401 and 403 no, anything else 503"},
	{"authorize-timeout", "DURATION", "2s", "how long the authoriser may take; then 503"},
	{"authorize-headers", "LIST", "", "headers of the authoriser's yes that go to the upstream, in place of the client's"},
	{"listen", "HOST:PORT", "127.0.0.1:8080", "where clients connect"},
	{"admin", "HOST:PORT", "127.0.0.1:8081", "where /healthz, /readyz and /metrics are served, or off"},
	{"store", "URL", "sqlite:semel.db", "where records are kept: " + storeurl.Forms},
	{"no-migrate", "bool", "false", "leave the store's tables as they are; semel migrate makes and updates them"},
	{"require-key", "bool", "false", "refuse guarded requests without a key (400 missing-key)"},
	{"methods", "LIST", "POST,PATCH", "guarded methods; PUT and DELETE may be added"},
	{"retention", "DURATION", "24h", "how long a finished record stays, at least; or forever"},
	{"lease", "DURATION", "30s", "how long a claim is held without a renewal"},
	{"wait", "DURATION", "0s", "how long a duplicate waits for the running request before 409 in-progress"},
	{"max-request-body", "SIZE", "10MiB", "larger guarded requests are refused (413 payload-too-large)"},
	{"body-timeout", "DURATION", "60s", "how long the body of a guarded request, or a small one, may take to arrive (then 400 incomplete-body); 0s for no limit"},
	{"max-response-body", "SIZE", "1MiB", "larger answers are not kept (later 409 result-unavailable)"},
	{"on-unknown", "hold|retry", "hold", "when the upstream is silent: hold leaves the record in doubt, retry releases it"},
	{"store-5xx", "bool", "false", "record the upstream's 5xx answers instead of releasing the record"},
	{"key-forward", "pass|derive|strip", "pass", "the key that the upstream sees: as it came, derived from scope and key, or none"},
	{"upstream-idle-timeout", "DURATION", "1s", "how long an unused upstream connection is kept; below the upstream's keep-alive"},
	{"upstream-timeout", "DURATION", "60s", "how long the upstream may take to begin its answer; 0s for no limit"},
	{"upstream-stall-timeout", "DURATION", "60s", "how long a guarded exchange may stand still once it has begun; then it is silence; 0s for no limit"},
	{"upstream-stream-timeout", "DURATION", "15m", "the same between two events of a guarded event stream; 0s for no limit"},
	{"shutdown-timeout", "DURATION", "30s", "how long running requests may take to finish after SIGTERM"},
	{"secret-file", "FILE", "", "file whose bytes key the fingerprints (at least 16); the same for all gateways on one store"},
	{"store-key-text", "bool", "false", "keep the callers' keys in the records, so that a doubt leads back to its request; whoever reads the store sees them"},
	{"cache", "SIZE", "0B", "memory for finished records, which are then replayed without asking the store; a deleted one for up to 5s"},
	{"tls-cert", "FILE", "", "certificate chain of the listener, PEM"},
	{"tls-key", "FILE", "", "private key of the listener, PEM"},
	{"tls-client-ca", "FILE", "", "authorities of client certificates, PEM; makes --principal client-cert possible"},
	{"log-format", "text|json", "text", "form of the log lines on standard error"},
}

// AddProxyFlags defines the flags of `semel proxy`.
func AddProxyFlags(fs *pflag.FlagSet) {
	for _, f := range proxyFlags {
		f.define(fs)
	}
	fs.SortFlags = false
}

func (f flag) define(fs *pflag.FlagSet) {
	v := text{value: f.preset, kind: f.kind, flag: "--" + f.name}
	def := fs.VarPF(&v, f.name, "", f.usage)
	if f.kind == "bool" {
		def.NoOptDefVal = "true"
	}
}

func flagNames() []string {
	names := make([]string, len(proxyFlags))
	for i, f := range proxyFlags {
		names[i] = f.name
	}
	return names
}

// text is a flag's value before it is parsed, and where it comes from.
type text struct {
	value, kind string
	flag        string // as on the command line
	from        string // empty: the default
}

func (t *text) String() string { return t.value }
func (t *text) Type() string   { return t.kind }

// Set is what the command line calls.
func (t *text) Set(s string) error { t.value, t.from = s, t.flag; return nil }
