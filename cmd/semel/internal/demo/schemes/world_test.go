package schemes

import (
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/semel-go/semel/cmd/semel/internal/storeurl"
)

// world is a player on files of its own.
type world struct {
	*Player
	t       *testing.T
	changed chan struct{}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	folder := t.TempDir()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, "tables.db")+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustNot(t, db.Close()) })
	if _, err := db.ExecContext(t.Context(), Tables); err != nil {
		t.Fatal(err)
	}
	store, err := storeurl.Open(t.Context(), "sqlite:"+filepath.Join(folder, "records.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustNot(t, store.Close()) })
	w := &world{t: t, changed: make(chan struct{}, 1)}
	w.Player, err = New(Options{DB: db, Store: store.Store, Log: slog.New(slog.DiscardHandler), Changed: w.ring, Pace: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustNot(t, w.Close()) })
	return w
}

func (w *world) ring() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func mustNot(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// run plays a way to its end.
func (w *world) run(scheme, way string) Run {
	w.t.Helper()
	if !w.Play(scheme, way) {
		w.t.Fatalf("there is no %s %s", scheme, way)
	}
	for range w.changed {
		if r, _ := w.Last(scheme, way); r.Ended {
			return r
		}
	}
	return Run{}
}

// said lists what a run tells: who, what, and how that bears on it.
func said(r Run) (all []string) {
	for _, s := range r.Steps {
		all = append(all, fmt.Sprintf("%s %s %s", s.Who, s.What, s.Tone))
	}
	return all
}
