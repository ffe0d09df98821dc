package keys

import (
	"errors"
	"fmt"
	"strings"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/settings"
)

// byValue is the kind of principals that a service computes itself.
const byValue = "value"

var errPrincipal = errors.New("--principal names no caller; write header:NAME=VALUE, cookie:NAME=VALUE, jwt:CLAIM=VALUE, client-cert=SUBJECT or global, " +
	"as the gateway's --principal has it; or value=TEXT, which is what the PrincipalFunc of a service returns")

// ParsePrincipal returns a caller as the gateway computes it. The name of a header is
// canonical there, however it was written.
func ParsePrincipal(s string) (string, error) {
	rule, value, found := strings.Cut(s, "=")
	switch {
	case s == string(settings.PrincipalGlobal):
		return semel.Global, nil
	case !found || value == "":
		return "", errPrincipal
	case rule == byValue:
		return value, nil
	case strings.HasPrefix(rule, "jwt+iss:"):
		return ofIssuer(rule, value)
	}
	p, err := settings.ParsePrincipal(rule)
	if err != nil || p.Kind == settings.PrincipalGlobal {
		return "", errors.Join(err, errPrincipal)
	}
	return p.String() + "=" + asSeen(p.Kind, value), nil
}

// ofIssuer is a claim where tokens of any issuer count.
func ofIssuer(rule, value string) (string, error) {
	var issuer, claim string
	if _, err := fmt.Sscanf(value, "%q %q", &issuer, &claim); err != nil {
		return "", fmt.Errorf("--principal %s names issuer and claim, each in double quotes, such as %s=\"https://issuer.example\" \"alice\"", rule, rule)
	}
	return fmt.Sprintf("%s=%q %q", rule, issuer, claim), nil
}

// asSeen is a value as a server reads it from a request.
func asSeen(kind settings.PrincipalKind, value string) string {
	switch kind {
	case settings.PrincipalHeader:
		return strings.Trim(value, " \t")
	case settings.PrincipalCookie:
		if inner, ok := strings.CutPrefix(value, `"`); ok && strings.HasSuffix(inner, `"`) {
			return strings.TrimSuffix(inner, `"`)
		}
	}
	return value
}
