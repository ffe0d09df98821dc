package sizing

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/sqlstore"
	"github.com/semel-go/semel/storetest"
	"modernc.org/sqlite"
)

var records = flag.Int("records", 2000, "how many records to measure with")

// sizes are those of the results in the guide's table.
var sizes = []int{0, 300, 1 << 10, 10 << 10}

// The guide's figures are those of today's stores, within a tenth.
func TestBytesPerRecord(t *testing.T) {
	t.Parallel()
	guide := guideRows(t)
	for _, size := range sizes {
		file, memory := inSQLite(t, size, *records), inMemory(t, size, *records)
		t.Logf("figures: result of %d bytes: %d bytes a record in SQLite, %d in memory", size, file, memory)
		row, ok := guide[size]
		if !ok {
			t.Errorf("docs/sizing.md has no row for %d bytes", size)
		} else if !close10(row[0], file) || !close10(row[1], memory) {
			t.Errorf("docs/sizing.md says %d and %d for a result of %d bytes", row[0], row[1], size)
		}
	}
}

func close10(said, measured int) bool { return max(said, measured)*10 <= min(said, measured)*11 }

var rowForm = regexp.MustCompile(`(?m)^\| ([0-9,]+) B \| ([0-9,]+) B \| ([0-9,]+) B \|`)

// guideRows are the rows of the guide's table: SQLite and memory by the result's size.
func guideRows(t *testing.T) map[int][2]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "sizing.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[int][2]int{}
	for _, m := range rowForm.FindAllStringSubmatch(string(text), -1) {
		rows[number(t, m[1])] = [2]int{number(t, m[2]), number(t, m[3])}
	}
	return rows
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A file in constant use: records come, expire and are purged, and their place is
// used again. It must not grow beyond what the guide allows for.
func TestFileInConstantUse(t *testing.T) {
	t.Parallel()
	const size, generations = 300, 6
	store, clock, file := openSQLite(t)
	live := *records
	var first, last int64
	for g := range generations * 4 { // a quarter of the records at a time
		fill(t, store, g*live/4, live/4, size)
		if err := clock.Advance(t.Context(), retention/4); err != nil {
			t.Fatal(err)
		}
		for more := true; more; {
			res, err := store.Purge(t.Context(), semel.PurgeParams{Limit: 500})
			if err != nil {
				t.Fatal(err)
			}
			more = res.More
		}
		if last = sizeOf(t, store, file); g == 3 {
			first = last
		}
	}
	t.Logf("figures: a file of %d live records: %d bytes a record at first, %d after %d retentions", live, first/int64(live), last/int64(live), generations)
	if last > first*3/2 {
		t.Errorf("the file has grown from %d to %d bytes with as many records; docs/sizing.md allows for a half more", first, last)
	}
}

const retention = time.Hour

func openSQLite(t *testing.T) (*sqlstore.Store, *storetest.Clock, string) {
	t.Helper()
	file, clock := filepath.Join(t.TempDir(), "semel.db"), storetest.NewClock()
	connector, err := sqlstore.Connector(&sqlite.Driver{}, file)
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlstore.OpenSQLite(t.Context(), connector, &sqlstore.Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store, clock, file
}

// sizeOf is what the store takes on disk once the log is in the file.
func sizeOf(t *testing.T, store *sqlstore.Store, file string) (bytes int64) {
	t.Helper()
	if _, err := store.DB().ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, file + "-wal"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		bytes += info.Size()
	}
	return bytes
}

func inSQLite(t *testing.T, size, n int) int {
	t.Helper()
	store, _, file := openSQLite(t)
	fill(t, store, 0, n, size)
	return int(sizeOf(t, store, file)) / n
}

func inMemory(t *testing.T, size, n int) int {
	t.Helper()
	store, err := memstore.New(&memstore.Options{MaxBytes: 64<<20 + 2*int64(n)*int64(size+1000)})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, store, 0, n, size)
	return int(store.Stats().Bytes) / n
}

// fill makes n done records with results of this size, from many callers at once.
func fill(t *testing.T, store semel.Store, from, n, size int) {
	t.Helper()
	const callers = 32
	errs := make([]error, callers)
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			for i := from + c; i < from+n && errs[c] == nil; i += callers {
				errs[c] = done(t.Context(), store, i, size)
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// done makes one record as the gateway does: the operation is a method, the key's
// text is not kept.
func done(ctx context.Context, store semel.Store, i, size int) error {
	key := semel.KeyOf(semel.Scope{Principal: "tenant"}, fmt.Sprint("order-", i)).ID()
	p := semel.ClaimParams{
		Key: key, Token: semel.NewToken(), Fingerprint: semel.Fingerprint{1}, Policy: semel.AtMostOnce,
		Lease: time.Minute, Retention: retention, ScopeID: semel.ScopeIDOf(nil, "tenant"), Operation: "POST",
	}
	copy(p.Fingerprint[1:], key[:])
	if _, err := store.Claim(ctx, p); err != nil {
		return err
	}
	result := make([]byte, size)
	if size > 8 {
		binary.BigEndian.PutUint64(result, uint64(i))
	}
	_, err := store.Finish(ctx, semel.FinishParams{
		Key: key, Token: p.Token, State: semel.StateDone, Retention: retention,
		Result: semel.StoredResult{Kind: semel.ResultHTTP, Data: result},
	})
	return err
}
