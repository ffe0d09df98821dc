package postgres_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/pgxstore"
)

// Field fault: behind a pooler in transaction mode prepared statements vanish, or are
// somebody else's. Nothing is said of the pooler here: the stores find it out.
func TestConformanceThroughPgBouncer(t *testing.T) {
	t.Parallel()
	server := engines.Postgres(t)
	bouncer := server.Bouncer(t)
	for name, open := range map[string]func(t *testing.T, dsn, direct string) opener{
		"pgx": func(t *testing.T, dsn, direct string) opener {
			listen, err := pgx.ParseConfig(direct)
			if err != nil {
				t.Fatal(err)
			}
			return onPgx(t, dsn, listen)
		},
		"stdlib": func(t *testing.T, dsn, _ string) opener {
			return onSQL(openDB(t, "pgx", dsn+"&default_query_exec_mode=exec"))
		},
		"libpq": func(t *testing.T, dsn, _ string) opener {
			return onSQL(openDB(t, "postgres", dsn+"&binary_parameters=yes"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			direct := server.Database(t)
			conform(t, openDB(t, "pgx", direct), open(t, engines.Through(direct, bouncer.Addr()), direct))
		})
	}
}

// onPgx opens stores on a pool of pgx.
func onPgx(t *testing.T, dsn string, listen *pgx.ConnConfig) opener {
	pool := openPool(t, dsn)
	return func(ctx context.Context, prefix string) (store, error) {
		return pgxstore.New(ctx, pool, &pgxstore.Options{Prefix: prefix, Listen: listen})
	}
}
