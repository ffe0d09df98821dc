package frontend

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/semel-go/semel/integration/internal/gateway"
	"github.com/semel-go/semel/semeltest"
)

// street is all that a browser meets: the network, the gateway, and the shop.
type street struct {
	*shop
	t   *testing.T
	url string
	cut *semeltest.CutProxy // has accidents with the POSTs

	losing atomic.Bool // cut the answer of each POST

	mu   sync.Mutex
	sent []posted
}

// posted is one POST, as it left the browser.
type posted struct {
	path string
	key  string
}

// open builds a street whose shop shows page.
func open(t *testing.T, page string, flags ...string) *street {
	t.Helper()
	need(t)
	t.Parallel()
	s := &street{t: t, shop: newShop(page)}
	upstream := serve(t, s.shop.handler())
	g := gateway.Start(t, binary, upstream, filepath.Join(t.TempDir(), "semel.db"), flags...)
	s.behind(g.URL)
	return s
}

// behind puts the network before a server.
func (s *street) behind(target string) {
	s.t.Helper()
	calm, err := semeltest.NewCutProxy(target)
	if err != nil {
		s.t.Fatal(err)
	}
	s.cut, err = semeltest.NewCutProxy(target)
	if err != nil {
		s.t.Fatal(err)
	}
	s.url = serve(s.t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			calm.ServeHTTP(w, r)
			return
		}
		s.note(r)
		if s.losing.Load() {
			s.cut.Next(semeltest.CutReply)
		}
		s.cut.ServeHTTP(w, r)
	}))
	s.t.Cleanup(func() { calm.Close(); s.cut.Close() })
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	srv.Start()
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL
}

func (s *street) note(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/told" {
		return
	}
	s.sent = append(s.sent, posted{r.URL.Path, r.Header.Get("Idempotency-Key")})
}

// keys are those of all POSTs so far.
func (s *street) keys() (keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.sent {
		keys = append(keys, p.key)
	}
	return keys
}

// oneKey fails the test unless at least n POSTs were sent, all with the same key.
func (s *street) oneKey(n int) {
	s.t.Helper()
	keys := s.keys()
	if len(keys) < n {
		s.t.Errorf("%d POSTs were sent, want at least %d", len(keys), n)
	}
	for _, key := range keys {
		if key == "" || key != keys[0] {
			s.t.Errorf("the keys are %q, want one", keys)
		}
	}
}
