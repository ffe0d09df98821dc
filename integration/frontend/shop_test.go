package frontend

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// shop is the service behind the gateway. It knows nothing of keys: each order that
// reaches it is one.
type shop struct {
	mu     sync.Mutex
	page   string   // at /
	orders []string // the amounts
	runs   int      // of the handler, rejected orders included
	gate   *gate    // holds the next orders back, if there is one
	other  string   // where /away leads
	told   chan string
}

func newShop(page string) *shop { return &shop{page: page, told: make(chan string, 100)} }

// gate holds requests back until the test says so.
type gate struct {
	arrived chan struct{} // one for each request
	open    chan struct{}
	once    sync.Once
}

// hold makes the next orders wait until release, at the latest until the test ends.
func (s *shop) hold(t *testing.T) *gate {
	g := &gate{arrived: make(chan struct{}, 100), open: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gate = g
	t.Cleanup(g.release)
	return g
}

func (g *gate) release() { g.once.Do(func() { close(g.open) }) }

func (s *shop) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { s.show(w, s.page) })
	mux.HandleFunc("GET /orders/{n}", func(w http.ResponseWriter, r *http.Request) { s.show(w, "Order "+html.EscapeString(r.PathValue("n"))) })
	mux.HandleFunc("GET /settled/{n}", func(w http.ResponseWriter, r *http.Request) {
		s.show(w, "Order "+html.EscapeString(r.PathValue("n"))+scriptTag+`<script>semel.answered()</script>`)
	})
	for _, name := range []string{"semel.global.js", "semel.min.js"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFile(w, r, filepath.Join(client, "dist", name))
		})
	}
	mux.HandleFunc("GET /htmx.js", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(client, "node_modules", "htmx.org", "dist", "htmx.min.js"))
	})
	mux.HandleFunc("POST /told", func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		s.told <- string(text)
	})
	mux.HandleFunc("POST /orders", s.see("/orders/", http.StatusSeeOther))
	mux.HandleFunc("POST /settled", s.see("/settled/", http.StatusSeeOther))
	mux.HandleFunc("POST /api", s.see("", http.StatusCreated))
	mux.HandleFunc("POST /fails/{status}", func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(r.PathValue("status"))
		http.Error(w, "something went wrong", status)
	})
	mux.HandleFunc("POST /away", s.see("elsewhere", http.StatusSeeOther))
	return mux
}

// show sends a page.
func (s *shop) show(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!doctype html><link rel=icon href=data:,><title>Shop</title><main>%s</main>", body)
}

// see is the handler of orders, which sends the browser to the order's page, or says
// its number.
func (s *shop) see(to string, status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.wait()
		n, problem := s.order(r.FormValue("amount"), r.FormValue("how"))
		switch {
		case problem != "":
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, problem)
		case to == "":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"text":"Order %d"}`, n)
		case to == "elsewhere":
			http.Redirect(w, r, s.other, status)
		default:
			http.Redirect(w, r, fmt.Sprint(to, n), status)
		}
	}
}

func (s *shop) wait() {
	s.mu.Lock()
	g := s.gate
	s.mu.Unlock()
	if g != nil {
		g.arrived <- struct{}{}
		<-g.open
	}
}

// order takes an order and returns its number, or what is wrong with it.
func (s *shop) order(amount, how string) (n int, problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs++
	if _, err := strconv.Atoi(amount); err != nil {
		return 0, "The amount is no number."
	}
	s.orders = append(s.orders, amount+how)
	return len(s.orders), ""
}

// has fails the test unless these are the orders.
func (s *shop) has(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.orders, want) {
		t.Errorf("the shop has the orders %q, want %q", s.orders, want)
	}
}

func (s *shop) executed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs
}
