package upgrade

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/sqlstore"
)

// After a rollback there are records of the next format. No method changes them,
// each says so by type, and the purge leaves them.
func TestRecordsOfTheNextFormatAreLeftAlone(t *testing.T) {
	t.Parallel()
	store, clock := open(t, copyOf(t, filepath.Join(fixtureOf(semel.RecordFormat), storeFile)))
	advance(t, clock)
	execute(t, store, "UPDATE semel_record SET format = format + 1")
	before := dump(t, store, "")
	refusedByAll(t, store)
	if err := clock.Advance(t.Context(), 1000*time.Hour); err != nil { // all that can expire has
		t.Fatal(err)
	}
	if res, err := store.Purge(t.Context(), semel.PurgeParams{Limit: 1000}); err != nil || res.Purged != 0 {
		t.Errorf("purge: %+v, %v", res, err)
	}
	if after := dump(t, store, ""); !slices.Equal(after, before) {
		t.Errorf("the rows were changed from\n%q to\n%q", before, after)
	}
}

// refusedByAll calls every method on every record.
func refusedByAll(t *testing.T, store semel.Store) {
	t.Helper()
	for _, s := range situations {
		w := newWriter(t, store, s.name)
		w.Lease = time.Minute
		for method, err := range everyMethod(w) {
			if f, ok := errors.AsType[*semel.RecordFormatError](err); !ok || f.Format != semel.RecordFormat+1 {
				t.Errorf("%s, %s: %v; want a *RecordFormatError", s.name, method, err)
			}
		}
	}
}

func everyMethod(w *writer) map[string]error {
	ctx, errs := w.t.Context(), map[string]error{}
	_, errs["claim"] = w.store.Claim(ctx, w.ClaimParams)
	_, errs["renew"] = w.store.Renew(ctx, semel.RenewParams{Key: w.Key, Token: w.Token, Lease: w.Lease})
	errs["finish"] = w.finish(semel.FinishParams{State: semel.StateDone})
	_, errs["read"] = w.store.Read(ctx, semel.ReadParams{Key: w.Key})
	_, errs["resolve"] = w.store.Resolve(ctx, semel.ResolveParams{Key: w.Key, Token: w.Token, Resolution: semel.ResolveDelete})
	return errs
}

// Forward, back, forward again: in between nothing runs and clients are told so;
// afterwards everything is replayed as if nothing had been.
func TestRollbackAndForwardAgain(t *testing.T) {
	t.Parallel()
	dir := fixtureOf(semel.RecordFormat)
	store := openFixture(t, dir)
	execute(t, store, "UPDATE semel_record SET format = format + 1")
	e := engineOn(t, store, nil)
	shop := openShop(t, e)
	for _, name := range requests {
		got := shop.send(t, name, "the same body")
		if !strings.HasPrefix(status(got), "409 ") || !strings.Contains(got, `"result-unavailable"`) {
			t.Errorf("%s of the next format: %s", name, got)
		}
	}
	_, err := semel.Do(t.Context(), e, callOf("plain a value"), func(context.Context) (charge, error) {
		t.Error("an operation of the next format ran again")
		return charge{}, nil
	})
	if _, ok := errors.AsType[*semel.RecordFormatError](err); !ok {
		t.Errorf("%v; want a *RecordFormatError", err)
	}
	execute(t, store, "UPDATE semel_record SET format = format - 1")
	for _, name := range requests {
		if got, want := shop.send(t, name, "the same body"), load(t, filepath.Join(dir, name+".http")); got != want {
			t.Errorf("%s after the rollback was taken back: got\n%q\nwant\n%q", name, got, want)
		}
	}
	if runs := shop.runs.Load(); runs != 0 {
		t.Errorf("the shop ran %d times", runs)
	}
}

// The encoding of answers has a version of its own. One from the future is told as
// not available, does not run again and stays as it is.
func TestAnswersOfTheNextEncoding(t *testing.T) {
	t.Parallel()
	store := openFixture(t, fixtureOf(semel.RecordFormat))
	execute(t, store, "UPDATE semel_record SET result = CAST(x'02' || substr(result, 2) AS BLOB) WHERE result_kind = 4")
	before := dump(t, store, "")
	shop := openShop(t, engineOn(t, store, nil))
	for _, name := range requests {
		got := shop.send(t, name, "the same body")
		if !strings.HasPrefix(status(got), "409 ") || !strings.Contains(got, `"result-unavailable"`) {
			t.Errorf("%s of the next encoding: %s", name, got)
		}
	}
	if shop.runs.Load() != 0 || !slices.Equal(dump(t, store, ""), before) {
		t.Errorf("the shop ran %d times, or the rows were changed", shop.runs.Load())
	}
}

// A schema that a newer version made and calls compatible works as before, with a
// column and a table more.
func TestCompatibleNewerSchema(t *testing.T) {
	t.Parallel()
	dir := fixtureOf(semel.RecordFormat)
	file := copyOf(t, filepath.Join(dir, storeFile))
	newer, _ := open(t, file)
	execute(t, newer, "ALTER TABLE semel_record ADD COLUMN region TEXT NOT NULL DEFAULT 'eu'")
	execute(t, newer, "CREATE TABLE semel_quota (scope_id BLOB PRIMARY KEY)")
	execute(t, newer, "INSERT INTO semel_schema SELECT max(version) + 1, max(compatible), 0 FROM semel_schema")
	store, clock := open(t, file)
	advance(t, clock)
	if got, want := string(views(t, store)), load(t, filepath.Join(dir, recordsFile)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	call(t, store, false)
	w := newWriter(t, store, "a new one")
	w.claim(time.Minute)
	w.done(semel.ResultValue, "x")
}

// A schema that needs a newer program is refused at start, with the fix, and is
// not touched.
func TestIncompatibleNewerSchema(t *testing.T) {
	t.Parallel()
	file := copyOf(t, filepath.Join(fixtureOf(semel.RecordFormat), storeFile))
	newer, clock := open(t, file)
	execute(t, newer, "INSERT INTO semel_schema SELECT max(version) + 1, max(version) + 1, 0 FROM semel_schema")
	before := dump(t, newer, "")
	older, err := openAt(t.Context(), file, clock.Now)
	if err == nil {
		older.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "upgrade Semel here") {
		t.Errorf("%v; want a refusal that names the fix", err)
	}
	if after := dump(t, newer, ""); !slices.Equal(after, before) {
		t.Errorf("the rows were changed from\n%q to\n%q", before, after)
	}
}

func execute(t *testing.T, s *sqlstore.Store, statement string) {
	t.Helper()
	if _, err := s.DB().ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
