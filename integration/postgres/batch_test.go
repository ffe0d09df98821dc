package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/pgxstore"
)

// tracer sees the statements on the tables of records before they are sent.
type tracer struct {
	mu     sync.Mutex
	n      int
	before func(statement string) // nil: only count
}

func (c *tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, "semel_record") {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.n++
		if c.before != nil {
			c.before(strings.TrimSpace(data.SQL))
		}
	}
	return ctx
}

func (*tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// traced opens a store whose statements are seen.
func traced(t testing.TB, dsn string) (*pgxstore.Store, *tracer) {
	t.Helper()
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	c := new(tracer)
	config.ConnConfig.Tracer = c
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	store, err := pgxstore.New(t.Context(), pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	c.n = 0
	return store, c
}

// Concurrent calls share statements, and each gets its own answer.
func TestConcurrentCallsShareStatements(t *testing.T) {
	t.Parallel()
	store, counter := traced(t, engines.Postgres(t).Database(t))
	const callers, cycles = 100, 10
	var all sync.WaitGroup
	for n := range callers {
		all.Go(func() {
			for i := range cycles {
				key := semel.KeyID{byte(n), byte(i)}
				token, _ := claimed(t, store, key)
				p := doneOf(key, token)
				p.Result.Data = fmt.Append(nil, n, i)
				if _, err := store.Finish(t.Context(), p); err != nil {
					t.Error(err)
				}
				if r, err := store.Read(t.Context(), semel.ReadParams{Key: key}); err != nil || string(r.Result.Data) != string(p.Result.Data) {
					t.Errorf("result %q, %v; want %q", r.Result.Data, err, p.Result.Data)
				}
			}
		})
	}
	all.Wait()
	writes := counter.n - callers*cycles // without the reads, which are not batched
	if writes > callers*cycles {
		t.Errorf("%d statements for %d claims and as many finishes; want them to share", writes, callers*cycles)
	}
}

// Field fault: a late owner completes the new owner's record. Here beside the right
// owners, in the same batches.
func TestStrangersInABatchAreFenced(t *testing.T) {
	t.Parallel()
	store := openPgx(t, engines.Postgres(t).Database(t), nil)
	const records = 60
	tokens := make([]semel.Token, records)
	for n := range records {
		tokens[n], _ = claimed(t, store, semel.KeyID{byte(n)})
	}
	var all sync.WaitGroup
	for n := range records {
		token, stranger := tokens[n], n%2 == 1
		if stranger {
			token = semel.NewToken()
		}
		key := semel.KeyID{byte(n)}
		all.Go(func() {
			_, renew := store.Renew(t.Context(), semel.RenewParams{Key: key, Token: token, Lease: time.Hour})
			_, note := store.Checkpoint(t.Context(), semel.CheckpointParams{Key: key, Token: token, Data: []byte("note")})
			_, finish := store.Finish(t.Context(), doneOf(key, token))
			for _, err := range []error{renew, note, finish} {
				if stranger != errors.Is(err, semel.ErrFenced) || !stranger && err != nil {
					t.Errorf("record %d, a stranger %v: %v", n, stranger, err)
				}
			}
		})
	}
	all.Wait()
	for n := range records {
		r, err := store.Read(t.Context(), semel.ReadParams{Key: semel.KeyID{byte(n)}})
		if want := []semel.State{semel.StateDone, semel.StateRunning}[n%2]; err != nil || r.State != want || n%2 == 1 && len(r.Checkpoint) > 0 {
			t.Errorf("record %d is %v with checkpoint %q, %v; want %v", n, r.State, r.Checkpoint, err, want)
		}
	}
}

// Field fault: takeover by read-then-write overwrites a live or finished record. What
// the look saw has changed when the claim takes the record.
func TestRecordChangesBetweenLookAndTakeover(t *testing.T) {
	t.Parallel()
	dsn := engines.Postgres(t).Database(t)
	admin := openDB(t, "pgx", dsn)
	for name, c := range map[string]struct {
		change string
		want   semel.Outcome
	}{
		"another fingerprint": {"fingerprint = set_byte(fingerprint, 0, 9)", semel.ClaimMismatch},
		"taken by another":    {"state = 1, lease_until = 9000000000000000000", semel.ClaimRunning},
		"finished":            {"state = 3", semel.ClaimDone},
		"in doubt":            {"state = 4, cause = 3", semel.ClaimInDoubt},
		"another format":      {"format = 2", 0},
	} {
		store, tracer := traced(t, dsn)
		key := semel.KeyID{name[0], name[1], byte(len(name))}
		token, _ := claimed(t, store, key)
		if _, err := store.Finish(t.Context(), semel.FinishParams{Key: key, Token: token, State: semel.StateReleased, Retention: time.Hour}); err != nil {
			t.Fatal(err)
		}
		var once sync.Once
		tracer.before = func(statement string) {
			if strings.HasPrefix(statement, "UPDATE semel_record AS r SET\n\t(state") {
				once.Do(func() { exec(t, admin, "UPDATE semel_record SET "+c.change+" WHERE key = '"+key.String()+"'") })
			}
		}
		res, err := store.Claim(t.Context(), claimOf(key))
		_, format := errors.AsType[*semel.RecordFormatError](err)
		if res.Outcome != c.want || (err != nil) != format {
			t.Errorf("%s: %v, %v; want %v", name, res.Outcome, err, c.want)
		}
		taken := true
		once.Do(func() { taken = false })
		if !taken {
			t.Errorf("%s: the claim took no second step", name)
		}
	}
}
