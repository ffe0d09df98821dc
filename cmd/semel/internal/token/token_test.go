package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// issuer signs tokens and publishes its keys on a real listener.
type issuer struct {
	*httptest.Server
	mu     sync.Mutex
	answer func(w http.ResponseWriter)
	reads  atomic.Int64
}

func newIssuer(t *testing.T, keys ...jose.JSONWebKey) *issuer {
	i := &issuer{}
	i.publish(keys...)
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.reads.Add(1)
		i.mu.Lock()
		defer i.mu.Unlock()
		i.answer(w)
	}))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) answers(answer func(w http.ResponseWriter)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answer = answer
}

func (i *issuer) publish(keys ...jose.JSONWebKey) {
	i.answers(func(w http.ResponseWriter) { json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: keys}) })
}

// signer is a private key with its published half.
type signer struct {
	alg     jose.SignatureAlgorithm
	private any
	public  jose.JSONWebKey
}

func newSigner(t *testing.T, kid string) signer {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{jose.EdDSA, private, jose.JSONWebKey{Key: public, KeyID: kid, Use: "sig"}}
}

func (s signer) sign(t *testing.T, claims map[string]any) string {
	t.Helper()
	options := (&jose.SignerOptions{}).WithType("JWT")
	if s.public.KeyID != "" {
		options = options.WithHeader("kid", s.public.KeyID)
	}
	sig, err := jose.NewSigner(jose.SigningKey{Algorithm: s.alg, Key: s.private}, options)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.Signed(sig).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// world is a verifier on a clock that tests turn.
type world struct {
	*Verifier
	now    time.Time
	failed atomic.Int64
}

func newWorld(t *testing.T, source string) *world {
	t.Helper()
	w := &world{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	keys := newKeys(source, func(err error) {
		if err != nil {
			w.failed.Add(1)
		}
	})
	keys.now = func() time.Time { return w.now }
	if err := keys.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Verifier = &Verifier{Keys: keys, Issuer: "https://issuer.example", Audience: []string{"shop", "till"}}
	return w
}

func (w *world) claims(change ...any) map[string]any {
	claims := map[string]any{"iss": "https://issuer.example", "aud": "shop", "sub": "alice", "exp": w.now.Add(time.Minute).Unix()}
	for i := 0; i < len(change); i += 2 {
		if change[i+1] == nil {
			delete(claims, change[i].(string))
			continue
		}
		claims[change[i].(string)] = change[i+1]
	}
	return claims
}

func (w *world) want(t *testing.T, name, text string, want error) {
	t.Helper()
	claims, err := w.Verify(t.Context(), text)
	if !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", name, err, want)
	}
	if sub, ok := claims.Text("sub"); err == nil && (!ok || sub != "alice") {
		t.Errorf("%s: sub is %q", name, sub)
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1")
	w := newWorld(t, newIssuer(t, key.public).URL)
	at := func(d time.Duration) int64 { return w.now.Add(d).Unix() }
	for _, tc := range []struct {
		name   string
		change []any
		want   error
	}{
		{"good", nil, nil},
		{"one of several audiences", []any{"aud", []string{"other", "till"}}, nil},
		{"over, within the leeway", []any{"exp", at(-leeway + time.Second)}, nil},
		{"over", []any{"exp", at(-leeway - time.Second)}, ErrTime},
		{"no exp", []any{"exp", nil}, ErrTime},
		{"soon, within the leeway", []any{"nbf", at(leeway - time.Second)}, nil},
		{"not yet", []any{"nbf", at(leeway + time.Second)}, ErrTime},
		{"another issuer", []any{"iss", "https://issuer.example.evil"}, ErrElsewhere},
		{"no issuer", []any{"iss", nil}, ErrElsewhere},
		{"another audience", []any{"aud", "shopping"}, ErrElsewhere},
		{"no audience", []any{"aud", nil}, ErrElsewhere},
	} {
		w.want(t, tc.name, key.sign(t, w.claims(tc.change...)), tc.want)
	}
	claims, _ := w.Verify(t.Context(), key.sign(t, w.claims("n", 7, "empty", "")))
	for _, name := range []string{"n", "empty", "none"} {
		if text, ok := claims.Text(name); ok {
			t.Errorf("the claim %s is taken as %q", name, text)
		}
	}
}

func TestAlgorithms(t *testing.T) {
	t.Parallel()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rs := signer{jose.RS256, rsaKey, jose.JSONWebKey{Key: rsaKey.Public(), KeyID: "rsa"}}
	es := signer{jose.ES256, ecKey, jose.JSONWebKey{Key: ecKey.Public(), KeyID: "ec", Algorithm: "ES256"}}
	ed := newSigner(t, "")
	only := signer{jose.PS256, rsaKey, jose.JSONWebKey{Key: rsaKey.Public(), KeyID: "only", Algorithm: "RS256"}}
	w := newWorld(t, newIssuer(t, rs.public, es.public, ed.public, only.public).URL)
	w.want(t, "RS256", rs.sign(t, w.claims()), nil)
	w.want(t, "PS256", signer{jose.PS256, rsaKey, rs.public}.sign(t, w.claims()), nil)
	w.want(t, "PS256 by a key for RS256", only.sign(t, w.claims()), ErrSignature)
	w.want(t, "ES256", es.sign(t, w.claims()), nil)
	w.want(t, "EdDSA without a kid", ed.sign(t, w.claims()), nil)
	w.want(t, "another's signature", signer{jose.EdDSA, newSigner(t, "").private, rs.public}.sign(t, w.claims()), ErrSignature)

	// A public key is no secret: whoever signs with it by HMAC has forged.
	secret := []byte(mustJSON(t, rs.public))
	for _, key := range [][]byte{secret, rsaKey.N.Bytes()} {
		w.want(t, "HS256", signer{jose.HS256, key, rs.public}.sign(t, w.claims()), ErrMalformed)
	}
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	body := part(mustJSON(t, w.claims()))
	for _, alg := range []string{"none", "None", "NONE", ""} {
		w.want(t, "alg "+alg, part(`{"alg":"`+alg+`","kid":"rsa"}`)+"."+body+".", ErrMalformed)
	}
	good := rs.sign(t, w.claims())
	forged := strings.Split(good, ".")
	forged[1] = part(mustJSON(t, w.claims("sub", "bob")))
	w.want(t, "another payload", strings.Join(forged, "."), ErrSignature)
	for _, text := range []string{"", ".", "..", "a.b.c", good + ".x", good[:len(good)-4], "{}"} {
		if _, err := w.Verify(t.Context(), text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What a key set may hold besides usable keys is left out; a set without any is
// refused, and secrets are never keys.
func TestKeySets(t *testing.T) {
	t.Parallel()
	good := newSigner(t, "good")
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	goodText := mustJSON(t, good.public)
	for _, tc := range []struct {
		name, set string
		keys      int
	}{
		{"good", `{"keys":[` + goodText + `]}`, 1},
		{"with an unknown kind", `{"keys":[{"kty":"XYZ"},` + goodText + `,7]}`, 1},
		{"secret", `{"keys":[{"kty":"oct","k":"c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"}]}`, 0},
		{"weak", `{"keys":[` + mustJSON(t, jose.JSONWebKey{Key: weak.Public()}) + `]}`, 0},
		{"for encryption", `{"keys":[` + strings.Replace(goodText, `"sig"`, `"enc"`, 1) + `]}`, 0},
		{"empty", `{"keys":[]}`, 0}, {"none", `{}`, 0}, {"no JSON", `<html>`, 0}, {"nothing", ``, 0},
	} {
		keys, err := parseSet([]byte(tc.set))
		if len(keys) != tc.keys || (err == nil) != (tc.keys > 0) {
			t.Errorf("%s: %d keys, %v", tc.name, len(keys), err)
		}
	}
	keys, err := parseSet([]byte(`{"keys":[` + mustJSON(t, jose.JSONWebKey{Key: good.private.(crypto.Signer)}) + `]}`))
	if err != nil || !keys[0].IsPublic() {
		t.Errorf("a private key is kept as such: %v", err)
	}
}

// A key that comes is found at once, but not by a flood of reads; one that goes
// counts no longer than refreshEvery.
func TestRotation(t *testing.T) {
	t.Parallel()
	old, fresh := newSigner(t, "old"), newSigner(t, "new")
	source := newIssuer(t, old.public)
	w := newWorld(t, source.URL)
	w.want(t, "not published yet", fresh.sign(t, w.claims()), ErrSignature)
	source.publish(old.public, fresh.public)
	for range 20 {
		w.want(t, "within the pause", fresh.sign(t, w.claims()), ErrSignature)
	}
	if n := source.reads.Load(); n != 1 {
		t.Errorf("the key set was read %d times within the pause, want once", n)
	}
	w.now = w.now.Add(refreshPause)
	w.want(t, "published", fresh.sign(t, w.claims()), nil)
	w.want(t, "the old one", old.sign(t, w.claims()), nil)
	source.publish(fresh.public)
	w.now = w.now.Add(refreshEvery)
	w.want(t, "taken back", old.sign(t, w.claims()), ErrSignature)
}

// While the set cannot be read, the last good keys count, and tries are rare.
func TestOutage(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1")
	source := newIssuer(t, key.public)
	w := newWorld(t, source.URL)
	for _, answer := range []func(w http.ResponseWriter){
		func(w http.ResponseWriter) { w.WriteHeader(500) },
		func(w http.ResponseWriter) { w.Write([]byte(`{"keys":[]}`)) },
		func(w http.ResponseWriter) { w.Write([]byte(strings.Repeat(" ", maxSetSize+1))) },
		func(w http.ResponseWriter) { panic(http.ErrAbortHandler) },
		func(w http.ResponseWriter) { // a redirect is not followed
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(302)
		},
	} {
		source.answers(answer)
		w.now = w.now.Add(refreshEvery)
		before := source.reads.Load()
		for range 5 {
			w.want(t, "during the outage", key.sign(t, w.claims()), nil)
		}
		if n := source.reads.Load() - before; n != 1 {
			t.Errorf("%d tries, want 1", n)
		}
	}
	if w.failed.Load() != 5 {
		t.Errorf("%d failures were told, want 5", w.failed.Load())
	}
}

// Callers who need the keys at once share one read.
func TestOneReadForAll(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1")
	source := newIssuer(t, key.public)
	w := newWorld(t, source.URL)
	w.now = w.now.Add(refreshEvery)
	text := key.sign(t, w.claims())
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { w.want(t, "concurrent", text, nil) })
	}
	all.Wait()
	if n := source.reads.Load(); n != 2 {
		t.Errorf("%d reads, want the first and one more", n)
	}
}

// The address of a key set may have a secret in its query.
func TestAddressIsNotTold(t *testing.T) {
	t.Parallel()
	source := newIssuer(t)
	source.Close()
	_, err := Open(t.Context(), source.URL+"?key=CANARY", func(error) {})
	if err == nil || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("got %v", err)
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1")
	file := filepath.Join(t.TempDir(), "keys.json")
	if _, err := Open(t.Context(), file, func(error) {}); err == nil {
		t.Error("a missing file was taken")
	}
	if err := os.WriteFile(file, []byte(`{"keys":[`+mustJSON(t, key.public)+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, file)
	w.want(t, "from a file", key.sign(t, w.claims()), nil)
}
