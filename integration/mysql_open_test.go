package integration

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/sqlstore"
)

func TestMySQLUnfitSessionsAreRefused(t *testing.T) {
	t.Parallel()
	dsn := engines.MariaDB(t).Database(t)
	for _, c := range []struct {
		name   string
		params map[string]string
		want   string
	}{
		{"no autocommit", map[string]string{"autocommit": "0"}, "autocommit"},
		{"dirty reads", map[string]string{"tx_isolation": "'READ-UNCOMMITTED'"}, "READ UNCOMMITTED"},
		{"read-only", map[string]string{"tx_read_only": "1"}, "primary"},
	} {
		_, err := sqlstore.NewMySQL(t.Context(), mysqlDB(t, dsn, c.params), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want a refusal that names %q", c.name, err, c.want)
		}
	}
}

func TestMySQLGuaranteesGoByTheServer(t *testing.T) {
	t.Parallel()
	server := engines.NewMariaDB(t, nil)
	dsn := server.Database(t)
	s := mysqlStore(t, mysqlDB(t, dsn, map[string]string{"clientFoundRows": "true"}), nil)
	ask := func() semel.Guarantees {
		g, err := s.Guarantees(t.Context(), semel.GuaranteesParams{})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	g := ask()
	if g.Store != "mariadb" || g.SingleRegister != semel.Yes || g.SurvivesProcess != semel.Yes || g.SurvivesEngineCrash != semel.Yes ||
		g.SurvivesPowerLoss != semel.Yes || g.SurvivesFailover != semel.No || len(g.Facts) != 1 || len(g.Notes) != 1 || !strings.Contains(g.Notes[0], "clientFoundRows") {
		t.Errorf("%+v", g)
	}
	server.Set(t, "innodb_flush_log_at_trx_commit", "2")
	if g := ask(); g.SurvivesPowerLoss != semel.No || g.SurvivesEngineCrash != semel.Yes {
		t.Errorf("flush at commit 2: %+v", g)
	}
	server.Set(t, "read_only", "ON")
	if g := ask(); g.SingleRegister != semel.No {
		t.Errorf("read-only since the start: %+v", g)
	}
	if _, err := sqlstore.NewMySQL(t.Context(), mysqlDB(t, dsn, nil), nil); err == nil || !strings.Contains(err.Error(), "primary") {
		t.Errorf("opened on a read-only server: %v; want a refusal", err)
	}
}

// Of several processes that start at once, one makes the tables, and the others find
// them.
func TestMySQLMigratesOnce(t *testing.T) {
	t.Parallel()
	db := mysqlDB(t, engines.MariaDB(t).Database(t), nil)
	var starting sync.WaitGroup
	for range 8 {
		starting.Go(func() {
			s, err := sqlstore.NewMySQL(t.Context(), db, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	starting.Wait()
	var versions, newest int
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*), MAX(version) FROM semel_schema").Scan(&versions, &newest); err != nil || versions != newest {
		t.Errorf("%d steps up to version %d are written down, %v", versions, newest, err)
	}
	mysqlExec(t, db, "UPDATE semel_schema SET compatible = 99")
	if _, err := sqlstore.NewMySQL(t.Context(), db, nil); err == nil || !strings.Contains(err.Error(), "upgrade Semel") {
		t.Errorf("a schema of the future: %v; want a refusal", err)
	}
}

// A migration that was cut off in the middle is taken up again.
func TestMySQLMigrationIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	db := mysqlDB(t, engines.MariaDB(t).Database(t), nil)
	migrations, err := sqlstore.Migrations("mysql", nil)
	if err != nil {
		t.Fatal(err)
	}
	mysqlExec(t, db, migrations[0].Statements()[0])
	mysqlStore(t, db, nil)
}

// least are the privileges of a user who does everything but migrate.
func mysqlLeast(user string) []string {
	return []string{
		"GRANT SELECT, INSERT, UPDATE, DELETE ON semel_record TO " + user,
		"GRANT SELECT, UPDATE ON semel_floor TO " + user,
		"GRANT SELECT ON semel_schema TO " + user,
	}
}

func TestMySQLLeastPrivileges(t *testing.T) {
	t.Parallel()
	dsn := engines.MariaDB(t).Database(t)
	owner := mysqlDB(t, dsn, nil)
	user := mysqlUser(t, owner)
	as := mysqlDB(t, user.dsn(t, dsn), nil)
	if _, err := sqlstore.NewMySQL(t.Context(), as, nil); err == nil {
		t.Error("a user without a privilege has a store")
	}
	mysqlMigrator(t, owner, dsn)
	for _, grant := range mysqlLeast(user.name) {
		if _, err := sqlstore.NewMySQL(t.Context(), as, nil); err == nil {
			t.Errorf("a store without %q", grant)
		}
		mysqlExec(t, owner, grant)
	}
	s := mysqlStore(t, as, &sqlstore.Options{NoMigrate: true})
	if err := everyMySQLMethod(t.Context(), s); err != nil {
		t.Error(err)
	}
}

// mysqlMigrator makes the tables as a user who may only migrate.
func mysqlMigrator(t *testing.T, owner *sql.DB, dsn string) {
	t.Helper()
	user := mysqlUser(t, owner)
	name := databaseOf(t, dsn)
	mysqlExec(t, owner, fmt.Sprintf("GRANT CREATE, ALTER, INDEX, SELECT, INSERT, UPDATE, DELETE ON %s.* TO %s", name, user.name))
	mysqlStore(t, mysqlDB(t, user.dsn(t, dsn), nil), nil)
}

// mysqlAccount is a user without privileges.
type mysqlAccount struct{ name, login, password string }

func mysqlUser(t *testing.T, owner *sql.DB) mysqlAccount {
	t.Helper()
	token := semel.NewToken()
	login := fmt.Sprintf("u%x", token[:8])
	a := mysqlAccount{name: login + "@'127.0.0.1'", login: login, password: fmt.Sprintf("%x", token)}
	mysqlExec(t, owner, fmt.Sprintf("CREATE USER %s IDENTIFIED BY '%s'", a.name, a.password))
	t.Cleanup(func() {
		if _, err := owner.ExecContext(context.Background(), "DROP USER "+a.name); err != nil {
			t.Error(err)
		}
	})
	return a
}

func (a mysqlAccount) dsn(t *testing.T, dsn string) string {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	cfg.User, cfg.Passwd = a.login, a.password
	return cfg.FormatDSN()
}

func databaseOf(t *testing.T, dsn string) string {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return cfg.DBName
}

// everyMySQLMethod calls each method of a store so that each of its statements is run.
func everyMySQLMethod(ctx context.Context, s *sqlstore.Store) error {
	var all []error
	note := func(what string, err error) {
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", what, err))
		}
	}
	p := mysqlClaim(randomKey())
	claim := func(what string, want semel.Outcome) {
		res, err := s.Claim(ctx, p)
		if err == nil && res.Outcome != want {
			err = fmt.Errorf("%v; want %v", res.Outcome, want)
		}
		note(what, err)
	}
	claim("claim", semel.ClaimAcquired)
	_, err := s.Checkpoint(ctx, semel.CheckpointParams{Key: p.Key, Token: p.Token, Data: []byte("half")})
	note("checkpoint", err)
	_, err = s.Renew(ctx, semel.RenewParams{Key: p.Key, Token: p.Token, Lease: time.Minute, Policy: semel.AtMostOnce})
	note("renew", err)
	claim("claim again", semel.ClaimAcquired)
	f := mysqlDone(p.Key, p.Token, "result")
	f.State, f.Cause = semel.StateInDoubt, semel.CauseHandler
	_, err = s.Finish(ctx, f)
	note("finish in doubt", err)
	record, err := s.Read(ctx, semel.ReadParams{Key: p.Key})
	note("read", err)
	_, err = s.Resolve(ctx, semel.ResolveParams{Key: p.Key, Token: semel.NewToken(), Fence: record.Fence, Resolution: semel.ResolveDidNotHappen, Retention: time.Hour})
	note("resolve", err)
	claim("claim of a released one", semel.ClaimAcquired)
	_, err = s.Finish(ctx, mysqlDone(p.Key, p.Token, "result"))
	note("finish", err)
	claim("claim of a done one", semel.ClaimDone)
	record, err = s.Read(ctx, semel.ReadParams{Key: p.Key})
	note("read", err)
	_, err = s.Resolve(ctx, semel.ResolveParams{Key: p.Key, Token: semel.NewToken(), Fence: record.Fence, Resolution: semel.ResolveDelete})
	note("delete", err)
	purge, err := s.Purge(ctx, semel.PurgeParams{Limit: 10})
	if err == nil && purge.Purged != 1 {
		err = fmt.Errorf("%d purged; want 1", purge.Purged)
	}
	note("purge", err)
	_, err = s.List(ctx, semel.ListParams{Limit: 10})
	note("list", err)
	_, err = s.Guarantees(ctx, semel.GuaranteesParams{})
	note("guarantees", err)
	return errors.Join(all...)
}

func TestMySQLWithoutMigrationsNeedsTheTables(t *testing.T) {
	t.Parallel()
	db := mysqlDB(t, engines.MariaDB(t).Database(t), nil)
	opts := &sqlstore.Options{NoMigrate: true}
	if _, err := sqlstore.NewMySQL(t.Context(), db, opts); err == nil || !strings.Contains(err.Error(), "semel migrate --print") {
		t.Errorf("without tables: %v; want a refusal that names the way to them", err)
	}
	mysqlStore(t, db, nil)
	mysqlStore(t, db, opts)
	mysqlExec(t, db, "ALTER TABLE semel_record ENGINE = MyISAM")
	if _, err := sqlstore.NewMySQL(t.Context(), db, opts); err == nil || !strings.Contains(err.Error(), "ENGINE = InnoDB") {
		t.Errorf("with a table that knows no transactions: %v; want a refusal", err)
	}
}
