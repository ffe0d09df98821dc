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
	run(t, "", nil, "proxy", "--help").want(t, 0, "--on-unknown hold|retry", "SEMEL_MAX_REQUEST_BODY", "(default sqlite:semel.db)")
}

func TestProxyRefusesToStart(t *testing.T) {
	t.Parallel()
	got := run(t, "", []string{"SEMEL_LEASE=1h", "SEMEL_RETENTION=10m", "SEMEL_LISTENN=:80", "SEMEL_STORE=redis://x"}, "proxy")
	got.want(t, 1,
		"semel: SEMEL_LISTENN is no setting; did you mean SEMEL_LISTEN?",
		"semel: --upstream: name the service to guard",
		"semel: --principal: say whose key a key is: header:NAME, cookie:NAME, jwt:CLAIM, client-cert or global",
		`semel: SEMEL_STORE: stores of the kind "redis" are not built in`,
		"semel: SEMEL_LEASE: 1h0m0s is not below --retention 10m0s")
	if n := strings.Count(got.err, "\n"); n != 5 {
		t.Errorf("%d lines, want one for each mistake:\n%s", n, got.err)
	}
}
