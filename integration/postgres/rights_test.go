package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/sqlstore"
)

// rights are what the documentation says that a role needs.
func rights(prefix, role string) []string {
	return []string{
		fmt.Sprintf("GRANT USAGE ON SCHEMA app TO %s", role),
		fmt.Sprintf("GRANT SELECT, INSERT, UPDATE, DELETE ON %srecord TO %s", prefix, role),
		fmt.Sprintf("GRANT SELECT, UPDATE ON %sfloor TO %s", prefix, role),
		fmt.Sprintf("GRANT SELECT ON %sschema TO %s", prefix, role),
	}
}

// as is the DSN of another role, whose tables are in the schema app.
func as(t testing.TB, dsn, role string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, "secret")
	return with(t, u.String(), "search_path", "app")
}

// A role with the documented privileges and no more passes the suite; the tables
// belong to another one.
func TestConformanceWithLeastPrivilege(t *testing.T) {
	t.Parallel()
	dsn := engines.Postgres(t).Database(t)
	owner, role := "owner_"+strings.Trim(newPrefix(), "_"), "user_"+strings.Trim(newPrefix(), "_")
	super := openDB(t, "pgx", dsn)
	exec(t, super, "CREATE ROLE "+owner+" LOGIN PASSWORD 'secret'", "CREATE ROLE "+role+" LOGIN PASSWORD 'secret'",
		"CREATE SCHEMA app AUTHORIZATION "+owner, "REVOKE ALL ON SCHEMA public FROM PUBLIC")
	t.Cleanup(func() {
		if _, err := super.Exec(fmt.Sprintf("DROP OWNED BY %[1]s, %[2]s CASCADE; DROP ROLE %[1]s, %[2]s", owner, role)); err != nil {
			t.Error(err)
		}
	})
	admin, limited := openDB(t, "pgx", as(t, dsn, owner)), openDB(t, "pgx", as(t, dsn, role))
	schema := rights("", role)[0]
	exec(t, admin, schema) // once: two at a time fail
	conform(t, admin, func(ctx context.Context, prefix string) (store, error) {
		migrated, err := sqlstore.NewPostgres(ctx, admin, &sqlstore.Options{Prefix: prefix})
		if err != nil {
			return nil, err
		}
		if err := migrated.Close(); err != nil {
			return nil, err
		}
		for _, grant := range rights(prefix, role)[1:] {
			if _, err := admin.ExecContext(ctx, grant); err != nil {
				return nil, err
			}
		}
		return sqlstore.NewPostgres(ctx, limited, &sqlstore.Options{Prefix: prefix})
	})
	t.Run("refused", func(t *testing.T) {
		migrated, err := sqlstore.NewPostgres(t.Context(), admin, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer migrated.Close()
		exec(t, admin, rights("semel_", role)[1:]...)
		exec(t, admin, "REVOKE DELETE ON semel_record FROM "+role)
		_, err = sqlstore.NewPostgres(t.Context(), limited, nil)
		wantRefused(t, "a role without DELETE", err, "GRANT DELETE ON semel_record")
		_, err = sqlstore.NewPostgres(t.Context(), limited, &sqlstore.Options{Prefix: "absent_"})
		wantRefused(t, "a role without CREATE and tables", err, "semel migrate --print")
	})
}
