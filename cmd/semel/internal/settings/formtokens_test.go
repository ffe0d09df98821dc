package settings_test

import (
	"strings"
	"testing"
	"time"
)

const tokenFile = `form-tokens:
  secrets: [new.secret, old.secret]
  field: csrf
  endpoints:
    - {path: /tokens/order, purpose: order, lifetime: 2h, principal: 'cookie:session', cors: {origins: [https://shop.example]}}
    - {path: /tokens/vote, purpose: vote}
routes:
  - {path: /orders, key: [form-token:order, header:Idempotency-Key], principal: 'cookie:session'}
  - {path: /votes, key: form-token:vote, retention: 15h}
`

func TestFormTokens(t *testing.T) {
	t.Parallel()
	got, err := loadFile(t, yamlBase+tokenFile, "")
	if err != nil {
		t.Fatal(err)
	}
	tokens := got.FormTokens
	if strings.Join(tokens.Secrets, " ") != "new.secret old.secret" || tokens.Header != "Form-Token" || tokens.Field != "csrf" || tokens.Place() != "semel.yaml:4" {
		t.Errorf("%+v at %s", tokens, tokens.Place())
	}
	order, ok := tokens.Endpoint("order")
	if !ok || order.Path != "/tokens/order" || order.Lifetime != 2*time.Hour || order.Principal.String() != "cookie:session" || order.CORS == nil {
		t.Errorf("%+v %v", order, ok)
	}
	vote, ok := tokens.Endpoint("vote")
	if !ok || vote.Lifetime != 12*time.Hour || vote.Principal.String() != "global" || vote.CORS != nil {
		t.Errorf("%+v %v", vote, ok)
	}
	if p := got.Routes[0].TokenPurpose(); p != "order" || strings.Join(got.Routes[0].KeyTexts(), " ") != "form-token:order header:Idempotency-Key" {
		t.Errorf("the route takes tokens of %q: %v", p, got.Routes[0].KeyTexts())
	}
}

// What cannot be meant is refused at start, with its line.
func TestFormTokensRefused(t *testing.T) {
	t.Parallel()
	route := "routes:\n  - {path: /a, key: form-token:x}\n"
	endpoints := "  endpoints: [{path: /t, purpose: x}]\n"
	good := "form-tokens:\n  secrets: a.secret\n"
	for _, tc := range []struct{ text, want string }{
		{route, "semel.yaml:4: routes[0].key: nobody issues tokens for x; add an endpoint with purpose: x under form-tokens"},
		{"routes:\n  - {path: /a, key: 'form-token:'}\n", "semel.yaml:4: routes[0].key: the purpose is empty"},
		{"routes:\n  - {path: /a, key: [form-token:x, form-token:y]}\n" + good + endpoints, "semel.yaml:4: routes[0].key[1]: a route takes the tokens of one purpose"},
		{"routes:\n  - {path: /a, key: [form-token:x, header:form-token]}\n" + good + endpoints, "semel.yaml:4: routes[0].key: the header Form-Token holds the token already"},
		{"routes:\n  - {path: /a, key: form-token:x, retention: 13h}\n" + good + endpoints, "semel.yaml:4: routes[0].key: retention 13h0m0s is below 14h0m0s, the lifetime of the tokens and two hours"},
		{"routes:\n  - {path: /a, key: form-token:x, principal: 'cookie:s'}\n" + good + endpoints, "semel.yaml:4: routes[0].key: the endpoint (semel.yaml:7) issues tokens to global, and this route's callers are told apart by cookie:s"},
		{good + endpoints, "semel.yaml:5: form-tokens.endpoints[0]: no route takes its tokens; write key: form-token:x there"},
		{route + good + "  endpoints: [{path: /a, purpose: x}]\n", "semel.yaml:7: form-tokens.endpoints[0]: /a is taken (semel.yaml:4); choose another path"},
		{"routes:\n  - {path: '/a/{i}', key: form-token:x}\n" + good + "  endpoints: [{path: '/{i}/b', purpose: x}]\n", "semel.yaml:7: form-tokens.endpoints[0]: /{i}/b and /a/{i} (semel.yaml:4) match some paths both"},
		{route + good + "  endpoints: [{path: /t, purpose: x}, {path: /u, purpose: x}]\n", "semel.yaml:7: form-tokens.endpoints[1]: the purpose x has an endpoint already (semel.yaml:7)"},
		{route + good, "semel.yaml:6: form-tokens: name the endpoints"},
		{route + "form-tokens:\n" + endpoints, "semel.yaml:6: form-tokens: secrets names no file; write one of a secret with 32 bytes or more"},
		{route + "form-tokens:\n  secrets: []\n" + endpoints, "semel.yaml:6: form-tokens: secrets names no file"},
		{route + "form-tokens:\n  secrets: [a, a]\n" + endpoints, "semel.yaml:6: form-tokens.secrets[1]: a stands there twice"},
		{route + good + "  header: a b\n" + endpoints, `semel.yaml:7: form-tokens.header: "a b" cannot hold a token`},
		{route + good + "  header: content-length\n" + endpoints, `semel.yaml:7: form-tokens.header: "content-length" cannot hold a token`},
		{route + good + "  field: '<x>'\n" + endpoints, `semel.yaml:7: form-tokens.field: "<x>" is no plain name of a field`},
		{route + good + "  fields: x\n" + endpoints, `semel.yaml:7: "fields" is no key in form-tokens; did you mean field?`},
		{route + good + "  endpoints: [{path: /t, purpose: x, lifetime: 400d}]\n", `form-tokens.endpoints[0].lifetime: "400d" is no duration`},
		{route + good + "  endpoints: [{path: /t, purpose: x, lifetime: 10000h}]\n", "semel.yaml:7: form-tokens.endpoints[0].lifetime: 10000h0m0s is not between 1s and 366 days"},
		{route + good + "  endpoints: [{path: /t, purpose: x, principal: 'jwt:sub'}]\n", "form-tokens.endpoints[0].principal: jwt needs --jwks"},
		{good + "  endpoints: [{path: /t}]\n", "semel.yaml:5: form-tokens.endpoints[0]: the purpose is empty"},
		{good + "  endpoints: [{purpose: x}]\n", "semel.yaml:5: form-tokens.endpoints[0]: the endpoint has no path"},
	} {
		_, err := loadFile(t, yamlBase+tc.text, "")
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s\n got: %v\nwant: %s", tc.text, err, tc.want)
		}
	}
}
