package keys_test

import (
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/keys"
)

// What an operator types names the caller whom the gateway saw.
func TestParsePrincipal(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"header:authorization=Bearer k1":          "header:Authorization=Bearer k1",
		"header:AUTHORIZATION= Bearer a=b \t":     "header:Authorization=Bearer a=b",
		"cookie:Session=3f1a":                     "cookie:Session=3f1a",
		`cookie:session="3f1a"`:                   "cookie:session=3f1a",
		"jwt:sub=alice":                           "jwt:sub=alice",
		`jwt+iss:sub="https://i.example" "alice"`: `jwt+iss:sub="https://i.example" "alice"`,
		"client-cert=CN=till-7,O=Shop":            "client-cert=CN=till-7,O=Shop",
		"value=header:x=y":                        "header:x=y",
		"global":                                  semel.Global,
	} {
		if got, err := keys.ParsePrincipal(typed); got != want || err != nil {
			t.Errorf("%s: got %q, %v; want %q", typed, got, err, want)
		}
	}
	for typed, want := range map[string]string{
		"":                               "write header:NAME=VALUE",
		"Bearer CANARY":                  "write header:NAME=VALUE",
		"Authorization=Bearer CANARY":    "did you mean header:Authorization?",
		"header:Authorization":           "write header:NAME=VALUE",
		"header:Authorization=":          "write header:NAME=VALUE",
		"global=x":                       "write header:NAME=VALUE",
		"jwt+iss:sub=alice":              "each in double quotes",
		"saml:x=y":                       "is not built in",
		"header:Idempotency-Key=order-1": "tells no callers apart",
	} {
		got, err := keys.ParsePrincipal(typed)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: got %q, %v; want %q", typed, got, err, want)
		}
	}
}
