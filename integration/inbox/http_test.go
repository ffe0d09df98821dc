package inbox

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/semel-go/semel/inbox"
	"github.com/semel-go/semel/integration/internal/faultproxy"
	"github.com/semel-go/semel/pgxstore"
	"github.com/semel-go/semel/semelhttp"
)

func TestHandlers(t *testing.T) {
	t.Parallel()
	everywhere(t, []rule{
		{name: "a success is committed and replayed", run: handlerSucceeds, free: true},
		{name: "a recorded failure is undone and replayed", run: handlerFails, free: true},
		{name: "an error of the server leaves nothing", run: handlerBreaks, free: true},
		{name: "parallel duplicates have one effect", run: handlerCrowd, free: true},
		{name: "a commit that is refused is no success", run: handlerNotCommitted, free: true},
	})
}

func TestHandlerWhoseCommitGotNoReply(t *testing.T) {
	t.Parallel()
	for _, w := range servers() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			f, proxy := w.behindProxy(t)
			shop := newShop(t, f.box(t, nil))
			armed := proxy.Arm(commit, faultproxy.CutReply())
			shop.want(t, "k", "201", 201, "took 201")
			mustHaveFired(t, armed)
			shop.want(t, "k", "201", 201, "took 201")
			if n := f.times(t, "201"); n != 1 {
				t.Errorf("%d effects", n)
			}
		})
	}
}

// shop is a service whose handler withdraws and answers with the status that the
// request names.
type shop struct{ url string }

func newShop(t *testing.T, b box) *shop {
	t.Helper()
	guard, err := semelhttp.Transactional(b, semelhttp.HeaderPrincipal("X-User"), nil)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(guard(http.HandlerFunc(take)))
	t.Cleanup(srv.Close)
	return &shop{srv.URL}
}

func take(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	status, name := 200, string(body)
	if n, err := strconv.Atoi(name); err == nil {
		status = n
	}
	if _, err := withdraw(r.Context(), txOf(r.Context()), name, 1); err != nil {
		http.Error(w, "the database failed", http.StatusInternalServerError)
		return
	}
	if name == "deferred" {
		_ = txOf(r.Context()).exec(r.Context(), "INSERT INTO child (parent) VALUES (1)")
	}
	w.WriteHeader(status)
	fmt.Fprint(w, "took ", name)
}

// txOf is the transaction of a handler, of either kind.
func txOf(ctx context.Context) execer {
	if tx, ok := inbox.TxFrom(ctx); ok {
		return sqlTx{tx}
	}
	tx, _ := pgxstore.TxFrom(ctx)
	return pgxTx{tx}
}

// post returns the status, the body, and whether it is a replay.
func (s *shop) post(t *testing.T, key, body string) (status int, text string, replayed bool) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-User", "alice")
	r.Header.Set("Idempotency-Key", key)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, "", false
	}
	defer resp.Body.Close()
	got, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(got), resp.Header.Get("Idempotent-Replayed") == "true"
}

func (s *shop) want(t *testing.T, key, body string, status int, text string) {
	t.Helper()
	if got, said, _ := s.post(t, key, body); got != status || !strings.Contains(said, text) {
		t.Errorf("%s: %d %q; want %d %q", body, got, said, status, text)
	}
}

func handlerSucceeds(t *testing.T, f *fixture) {
	s := newShop(t, f.box(t, nil))
	s.want(t, "k", "201", 201, "took 201")
	s.want(t, "k", "201", 201, "took 201")
	s.want(t, "k", "202", 422, "key-reused")
	if n := f.times(t, "201"); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}

func handlerFails(t *testing.T, f *fixture) {
	s := newShop(t, f.box(t, nil))
	s.want(t, "k", "409", 409, "took 409")
	if _, _, replayed := s.post(t, "k", "409"); !replayed {
		t.Error("the second answer is no replay")
	}
	if n := f.times(t, "409"); n != 0 {
		t.Errorf("%d effects, want none", n)
	}
}

func handlerBreaks(t *testing.T, f *fixture) {
	s := newShop(t, f.box(t, nil))
	for range 2 {
		if status, _, replayed := s.post(t, "k", "500"); status != 500 || replayed {
			t.Errorf("status %d, replayed %v", status, replayed)
		}
	}
	if n := f.number(t, "SELECT COUNT(*) FROM semel_record") + f.times(t, "500"); n != 0 {
		t.Errorf("%d records and effects, want none", n)
	}
}

// Each of four clients gets the success, or is told that it is under way, or that too
// many wait.
func handlerCrowd(t *testing.T, f *fixture) {
	s := newShop(t, f.box(t, nil))
	var clients sync.WaitGroup
	for i := range 40 {
		clients.Go(func() {
			name := fmt.Sprint("crowd", i/4)
			status, text, _ := s.post(t, name, name)
			if status != 200 && !strings.Contains(text, "in-progress") && !strings.Contains(text, "overloaded") {
				t.Errorf("%s: %d %s", name, status, text)
			}
		})
	}
	clients.Wait()
	if n := f.number(t, "SELECT COUNT(*) FROM withdrawal"); n != 10 {
		t.Errorf("%d effects of 10 keys", n)
	}
}

// A constraint that is checked at the commit: the success that the handler said must
// not go out.
func handlerNotCommitted(t *testing.T, f *fixture) {
	if !f.world.aborts {
		return // PostgreSQL alone checks at the commit by itself
	}
	for _, text := range []string{
		"CREATE TABLE parent (id INTEGER PRIMARY KEY)",
		"CREATE TABLE child (parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)",
	} {
		if _, err := f.db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	s := newShop(t, f.box(t, nil))
	s.want(t, "k", "deferred", 503, "store-unavailable")
	if n := f.number(t, "SELECT COUNT(*) FROM semel_record") + f.times(t, "deferred"); n != 0 {
		t.Errorf("%d records and effects, want none", n)
	}
	if _, err := f.db.ExecContext(t.Context(), "INSERT INTO parent (id) VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	s.want(t, "k", "deferred", 200, "took deferred")
}
