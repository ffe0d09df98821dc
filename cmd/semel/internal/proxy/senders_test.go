package proxy_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// signed are the headers of a delivery under a secret of zero bytes.
func signed(id, body string) []string {
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	m := hmac.New(sha256.New, make([]byte, 24))
	fmt.Fprintf(m, "%s.%s.%s", id, stamp, body)
	return []string{"Webhook-Id: " + id, "Webhook-Timestamp: " + stamp, "Webhook-Signature: v1," + base64.StdEncoding.EncodeToString(m.Sum(nil))}
}

// secretFile holds the secret of [signed].
func secretFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop.whsec")
	if err := os.WriteFile(file, []byte("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Field fault: whoever knows or guesses an id occupies it before its sender does.
// Where signatures are checked only the sender's deliveries claim anything.
func TestVerifiedWebhooks(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(http.ResponseWriter, *http.Request) {})
	g := startFile(t, up.URL, "routes:\n  - path: /hooks\n    key: webhook:standard\n    verify: standard:"+secretFile(t)+"\n")
	g.send("POST", "/hooks", "", "paid", "Webhook-Id: msg_1").want(t, 401, "invalid-signature")
	g.send("POST", "/hooks", "", "forged", signed("msg_1", "paid")...).want(t, 401, "invalid-signature")
	up.wantExecuted(t, 0)
	first, again := g.send("POST", "/hooks", "", "paid", signed("msg_1", "paid")...), g.send("POST", "/hooks", "", "paid", signed("msg_1", "paid")...)
	if first.status != 200 || first.replayed() || again.status != 200 || !again.replayed() {
		t.Errorf("got %d, then %d (replayed: %v)", first.status, again.status, again.replayed())
	}
	up.wantExecuted(t, 1)
}

// verifying is a configuration with routes of which signatures are checked, and
// others beside them.
func verifying(t *testing.T) string {
	t.Helper()
	check := "key: webhook:standard, require-key: true, verify: 'standard:" + secretFile(t) + "'}\n"
	return "routes:\n  - {path: /hooks, " + check + "  - {path: /pay/, " + check +
		"  - {path: shop.example/in, " + check +
		"  - {path: /pay/Open, enabled: false}\n  - {path: /hooks, methods: [DELETE], enabled: false}\n"
}

// Field fault: what a service reads as the path of a checked route, and the
// gateway does not, runs unsigned.
func TestNoSpellingEvadesTheSignature(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(http.ResponseWriter, *http.Request) {})
	g := startFile(t, up.URL, verifying(t))
	for _, path := range []string{
		"/hooks/", "/HOOKS", "/x/%2e%2e/hooks", "/%2E/hooks", "/x/..%2fhooks", "/x/..%5Chooks", "/x/..;/hooks", "/hooks;a=b", "/hooks%3Ba=b",
		"/hooks%2f", "/hooks%2F%2F", "/hooks%20", "/hooks%09/", "/hooks%00.x", "/hooks%3fa", "/%2568ooks", "//Hooks", "/PAY", "/Pay/1", "/pay%2f1", "/x/..%2fpay/1",
	} {
		if a := g.rawSend("POST", path, "x"); a != 400 {
			t.Errorf("%s: got %d, want 400", path, a)
		}
	}
	for _, host := range []string{"SHOP.example", "shop.example.", "shop.EXAMPLE.:80"} {
		if a := g.rawSend("POST", "/in", host); a != 400 {
			t.Errorf("%s: got %d, want 400", host, a)
		}
	}
	for _, path := range []string{"/hooks", "/pay/1", "//hooks", "/x/../hooks", "/h%6foks"} { // which the route itself matches
		if a := g.rawSend("POST", path, "x"); a != 400 && a != 401 {
			t.Errorf("%s: got %d, want a refusal", path, a)
		}
	}
	up.wantExecuted(t, 0)
}

// Field fault: a service that executes another method of a checked path as well.
func TestNoMethodEvadesTheSignature(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(http.ResponseWriter, *http.Request) {})
	g := startFile(t, up.URL, verifying(t))
	for _, method := range []string{"PUT", "PROPFIND", "post", "get"} {
		a := g.send(method, "/hooks", "", "x")
		if allow := a.header.Get("Allow"); a.status != 405 || allow != "GET, HEAD, OPTIONS, DELETE, PATCH, POST" {
			t.Errorf("%s: got %d, Allow %q", method, a.status, allow)
		}
	}
	up.wantExecuted(t, 0)
}

// The odd paths of other routes are none of the signature's business.
func TestOddPathsBesideASignaturePass(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(http.ResponseWriter, *http.Request) {})
	g := startFile(t, up.URL, verifying(t))
	for _, line := range []string{
		"POST /other/", "POST /Other;a=b", "POST /a%2fb", "POST /x/%2e%2e/y", "POST /hooks/1", "POST /webhooks", "POST /in", "PUT /other",
		"POST /pay/Open", "DELETE /hooks", "GET /hooks", "GET /HOOKS/", "OPTIONS /hooks", "HEAD /hooks/",
	} {
		method, path, _ := strings.Cut(line, " ")
		if a := g.rawSend(method, path, "x"); a != 200 {
			t.Errorf("%s: got %d, want 200", line, a)
		}
	}
}

// rawSend sends a request line as it is and returns the answer's status.
func (g *gateway) rawSend(method, path, host string) int {
	g.t.Helper()
	got := g.exchange(method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
	var status int
	fmt.Sscanf(got, "HTTP/1.1 %d", &status)
	return status
}
