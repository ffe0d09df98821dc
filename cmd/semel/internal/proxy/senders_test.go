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

// Field fault: whoever knows or guesses an id occupies it before its sender does.
// Where signatures are checked only the sender's deliveries claim anything.
func TestVerifiedWebhooks(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(http.ResponseWriter, *http.Request) {})
	dir := t.TempDir()
	secret := filepath.Join(dir, "shop.whsec")
	if err := os.WriteFile(secret, []byte("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "semel.yaml")
	text := "routes:\n  - path: /hooks\n    key: webhook:standard\n    verify: standard:" + secret + "\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g := start(t, up.URL, "--config="+config)
	g.send("POST", "/hooks", "", "paid", "Webhook-Id: msg_1").want(t, 401, "invalid-signature")
	g.send("POST", "/hooks", "", "forged", signed("msg_1", "paid")...).want(t, 401, "invalid-signature")
	up.wantExecuted(t, 0)
	first, again := g.send("POST", "/hooks", "", "paid", signed("msg_1", "paid")...), g.send("POST", "/hooks", "", "paid", signed("msg_1", "paid")...)
	if first.status != 200 || first.replayed() || again.status != 200 || !again.replayed() {
		t.Errorf("got %d, then %d (replayed: %v)", first.status, again.status, again.replayed())
	}
	up.wantExecuted(t, 1)
}
