package security

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel/integration/internal/gateway"
	_ "modernc.org/sqlite"
)

// canary is in everything that must stay private; what follows it says what it was.
const canary = "canary"

// tells returns where a text has a canary, plain or encoded; empty if nowhere.
func tells(text string) string {
	inBase64 := strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(canary)), "=")
	for _, form := range []string{canary, hex.EncodeToString([]byte(canary)), inBase64} {
		if at := strings.Index(text, form); at >= 0 {
			return text[max(0, at-80):min(len(text), at+80)]
		}
	}
	return ""
}

// gossip is a service that puts canaries into all that it says, and fails in every way.
func gossip(t *testing.T) *httptest.Server {
	raw := func(w http.ResponseWriter, text string) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			io.WriteString(conn, text)
			conn.Close()
		}
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		switch r.URL.Path {
		case "/canary-silence":
			raw(w, "")
		case "/canary-nonsense":
			raw(w, "canary nonsense\r\n\r\n")
		case "/canary-header":
			raw(w, "HTTP/1.1 200 OK\r\ncanary no header\r\n\r\n")
		case "/canary-cut":
			raw(w, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nX: canary-header\r\n\r\ncanary-cut")
		case "/canary-cut-stream":
			raw(w, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n8\r\ncanary-s\r\n")
		case "/canary-switch":
			raw(w, "HTTP/1.1 101 canary\r\nUpgrade: canary\r\n\r\n")
		default:
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "canary-cookie"})
			w.Header().Set("X-Token", "canary-token")
			if strings.HasSuffix(r.URL.Path, "500") {
				w.WriteHeader(http.StatusInternalServerError)
			}
			io.WriteString(w, "canary-answer")
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// Threat: keys and bodies in logs, metrics, problems and lists. Under success,
// mismatch, every failure of the service and a store that is down, nothing of a
// caller is in any output but in the answers to that very caller.
func TestNothingPrivateIsInAnyOutput(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			w := newWhisper(t, format)
			for _, path := range []string{"/canary-good", "/canary-500", "/canary-silence", "/canary-nonsense", "/canary-header", "/canary-cut", "/canary-cut-stream", "/canary-switch"} {
				w.tryAll(path)
			}
			w.whileStoreIsDown(func() {
				w.tryAll("/canary-down")
				w.silent("the readiness", w.get("/readyz"))
			})
			w.silent("the readiness", w.get("/readyz"))
			w.silent("the metrics", w.get("/metrics"))
			for _, args := range [][]string{{"keys", "list"}, {"keys", "list", "--json"}, {"keys", "list", "--state", "in-doubt"}} {
				w.silent(strings.Join(args, " "), run(t, append(args, "--store", "sqlite:"+w.file)...))
			}
		})
	}
}

type whisper struct {
	*testing.T
	*gateway.Process
	file string
}

func newWhisper(t *testing.T, format string) *whisper {
	t.Helper()
	dir := t.TempDir()
	w := &whisper{T: t, file: filepath.Join(dir, "semel.sqlite")}
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("canary-secret-of-the-gateway"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.silent("the log, to its end,", w.Log()) }) // runs when the gateway has stopped
	w.Process = gateway.Start(t, binary, gossip(t).URL, w.file, "--principal", "header:Authorization", "--secret-file", secret, "--log-format", format)
	return w
}

func (w *whisper) silent(what, text string) {
	w.Helper()
	if where := tells(text); where != "" {
		w.Errorf("%s tells: …%s…", what, where)
	}
	if text == "" {
		w.Errorf("%s is empty", what)
	}
}

// tryAll sends a request, the same again, another under its key, one of a stranger, and
// unusable ones.
func (w *whisper) tryAll(path string) {
	w.Helper()
	key := `"canary-key-` + path[1:] + `"`
	for _, try := range []struct{ caller, key, body string }{
		{"Bearer canary-alice", key, "canary-body"},
		{"Bearer canary-alice", key, "canary-body"},
		{"Bearer canary-alice", key, "canary-other-body"},
		{"Bearer canary-alice", `"canary`, "canary-body"},
		{"", key, "canary-body"},
	} {
		status, kind, answer := w.send(path, try.caller, try.key, try.body)
		if kind == "application/problem+json" {
			w.silent("a problem", answer)
		} else if status == 0 && answer != "" {
			w.Errorf("no status, but %q", answer)
		}
	}
}

// send returns zeros where the connection breaks.
func (w *whisper) send(path, caller, key, body string) (status int, kind, answer string) {
	req, err := http.NewRequest("POST", w.URL+path+"?canary=query", io.NopCloser(strings.NewReader(body)))
	if err != nil {
		w.Fatal(err)
	}
	req.Header = http.Header{"Idempotency-Key": {key}, "Cookie": {"session=canary-cookie"}}
	if caller != "" {
		req.Header.Set("Authorization", caller)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, "", ""
	}
	defer res.Body.Close()
	data, _ := io.ReadAll(res.Body)
	var head strings.Builder
	res.Header.Write(&head)
	return res.StatusCode, res.Header.Get("Content-Type"), head.String() + string(data)
}

func (w *whisper) get(path string) string {
	w.Helper()
	res, err := http.Get(w.Admin + path)
	if err != nil {
		w.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

// whileStoreIsDown holds the lock of the store's file, so that no claim gets through.
func (w *whisper) whileStoreIsDown(do func()) {
	w.Helper()
	db, err := sql.Open("sqlite", "file:"+w.file+"?_pragma=busy_timeout(10000)")
	if err != nil {
		w.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(context.Background())
	if err != nil {
		w.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		w.Fatal(err)
	}
	do()
	if _, err := conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
		w.Fatal(err)
	}
}

// run returns what the binary says.
func run(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // only a failing test gets there
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"HOME=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Errorf("%q runs on: %s", args, out)
	} else if err != nil && len(out) == 0 {
		t.Errorf("%q: %v", args, err)
	}
	return string(out)
}

// A stranger under the same key gets an answer of his own, and nothing of the first
// caller's, whatever became of that one.
func TestStrangersGetNothingOfOthers(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(w, r.Body)
	}))
	t.Cleanup(service.Close)
	w := &whisper{T: t, file: filepath.Join(t.TempDir(), "semel.sqlite")}
	w.Process = gateway.Start(t, binary, service.URL, w.file, "--principal", "header:Authorization")
	w.send("/", "canary-alice", `"k"`, "canary-body")
	for _, body := range []string{"of bob", "of bob", "another of bob"} {
		_, _, answer := w.send("/", "bob", `"k"`, body)
		w.silent("the answer to a stranger", answer)
	}
}

// Mistakes in settings are told without the secrets in them.
func TestConfigErrorsTellNoSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	w := &whisper{T: t}
	for name, args := range map[string][]string{
		"upstream":    {"--upstream", "http://shop:canary@127.0.0.1:1"},
		"upstream 2":  {"--upstream", "ftp://shop:canary@127.0.0.1:1"},
		"store":       {"--store", "postgres://semel:canary@127.0.0.1/db"},
		"store 2":     {"--store", "rediss://:canary@127.0.0.1:1"},
		"secret file": {"--secret-file", file("secret", "canary")},
		"key set":     {"--principal", "jwt:sub", "--jwks", file("jwks", `{"keys":["canary"]}`)},
		"key set 2":   {"--principal", "jwt:sub", "--jwks", "https://x:canary@127.0.0.1:1/"},
		"authoriser":  {"--authorize", "http://x:canary@127.0.0.1:1/"},
		"private key": {"--tls-cert", file("cert", "canary"), "--tls-key", file("key", "canary")},
	} {
		all := append([]string{"proxy", "--upstream", "http://127.0.0.1:1", "--principal", "global", "--store", "memory:", "--listen", "127.0.0.1:0", "--admin", "off"}, args...)
		w.silent("the mistake in the "+name, run(t, all...))
	}
}
