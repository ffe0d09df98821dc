package proxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// formGateway is a gateway before a service with an order form, and the files of its
// secrets.
type formGateway struct {
	*gateway
	up      *upstream
	secrets string
}

func newFormGateway(t *testing.T) *formGateway {
	t.Helper()
	g := &formGateway{secrets: t.TempDir()}
	g.secret(t, "first", strings.Repeat("1", 32)+"\n")
	g.secret(t, "second", strings.Repeat("2", 64))
	g.up = newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("tea") == "" {
			http.Error(w, "choose a tea", http.StatusUnprocessableEntity)
			return
		}
		w.Header().Set("Location", "/orders/7")
		w.WriteHeader(http.StatusSeeOther)
	})
	g.gateway = startFile(t, g.up.URL, g.config("first"))
	g.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return g
}

func (g *formGateway) secret(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(g.secrets, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// config is a configuration with secrets in this order.
func (g *formGateway) config(secrets ...string) string {
	for i, name := range secrets {
		secrets[i] = filepath.Join(g.secrets, name)
	}
	return `
form-tokens:
  secrets: [` + strings.Join(secrets, ", ") + `]
  endpoints:
    - {path: /tokens/order, purpose: order, principal: 'cookie:session', cors: {origins: [https://shop.example], credentials: true}}
    - {path: /tokens/refund, purpose: refund, principal: 'cookie:session'}
routes:
  - {path: /orders, key: form-token:order, require-key: true, principal: 'cookie:session', wait: 10s}
  - {path: /refunds, key: form-token:refund, require-key: true, principal: 'cookie:session'}
`
}

// token asks an endpoint for a token.
func (g *formGateway) token(purpose, session string) string {
	g.t.Helper()
	a := g.send("GET", "/tokens/"+purpose, "", "", "Cookie: session="+session)
	var got struct{ Token, Header, Field string }
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != 200 || got.Header != "Form-Token" || got.Field != "form_token" {
		g.t.Fatalf("got %d %s", a.status, a.body)
	}
	if a.header.Get("Cache-Control") != "no-store" {
		g.t.Errorf("the token may be cached: %v", a.header)
	}
	return got.Token
}

func (g *formGateway) submit(token, tea, session string) answer {
	g.t.Helper()
	form := url.Values{"form_token": {token}, "tea": {tea}}.Encode()
	return g.send("POST", "/orders", "", form, "Content-Type: application/x-www-form-urlencoded", "Cookie: session="+session)
}

// A form through the gateway: refused, corrected, sent twice, changed, sent by others.
//
// Field faults: token consumed by a submit that failed validation; back button re-sends
// another form with a used token, silently swallowed.
func TestFormThroughTheGateway(t *testing.T) {
	t.Parallel()
	g := newFormGateway(t)
	token := g.token("order", "alice")
	if a := g.submit(token, "", "alice"); a.status != 422 || a.replayed() {
		t.Errorf("refused: %d %s", a.status, a.body)
	}
	first, again := g.submit(token, "green", "alice"), g.submit(token, "green", "alice")
	if first.status != 303 || first.replayed() || again.status != 303 || !again.replayed() || again.header.Get("Location") != "/orders/7" {
		t.Errorf("corrected: %d %s, then %d %v", first.status, first.body, again.status, again.header)
	}
	g.submit(token, "black", "alice").want(t, 409, "token-used")
	g.submit(token, "green", "mallory").want(t, 403, "token-refused")
	g.submit(g.token("refund", "alice"), "green", "alice").want(t, 403, "token-refused")
	g.submit("forged", "green", "alice").want(t, 403, "token-refused")
	g.send("POST", "/orders", "", "tea=green", "Content-Type: application/x-www-form-urlencoded", "Cookie: session=alice").want(t, 400, "missing-key")
	g.send("POST", "/orders", "", `{}`, "Form-Token: "+g.token("order", "bob"), "Cookie: session=bob", "Content-Type: application/json")
	g.up.wantExecuted(t, 3)
	if strings.Contains(g.logs.String(), token) {
		t.Error("the log holds a token")
	}
}

// Field fault: check then delete in two steps, two submits pass.
func TestDoubleClickThroughTheGateway(t *testing.T) {
	t.Parallel()
	g := newFormGateway(t)
	token := g.token("order", "alice")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if a := g.submit(token, "green", "alice"); a.status != 303 {
				t.Errorf("got %d %s", a.status, a.body)
			}
		})
	}
	group.Wait()
	g.up.wantExecuted(t, 1)
}

func TestTokenEndpointOfTheGateway(t *testing.T) {
	t.Parallel()
	g := newFormGateway(t)
	g.send("GET", "/tokens/order", "", "").want(t, 401, "no-principal")
	if a := g.send("DELETE", "/tokens/order", "", ""); a.status != 405 {
		t.Errorf("DELETE got %d", a.status)
	}
	a := g.send("POST", "/tokens/order", "", "", "Cookie: session=alice", "Origin: https://shop.example")
	if a.status != 200 || a.header.Get("Access-Control-Allow-Origin") != "https://shop.example" || a.header.Get("Access-Control-Allow-Credentials") != "true" {
		t.Errorf("got %d %v", a.status, a.header)
	}
	if a := g.send("GET", "/tokens/other", "", ""); a.status != 422 { // the upstream's business
		t.Errorf("another path got %d", a.status)
	}
	g.up.wantExecuted(t, 1)
}

// Secrets are changed without a refusal: the new one joins, then signs, then is alone.
func TestTokenSecretsAreRotated(t *testing.T) {
	t.Parallel()
	g := newFormGateway(t)
	reload := func(secrets ...string) {
		t.Helper()
		flags := []string{"--config=" + writeFile(t, g.config(secrets...))}
		if err := g.server.Reload(t.Context(), read(t, g.up.URL, flags)); err != nil {
			t.Fatal(err)
		}
	}
	old := g.token("order", "alice")
	reload("first", "second")
	reload("second", "first")
	fresh := g.token("order", "alice")
	if a := g.submit(old, "green", "alice"); a.status != 303 {
		t.Errorf("the old token got %d %s", a.status, a.body)
	}
	reload("second")
	g.submit(old, "green", "alice").want(t, 403, "token-refused")
	if a := g.submit(fresh, "green", "alice"); a.status != 303 {
		t.Errorf("the new token got %d %s", a.status, a.body)
	}
	bad := read(t, g.up.URL, []string{"--config=" + writeFile(t, g.config("second", "missing"))})
	if err := g.server.Reload(t.Context(), bad); err == nil {
		t.Error("a secret that is not there was taken")
	}
	if a := g.submit(fresh, "green", "alice"); !a.replayed() {
		t.Errorf("after a reload that failed: %d %s", a.status, a.body)
	}
}

func TestTokenSecretsAreChecked(t *testing.T) {
	t.Parallel()
	g := newFormGateway(t)
	g.secret(t, "short", strings.Repeat("3", 31)+"\n")
	g.secret(t, "same", strings.Repeat("1", 32))
	for name, want := range map[string]string{
		"short":   "short holds 31 bytes, at least 32 are needed; make one with: openssl rand -hex 32",
		"same":    "secret 2 stands there twice",
		"missing": "no such file",
	} {
		cfg := read(t, g.up.URL, []string{"--config=" + writeFile(t, g.config("first", name))})
		err := g.server.Reload(t.Context(), cfg)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "semel.yaml:3: form-tokens.secrets: ") || strings.Contains(fmt.Sprint(err), strings.Repeat("3", 31)) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

// A form that was written to a service which fell silent stays in doubt.
func TestFormThatMetSilence(t *testing.T) {
	t.Parallel()
	g := newFormGateway(t)
	silent := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		drop(w)
	})
	cfg := read(t, silent.URL, []string{"--config=" + writeFile(t, g.config("first"))})
	token := g.token("order", "alice")
	if err := g.server.Reload(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	g.submit(token, "green", "alice").want(t, 504, "upstream-no-answer")
	g.submit(token, "green", "alice").want(t, 409, "outcome-unknown")
	g.submit(token, "black", "alice").want(t, 409, "outcome-unknown")
	silent.wantExecuted(t, 1)
}
