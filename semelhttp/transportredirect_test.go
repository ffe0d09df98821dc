package semelhttp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/semel-go/semel/semelhttp"
)

// site is a server that keeps what reached it.
type site struct {
	*httptest.Server
	mu   sync.Mutex
	seen []seenRequest
}

type seenRequest struct{ method, path, key, body string }

// newSite redirects as the query parameters to and status say, else answers 200.
func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.seen = append(s.seen, seenRequest{r.Method, r.URL.Path, r.Header.Get("Idempotency-Key"), string(body)})
		s.mu.Unlock()
		switch r.URL.Path {
		case "/307":
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusTemporaryRedirect)
		case "/308":
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusPermanentRedirect)
		case "/303":
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusSeeOther)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// follow posts to a site that redirects, with a key of the caller in one case and
// a made one in the other, and a body that can be read once.
func follow(t *testing.T, url string, given bool) *http.Response {
	t.Helper()
	client, err := semelhttp.NewClient(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	req, _ := http.NewRequestWithContext(t.Context(), "POST", url, io.MultiReader(strings.NewReader("ten")))
	if given {
		req.Header.Set("Idempotency-Key", "given-1")
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	client.HTTP().CloseIdleConnections()
	return resp
}

func TestRedirectsKeepKeyAndBody(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/307", "/308"} {
		for _, given := range []bool{false, true} {
			s := newSite(t)
			resp := follow(t, s.URL+path+"?to=/307%3Fto=/end", given)
			if len(s.seen) != 3 {
				t.Fatalf("seen %v", s.seen)
			}
			for _, r := range s.seen {
				if r.key == "" || r.key != s.seen[0].key || r.key != semelhttp.SentKey(resp) || r.body != "ten" || r.method != "POST" {
					t.Errorf("%s, given %v: seen %v", path, given, s.seen)
				}
			}
		}
	}
}

// A key is a secret between two: it goes to nobody else, also if the caller set
// it, and whoever is redirected back to the first origin keeps it.
func TestRedirectsElsewhereDropTheKey(t *testing.T) {
	t.Parallel()
	for _, given := range []bool{false, true} {
		home, other := newSite(t), newSite(t)
		follow(t, home.URL+"/307?to="+other.URL+"/307%3Fto="+home.URL+"/end", given)
		if len(home.seen) != 2 || len(other.seen) != 1 {
			t.Fatalf("seen %v and %v", home.seen, other.seen)
		}
		if r := other.seen[0]; r.key != "" || r.body != "ten" {
			t.Errorf("given %v: the other origin saw %v", given, r)
		}
		if home.seen[0].key == "" || home.seen[1].key != home.seen[0].key {
			t.Errorf("given %v: the first origin saw %v", given, home.seen)
		}
	}
}

// What was not sent is not named as sent: a caller who keeps the key of an answer, or
// of a problem, would ask the wrong service with it.
func TestSentKeyIsNoneElsewhere(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/307", "/303"} {
		home, other := newSite(t), newSite(t)
		resp := follow(t, home.URL+path+"?to="+other.URL+"/end", true)
		if len(other.seen) != 1 || other.seen[0].key != "" || semelhttp.SentKey(resp) != "" {
			t.Errorf("%s: SentKey is %q, seen %v", path, semelhttp.SentKey(resp), other.seen)
		}
	}
}

func TestRedirectsWithoutAMethodThatTakesKeys(t *testing.T) {
	t.Parallel()
	for _, given := range []bool{false, true} {
		s := newSite(t)
		resp := follow(t, s.URL+"/303?to=/end", given)
		if len(s.seen) != 2 || s.seen[1] != (seenRequest{"GET", "/end", "", ""}) {
			t.Errorf("given %v: seen %v", given, s.seen)
		}
		if key := semelhttp.SentKey(resp); key == "" || key != s.seen[0].key {
			t.Errorf("SentKey is %q", key)
		}
	}
}
