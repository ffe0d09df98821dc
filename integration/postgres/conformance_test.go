package postgres_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/sqlstore"
)

func TestConformancePgxStdlib(t *testing.T) {
	t.Parallel()
	db := openDB(t, "pgx", engines.Postgres(t).Database(t))
	conform(t, db, onSQL(db))
}

func TestConformanceLibPQ(t *testing.T) {
	t.Parallel()
	db := openDB(t, "postgres", engines.Postgres(t).Database(t))
	conform(t, db, onSQL(db))
}

// onSQL opens stores over database/sql.
func onSQL(db *sql.DB) opener {
	return func(ctx context.Context, prefix string) (store, error) {
		return sqlstore.NewPostgres(ctx, db, &sqlstore.Options{Prefix: prefix})
	}
}

func TestConformancePgx(t *testing.T) {
	t.Parallel()
	dsn := engines.Postgres(t).Database(t)
	conform(t, openDB(t, "pgx", dsn), onPgx(t, dsn, nil))
}
