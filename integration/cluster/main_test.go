package cluster

import (
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/integration/internal/gateway"
)

// binary is the semel that all tests run. TestMain builds it.
var binary string

func TestMain(m *testing.M) {
	os.Exit(gateway.With(&binary, func() int { return engines.Main(m) }))
}

// server is a database server that may go away and come back.
type server interface {
	Kill(t testing.TB)
	Stop(t testing.TB)
	Restart(t testing.TB)
	Pause(t testing.TB)
	Resume(t testing.TB)
}

// engine is a kind of server that gateways keep records on.
type engine struct {
	name string
	// shared makes a database on the server of all tests, alone one on a server of
	// this test. Both return the database's --store URL.
	shared func(t *testing.T) string
	alone  func(t *testing.T) (server, string)
	// tables are what it keeps records in, and a role needs rights to make.
	tables bool
}

func allEngines() []engine {
	return []engine{{
		name:   "PostgreSQL",
		tables: true,
		shared: func(t *testing.T) string { return engines.Postgres(t).Database(t) },
		alone: func(t *testing.T) (server, string) {
			pg := engines.NewPostgres(t, nil)
			return pg, pg.Database(t)
		},
	}, {
		name:   "MariaDB",
		tables: true,
		shared: func(t *testing.T) string { return mysqlURL(t, engines.MariaDB(t).Database(t)) },
		alone: func(t *testing.T) (server, string) {
			m := engines.NewMariaDB(t, nil)
			return m, mysqlURL(t, m.Database(t))
		},
	}, {
		name:   "Redis",
		shared: func(t *testing.T) string { return redisURL(t, engines.Redis(t)) },
		alone: func(t *testing.T) (server, string) {
			r := engines.NewRedis(t, nil)
			return r, redisURL(t, r)
		},
	}}
}

// onEach runs a test on each kind of server.
func onEach(t *testing.T, test func(t *testing.T, e engine)) {
	t.Helper()
	t.Parallel()
	for _, e := range allEngines() {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			test(t, e)
		})
	}
}

// onTables runs a test on each that has tables.
func onTables(t *testing.T, test func(t *testing.T, e engine)) {
	t.Helper()
	onEach(t, func(t *testing.T, e engine) {
		if e.tables {
			test(t, e)
		}
	})
}

// mysqlURL is a DSN of go-sql-driver/mysql as --store has it.
func mysqlURL(t *testing.T, dsn string) string {
	t.Helper()
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u := url.URL{Scheme: "mysql", User: url.UserPassword(c.User, c.Passwd), Host: c.Addr, Path: "/" + c.DBName}
	return u.String()
}

// semel runs the binary to its end and returns what it printed, standard error after
// standard output.
func semel(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"HOME=" + cmd.Dir}
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	return stdout.String() + stderr.String(), err
}

// must is semel for what has to work.
func must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := semel(t, args...)
	if err != nil {
		t.Fatalf("semel %s: %v\n%s", args[0], err, out)
	}
	return out
}
