package cli_test

import (
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	run(t, "", nil, "version").want(t, 0, "semel ", "go1.")
}

func TestHelpNamesTheCommands(t *testing.T) {
	t.Parallel()
	run(t, "", nil, "--help").want(t, 0, "proxy", "config", "openapi", "keys", "version")
	run(t, "", nil, "demo", "--help").want(t, 0, "five stories", "A panel")
	run(t, "", nil, "proxy", "--help").want(t, 0, "--on-unknown hold|retry", "SEMEL_MAX_REQUEST_BODY", "(default sqlite:semel.db)")
}

func TestProxyRefusesToStart(t *testing.T) {
	t.Parallel()
	got := run(t, "", []string{"SEMEL_LEASE=1h", "SEMEL_RETENTION=10m", "SEMEL_LISTENN=:80", "SEMEL_STORE=nats://x"}, "proxy")
	got.want(t, 1,
		"semel: SEMEL_LISTENN is no setting; did you mean SEMEL_LISTEN?",
		"semel: --upstream: name the service to guard",
		"semel: --principal: say whose key a key is: header:NAME, cookie:NAME, jwt:CLAIM, client-cert or global",
		`semel: SEMEL_STORE: stores of the kind "nats" are not built in`,
		"semel: SEMEL_LEASE: 1h0m0s is not below --retention 10m0s")
	if n := strings.Count(got.err, "\n"); n != 5 {
		t.Errorf("%d lines, want one for each mistake:\n%s", n, got.err)
	}
}

// What cannot be meant is told in one line, with what was.
func TestUsageInOurWords(t *testing.T) {
	t.Parallel()
	run(t, "", nil, "--version").want(t, 0, "semel "+run(t, "", nil, "version").out[len("semel "):])
	for args, want := range map[string]string{
		"porxy":                           `semel: "porxy" is no command of semel; did you mean semel proxy?`,
		"keys lst":                        `semel: "lst" is no command of semel keys; did you mean semel keys list?`,
		"proxy --upstraem=x":              "semel: --upstraem is no flag of semel proxy; did you mean --upstream?",
		"proxy --colour":                  "semel: --colour is no flag of semel proxy; see semel proxy --help",
		"proxy -u x":                      "semel: -u is no flag of semel proxy; flags begin with two dashes",
		"proxy --upstream":                "; see semel proxy --help",
		"proxy http://127.0.0.1":          `semel: semel proxy takes flags only, and "http://127.0.0.1" is none; see semel proxy --help`,
		"keys get a b --principal=global": "semel: semel keys get takes one KEY, and was given 2 words",
		"config check a b":                "semel: semel config check takes one FILE, and was given 2",
	} {
		got := run(t, "", nil, strings.Fields(args)...)
		if got.want(t, 1, want); strings.Count(got.err, "\n") != 1 {
			t.Errorf("semel %s: want one line: %s", args, got.err)
		}
	}
}
