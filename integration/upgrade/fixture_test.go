package upgrade

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/storetest"
)

const recordsFile = "records.json"

// view is a record as the fixture shows it to people and to later versions.
type view struct {
	Name, Key, State, Policy, Fingerprint, ScopeID, Operation, KeyText string

	Fence            semel.Fence
	Attempt          int
	LeaseLeft        time.Duration
	ExpiresIn        time.Duration
	ResultKind       semel.ResultKind
	Result           string
	Checkpoint       string
	StartedAt, Since time.Time
	Cause            string
}

func viewOf(name string, r semel.Record) view {
	return view{
		Name: name, Key: r.Key.String(), State: r.State.String(), Policy: r.Policy.String(), Fingerprint: hex.EncodeToString(r.Fingerprint[:]),
		ScopeID: hex.EncodeToString(r.ScopeID[:]), Operation: r.Operation, KeyText: r.KeyText,
		Fence: r.Fence, Attempt: r.Attempt, LeaseLeft: r.LeaseLeft, ExpiresIn: r.ExpiresIn, ResultKind: r.Result.Kind, Result: string(r.Result.Data),
		Checkpoint: string(r.Checkpoint), StartedAt: r.StartedAt, Since: r.Since, Cause: r.Cause.String(),
	}
}

// views reads all situations as they are now.
func views(t *testing.T, store semel.Store) []byte {
	t.Helper()
	var all []view
	for _, s := range situations {
		r, err := store.Read(t.Context(), semel.ReadParams{Key: situationKey(s.name)})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, viewOf(s.name, r))
	}
	text, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// write makes a fixture: the situations, what engines did, answers over HTTP, and
// how all that reads an hour later.
func write(t *testing.T, dir string) {
	t.Helper()
	store, clock := open(t, filepath.Join(dir, storeFile))
	for _, s := range situations {
		s.write(newWriter(t, store, s.name))
	}
	call(t, store, true)
	shop := openShop(t, engineOn(t, store, nil))
	for _, name := range requests {
		shop.send(t, name, "the same body")
		save(t, filepath.Join(dir, name+".http"), []byte(shop.send(t, name, "the same body")))
	}
	if runs := shop.runs.Load(); runs != int64(len(requests)) {
		t.Fatalf("the shop ran %d times", runs)
	}
	advance(t, clock)
	save(t, filepath.Join(dir, recordsFile), views(t, store))
	if _, err := store.DB().ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
}

func advance(t *testing.T, clock *storetest.Clock) {
	t.Helper()
	if err := clock.Advance(t.Context(), later); err != nil {
		t.Fatal(err)
	}
}

func save(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What this version writes is what the format says, byte for byte (but for the
// engine's random tokens). Whoever changes that has to raise semel.RecordFormat,
// or older versions, which still run during an upgrade, would misread it.
func TestWriterIsFrozen(t *testing.T) {
	t.Parallel()
	fixture := fixtureOf(semel.RecordFormat)
	if *writeFixture {
		create(t, fixture)
	}
	dir := t.TempDir()
	write(t, dir)
	for _, name := range append([]string{recordsFile}, answerFiles()...) {
		if got, want := load(t, filepath.Join(dir, name)), load(t, filepath.Join(fixture, name)); got != want {
			t.Errorf("%s differs from the fixture:\n%s\nwant\n%s", name, got, want)
		}
	}
	got, want := dump(t, openFixture(t, dir), "token"), dump(t, openFixture(t, fixture), "token")
	if !slices.Equal(got, want) {
		t.Errorf("the rows differ from the fixture's; raise semel.RecordFormat if that is meant:\n%q\nwant\n%q", got, want)
	}
}

func answerFiles() (names []string) {
	for _, name := range requests {
		names = append(names, name+".http")
	}
	return names
}

// create writes a fixture that is not there yet.
func create(t *testing.T, dir string) {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s is there (%v): a released format is never changed; raise semel.RecordFormat first", dir, err)
	}
	fresh := t.TempDir()
	t.Run("write", func(t *testing.T) { // at its end all stores are closed, so the files are whole
		write(t, fresh)
		writeGateway(t, fresh)
		saveRedis(t, filepath.Join(fresh, redisFile), writeRedis(t))
	})
	if t.Failed() {
		t.FailNow()
	}
	if err := os.CopyFS(dir, os.DirFS(fresh)); err != nil {
		t.Fatal(err)
	}
}
