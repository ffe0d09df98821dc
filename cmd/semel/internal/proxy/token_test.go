package proxy_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// tokens signs for one issuer whose key set is in a file.
type tokens struct {
	t      *testing.T
	file   string
	signer jose.Signer
}

func newTokens(t *testing.T) *tokens {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	set, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: public, KeyID: "k1"}}})
	if err != nil {
		t.Fatal(err)
	}
	s := &tokens{t: t, file: filepath.Join(t.TempDir(), "keys.json")}
	if err := os.WriteFile(s.file, set, 0o600); err != nil {
		t.Fatal(err)
	}
	s.signer, err = jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: private}, (&jose.SignerOptions{}).WithHeader("kid", "k1"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// header is the Authorization of a caller.
func (s *tokens) header(iss, sub string, lifetime time.Duration) string {
	s.t.Helper()
	claims := map[string]any{"iss": iss, "sub": sub, "exp": time.Now().Add(lifetime).Unix(), "jti": rand.Text()}
	text, err := jwt.Signed(s.signer).Claims(claims).Serialize()
	if err != nil {
		s.t.Fatal(err)
	}
	return "Authorization: Bearer " + text
}

// A refreshed token is the same caller, another caller's is not, and what is no
// token is nobody's.
func TestTokenPrincipal(t *testing.T) {
	t.Parallel()
	issuer := newTokens(t)
	up := numbered(t)
	g := start(t, up.URL, "--principal=jwt:sub", "--jwks="+issuer.file, "--jwt-issuer=idp")
	first := g.post("k-1", "tea", issuer.header("idp", "alice", time.Hour))
	again := g.post("k-1", "tea", issuer.header("idp", "alice", time.Hour))
	bob := g.post("k-1", "tea", issuer.header("idp", "bob", time.Hour))
	if first.body != "execution 1" || !again.replayed() || bob.body != "execution 2" {
		t.Errorf("alice %q, refreshed %q, bob %q", first.body, again.body, bob.body)
	}
	good := issuer.header("idp", "alice", time.Hour)
	for name, lines := range map[string][]string{
		"over":       {issuer.header("idp", "alice", -time.Hour)},
		"elsewhere":  {issuer.header("evil", "alice", time.Hour)},
		"no subject": {issuer.header("idp", "", time.Hour)},
		"forged":     {newTokens(t).header("idp", "alice", time.Hour)},
		"basic":      {"Authorization: Basic YTpi"},
		"no token":   {"Authorization: Bearer"},
		"twice":      {good, good},
		"none":       {},
	} {
		if a := g.post("k-1", "tea", lines...); a.status != 401 || a.code() != "no-principal" || a.header.Get("Www-Authenticate") != "Bearer" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	up.wantExecuted(t, 2)
	_, text := g.admin("/metrics")
	for _, want := range []string{`semel_tokens_refused_total{reason="time"} 1`, `{reason="issuer-or-audience"} 1`, `{reason="no-claim"} 1`, `{reason="signature"} 1`, `semel_jwks_reads_total{result="ok"} 1`} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %s", want)
		}
	}
}

// Two issuers with one key set: their alices are two callers.
func TestTokenOfAnyIssuer(t *testing.T) {
	t.Parallel()
	issuer := newTokens(t)
	up := numbered(t)
	g := start(t, up.URL, "--principal=jwt:sub", "--jwks="+issuer.file)
	g.post("k-1", "tea", issuer.header("red", "alice", time.Hour))
	if a := g.post("k-1", "tea", issuer.header("blue", "alice", time.Hour)); a.body != "execution 2" {
		t.Errorf("another issuer's alice got %q", a.body)
	}
	if logs := g.logs.String(); !strings.Contains(logs, "--jwt-issuer names one") || !strings.Contains(logs, "--jwt-audience names this one") {
		t.Errorf("got %s", logs)
	}
}

// A Connection header that lists Authorization does not hide the caller from the
// upstream.
func TestTokenReachesUpstream(t *testing.T) {
	t.Parallel()
	issuer := newTokens(t)
	up, seen := recorder(t)
	g := start(t, up.URL, "--principal=jwt:sub", "--jwks="+issuer.file)
	line := issuer.header("idp", "alice", time.Hour)
	g.post("k-1", "tea", line, "Connection: Authorization")
	if r := <-seen; "Authorization: "+r.Header.Get("Authorization") != line {
		t.Errorf("the upstream saw %v", r.Header)
	}
}
