package engines

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// MariaDBServer is a single MariaDB server without a binary log.
type MariaDBServer struct {
	Server
	password string
	last     atomic.Int64 // number of the newest database
}

func mariadbEngine() engine {
	return engine{name: "MariaDB", packages: "mariadb-server-core mariadb-client-core", folders: []string{"/usr/sbin"}}
}

// MariaDB is the server that the tests of a package share.
func MariaDB(t testing.TB) *MariaDBServer {
	t.Helper()
	return share(t, &mine.mariadb, func(g *group) (*MariaDBServer, error) { return startMariaDB(g, nil) })
}

// NewMariaDB is a server for this test alone, which ends with it.
func NewMariaDB(t testing.TB, o *Options) *MariaDBServer {
	t.Helper()
	return private(t, func(g *group) (*MariaDBServer, error) { return startMariaDB(g, o) })
}

// mariadbSettings keep the durability of production, with little memory.
func mariadbSettings() map[string]string {
	return map[string]string{
		"bind-address":                   "127.0.0.1",
		"socket":                         "mariadb.sock", // in the data folder
		"pid-file":                       "mariadb.pid",
		"max-connections":                "300",
		"character-set-server":           "utf8mb4",
		"innodb-flush-log-at-trx-commit": "1",
		"innodb-buffer-pool-size":        "64M",
		"innodb-log-file-size":           logFileSize,
		"log-warnings":                   "1",
		"performance-schema":             "OFF",
		"skip-log-bin":                   "ON",
		"skip-name-resolve":              "ON",
	}
}

// logFileSize keeps a new data folder small.
const logFileSize = "32M"

func startMariaDB(g *group, o *Options) (*MariaDBServer, error) {
	i, err := g.prepare(mariadbEngine(), "mariadbd")
	if err != nil {
		return nil, err
	}
	m := &MariaDBServer{Server: Server{instance: i}, password: password()}
	i.argv = append(i.argv, "--defaults-file="+filepath.Join(i.dir, "my.cnf"))
	i.stop, i.orphan = syscall.SIGTERM, syscall.SIGKILL
	i.ready = m.ping
	if err := m.initialize(g, o); err != nil {
		return nil, err
	}
	return m, g.start(i)
}

// initialize makes the data folder and the files that each start reads.
func (m *MariaDBServer) initialize(g *group, o *Options) error {
	install, err := mariadbEngine().program("mariadb-install-db")
	if err != nil {
		return err
	}
	data, grants := filepath.Join(m.dir, "data"), filepath.Join(m.dir, "grants.sql")
	err = g.run(m.dir, install, "--no-defaults", "--datadir="+data, "--skip-test-db",
		"--auth-root-authentication-method=socket", "--auth-root-socket-user="+g.account.name,
		"--innodb-log-file-size="+logFileSize)
	if err != nil {
		return err
	}
	settings := fmt.Sprintf("datadir = %s\ninit-file = %s\nport = %d\n", data, grants, m.port) +
		lines(mariadbSettings(), "%s = %s") + lines(o.settings(), "%s = %s") // the last of a name counts
	err = os.WriteFile(filepath.Join(m.dir, "my.cnf"), []byte("[mariadbd]\n"+settings), 0o600)
	if err != nil {
		return err
	}
	err = os.WriteFile(grants, fmt.Appendf(nil, `CREATE USER IF NOT EXISTS root@'127.0.0.1' IDENTIFIED BY '%s';
GRANT ALL PRIVILEGES ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;
`, m.password), 0o600)
	if err != nil {
		return err
	}
	return g.account.own(m.dir)
}

// DSN is that of the administrator in a database, or in none (""), for
// go-sql-driver/mysql. It ends so that further parameters can follow "?".
func (m *MariaDBServer) DSN(database string) string {
	c := mysql.NewConfig()
	c.User, c.Passwd = "root", m.password
	c.Net, c.Addr, c.DBName = "tcp", m.Addr(), database
	return c.FormatDSN()
}

// URL is the same as a URL, for the command line of Semel.
func (m *MariaDBServer) URL(database string) string {
	u := url.URL{Scheme: "mysql", User: url.UserPassword("root", m.password), Host: m.Addr(), Path: "/" + database}
	return u.String()
}

// Database makes an empty database and returns its DSN; the user is the
// administrator. It is dropped at the end of the test.
func (m *MariaDBServer) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", m.last.Add(1))
	if err := m.exec(context.Background(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	if m.shared { // otherwise it goes with the server
		t.Cleanup(func() {
			if err := m.exec(context.Background(), "DROP DATABASE "+name); err != nil {
				t.Error(err)
			}
		})
	}
	return m.DSN(name)
}

// Set changes a global setting of a private server to a value in SQL's spelling. It
// holds for sessions that begin later, and is forgotten at a restart.
func (m *MariaDBServer) Set(t testing.TB, name, value string) {
	t.Helper()
	m.fault(t, func() error {
		return m.exec(context.Background(), fmt.Sprintf("SET GLOBAL %s = %s", name, value))
	})
}

func (m *MariaDBServer) exec(ctx context.Context, statements ...string) error {
	db, err := sql.Open("mysql", m.DSN(""))
	if err != nil {
		return err
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// ping says whether it accepts sessions.
func (m *MariaDBServer) ping(ctx context.Context) error { return m.exec(ctx, "DO 0") }
