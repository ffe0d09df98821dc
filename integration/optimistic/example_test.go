package optimistic

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/semel-go/semel/optimistic"
)

// document is a row that people edit.
type document struct {
	Title   string `json:"title"`
	version int64
}

// library is a service of documents.
type library struct{ db *sql.DB }

func (l *library) find(ctx context.Context, id string) (d document, exists bool, err error) {
	err = l.db.QueryRowContext(ctx, "SELECT title, version FROM document WHERE id = ?", id).Scan(&d.Title, &d.version)
	if errors.Is(err, sql.ErrNoRows) {
		return document{}, false, nil
	}
	return d, err == nil, err
}

func (l *library) save(ctx context.Context, id string, seen int64, d document) error {
	return optimistic.Exec(ctx, l.db, optimistic.Change{
		Update:  "UPDATE document SET title = ?, version = version + 1 WHERE id = ? AND version = ?",
		Args:    []any{d.Title, id, seen},
		Current: "SELECT version FROM document WHERE id = ?", CurrentArgs: []any{id},
		Version: seen,
	})
}

func (l *library) get(w http.ResponseWriter, r *http.Request) {
	d, exists, err := l.find(r.Context(), r.PathValue("id"))
	switch {
	case err != nil:
		http.Error(w, "try again later", http.StatusServiceUnavailable)
		return
	case !exists:
		http.Error(w, "no such document", http.StatusNotFound)
		return
	}
	w.Header().Set("ETag", optimistic.ETagOf(d.version).String())
	pre, err := optimistic.PreconditionsOf(r.Header)
	if err == nil {
		err = pre.Check(r.Method, optimistic.ETagOf(d.version), exists)
	}
	if optimistic.Answer(w, r, err) {
		return
	}
	json.NewEncoder(w).Encode(d)
}

// put compares with the version that it reads, and changes the row of that version only.
func (l *library) put(w http.ResponseWriter, r *http.Request) {
	var changed document
	if err := json.NewDecoder(r.Body).Decode(&changed); err != nil {
		http.Error(w, "no document", http.StatusBadRequest)
		return
	}
	now, exists, err := l.find(r.Context(), r.PathValue("id"))
	pre, unusable := optimistic.PreconditionsOf(r.Header)
	if err == nil {
		err = unusable
	}
	if err == nil {
		err = pre.Check(r.Method, optimistic.ETagOf(now.version), exists)
	}
	if err == nil {
		err = l.save(r.Context(), r.PathValue("id"), now.version, changed)
	}
	switch {
	case optimistic.Answer(w, r, err):
	case err != nil:
		http.Error(w, "try again later", http.StatusServiceUnavailable)
	default:
		w.Header().Set("ETag", optimistic.ETagOf(now.version+1).String())
		w.WriteHeader(http.StatusNoContent)
	}
}

func (l *library) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /documents/{id}", l.get)
	mux.Handle("PUT /documents/{id}", optimistic.Required(http.HandlerFunc(l.put)))
	return mux
}

// openLibrary opens a library with one document.
func openLibrary() (l *library, end func() error, err error) {
	dir, err := os.MkdirTemp("", "library")
	if err != nil {
		return nil, nil, err
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "library.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, nil, err
	}
	for _, statement := range []string{
		"CREATE TABLE document (id TEXT NOT NULL PRIMARY KEY, title TEXT NOT NULL, version INT NOT NULL, views INT NOT NULL DEFAULT 0)",
		"INSERT INTO document (id, title, version) VALUES ('1', 'Draft', 1)",
	} {
		_, failure := db.Exec(statement)
		err = errors.Join(err, failure)
	}
	return &library{db}, func() error { return errors.Join(db.Close(), os.RemoveAll(dir)) }, err
}

// Two people edit one document: the second is told that it has changed.
func Example_http() {
	library, end, err := openLibrary()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer end()
	h := library.handler()
	send := func(method, body string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "/documents/1", strings.NewReader(body))
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}

	seen := send("GET", "").Header().Get("ETag") // by both
	fmt.Println("no If-Match:", send("PUT", `{"title":"x"}`).Code)
	fmt.Println("ann:", send("PUT", `{"title":"Ann's"}`, "If-Match", seen).Code)
	bob := send("PUT", `{"title":"Bob's"}`, "If-Match", seen)
	var problem struct{ Code, Retry string }
	_ = json.NewDecoder(io.LimitReader(bob.Body, 1<<20)).Decode(&problem)
	fmt.Println("bob:", bob.Code, problem.Code, problem.Retry)
	fmt.Print("kept: ", send("GET", "").Body)
	fmt.Println("again:", send("GET", "", "If-None-Match", `"2"`).Code)
	// Output:
	// no If-Match: 428
	// ann: 204
	// bob: 412 precondition-failed new-key
	// kept: {"title":"Ann's"}
	// again: 304
}

// A change that makes sense on every version is repeated on the new one.
func Example_update() {
	library, end, err := openLibrary()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer end()
	ctx, db, id := context.Background(), library.db, "1"
	err = optimistic.Update(ctx, db, nil, func(ctx context.Context) (optimistic.Change, error) {
		var views, version int64
		if err := db.QueryRowContext(ctx, "SELECT views, version FROM document WHERE id = ?", id).Scan(&views, &version); err != nil {
			return optimistic.Change{}, err
		}
		return optimistic.Change{
			Update:  "UPDATE document SET views = ?, version = version + 1 WHERE id = ? AND version = ?",
			Args:    []any{views + 1, id, version},
			Current: "SELECT version FROM document WHERE id = ?", CurrentArgs: []any{id},
			Version: version,
		}, nil
	})
	fmt.Println(err)
	// Output: <nil>
}
