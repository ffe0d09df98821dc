package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/pgxstore"
	"github.com/semel-go/semel/sqlstore"
)

// with adds a parameter to a DSN.
func with(t testing.TB, dsn, name, value string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(name, value)
	// libpq, and with it both drivers, reads a plus as a plus.
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
	return u.String()
}

func exec(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// wantRefused reports a store that opens, or an error that does not name the fix.
func wantRefused(t *testing.T, what string, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v; want an error that says %q", what, err, text)
	}
}

// What can never work is refused at start, with the fix.
func TestUnfitServersAreRefused(t *testing.T) {
	t.Parallel()
	server := engines.Postgres(t)
	dsn := server.Database(t)
	readOnly := openDB(t, "pgx", with(t, dsn, "options", "-c default_transaction_read_only=on"))
	_, err := sqlstore.NewPostgres(t.Context(), readOnly, nil)
	wantRefused(t, "read-only transactions", err, "default_transaction_read_only")
	_, err = sqlstore.NewPostgres(t.Context(), openDB(t, "pgx", dsn), &sqlstore.Options{NoMigrate: true})
	wantRefused(t, "no tables", err, "semel migrate --print")
	_, err = pgxstore.New(t.Context(), nil, nil)
	wantRefused(t, "no pool", err, "pgxpool.New")
	_, err = sqlstore.NewPostgres(t.Context(), nil, nil)
	wantRefused(t, "no database", err, "open one")
	_, err = pgxstore.New(t.Context(), openPool(t, dsn), &pgxstore.Options{Prefix: "Semel_"})
	wantRefused(t, "a prefix with capitals", err, "lower-case")
}

func TestStandbyIsRefused(t *testing.T) {
	t.Parallel()
	primary := engines.NewPostgres(t, nil)
	dsn := primary.Database(t)
	store, err := pgxstore.New(t.Context(), openPool(t, dsn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	standby := primary.Standby(t)
	standby.CatchUp(t)
	_, err = pgxstore.New(t.Context(), openPool(t, engines.Through(dsn, standby.Addr())), nil)
	wantRefused(t, "a standby", err, "connect to the primary")
}

// A schema of a newer program, which says that this one is too old for it.
func TestNewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	db := openDB(t, "pgx", engines.Postgres(t).Database(t))
	store, err := sqlstore.NewPostgres(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	exec(t, db, "INSERT INTO semel_schema VALUES (99, 1, 0)")
	if again, err := sqlstore.NewPostgres(t.Context(), db, nil); err != nil {
		t.Errorf("a newer schema that is compatible: %v", err)
	} else {
		again.Close()
	}
	exec(t, db, "UPDATE semel_schema SET compatible = 99 WHERE version = 99")
	_, err = sqlstore.NewPostgres(t.Context(), db, nil)
	wantRefused(t, "a newer schema", err, "upgrade")
}

// Several processes that start at once: one migrates.
func TestConcurrentMigrations(t *testing.T) {
	t.Parallel()
	dsn := engines.Postgres(t).Database(t)
	var starts sync.WaitGroup
	for i := range 6 {
		driver := []string{"pgx", "postgres"}[i%2]
		db := openDB(t, driver, dsn)
		starts.Go(func() {
			store, err := sqlstore.NewPostgres(context.Background(), db, nil)
			if err != nil {
				t.Errorf("start %d: %v", i, err)
				return
			}
			store.Close()
		})
	}
	starts.Wait()
	var steps int
	if err := openDB(t, "pgx", dsn).QueryRow("SELECT count(*) FROM semel_schema").Scan(&steps); err != nil || steps != 1 {
		t.Errorf("%d steps are noted, %v; want 1", steps, err)
	}
}

// The statements for other tools make the schema that a store accepts.
func TestPrintedMigrationsAreTheSchema(t *testing.T) {
	t.Parallel()
	db := openDB(t, "pgx", engines.Postgres(t).Database(t))
	steps, err := sqlstore.Migrations("postgres", &sqlstore.Options{Prefix: "other_"})
	if err != nil {
		t.Fatal(err)
	}
	exec(t, db, "CREATE TABLE other_schema (version integer NOT NULL PRIMARY KEY, compatible integer NOT NULL, applied_at bigint NOT NULL)")
	for _, m := range steps {
		exec(t, db, m.Statements()...)
		exec(t, db, fmt.Sprintf("INSERT INTO other_schema VALUES (%d, %d, 0)", m.Version, m.Compatible))
	}
	store, err := sqlstore.NewPostgres(t.Context(), db, &sqlstore.Options{Prefix: "other_", NoMigrate: true})
	if err != nil {
		t.Fatal(err)
	}
	store.Close()
}

// What a server promises follows its settings as they are now.
func TestGuaranteesFollowTheServer(t *testing.T) {
	t.Parallel()
	dsn := engines.Postgres(t).Database(t)
	for options, want := range map[string]semel.Answer{"-c synchronous_commit=on": semel.Yes, "-c synchronous_commit=off": semel.No} {
		store, err := sqlstore.NewPostgres(t.Context(), openDB(t, "pgx", with(t, dsn, "options", options)), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		g, err := store.Guarantees(t.Context(), semel.GuaranteesParams{})
		if err != nil || g.SurvivesEngineCrash != want || g.SingleRegister != semel.Yes || g.Store != "postgres" {
			t.Errorf("%s: %+v, %v; want survival of a crash: %v", options, g, err, want)
		}
	}
}
