package engines

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// PostgresServer is a PostgreSQL server, a primary or a standby.
type PostgresServer struct {
	Server
	data     string
	password string
	last     atomic.Int64 // number of the newest database
}

func postgresEngine() engine {
	return engine{name: "PostgreSQL", packages: "postgresql", folders: []string{"/usr/lib/postgresql/*/bin"}}
}

// Postgres is the primary that the tests of a package share.
func Postgres(t testing.TB) *PostgresServer {
	t.Helper()
	return share(t, &mine.postgres, func(g *group) (*PostgresServer, error) { return startPostgres(g, nil) })
}

// NewPostgres is a primary for this test alone, which ends with it.
func NewPostgres(t testing.TB, o *Options) *PostgresServer {
	t.Helper()
	return private(t, func(g *group) (*PostgresServer, error) { return startPostgres(g, o) })
}

// postgresSettings keep the durability of production. What a crash may leave in
// shared memory is put into files, and those are removed with the rest.
func postgresSettings() map[string]string {
	return map[string]string{
		"listen_addresses":           "127.0.0.1",
		"unix_socket_directories":    ".",
		"max_connections":            "300",
		"shared_buffers":             "32MB",
		"fsync":                      "on",
		"synchronous_commit":         "on",
		"full_page_writes":           "on",
		"max_wal_size":               "256MB",
		"dynamic_shared_memory_type": "mmap",
		"log_min_messages":           "warning",
	}
}

func startPostgres(g *group, o *Options) (*PostgresServer, error) {
	p, err := newPostgres(g, password())
	if err != nil {
		return nil, err
	}
	settings := lines(postgresSettings(), "%s = '%s'") + lines(o.settings(), "%s = '%s'") // the last of a name counts
	if err := p.initialize(settings); err != nil {
		return nil, err
	}
	return p, g.start(p.instance)
}

// newPostgres prepares a server whose data folder is still missing.
func newPostgres(g *group, password string) (*PostgresServer, error) {
	i, err := g.prepare(postgresEngine(), "postgres")
	if err != nil {
		return nil, err
	}
	p := &PostgresServer{Server: Server{instance: i}, data: filepath.Join(i.dir, "data"), password: password}
	i.argv = append(i.argv, "-D", p.data)
	i.stop = syscall.SIGINT    // "fast": it does not wait for clients
	i.orphan = syscall.SIGQUIT // "immediate", without leaving its children and shared memory
	i.ready = func(ctx context.Context) error { return accepts(ctx, p.URL()) }
	i.cleanup = p.removeSharedMemory
	return p, nil
}

// initialize makes an empty cluster with these settings.
func (p *PostgresServer) initialize(settings string) error {
	initdb, err := postgresEngine().program("initdb")
	if err != nil {
		return err
	}
	verifier, err := scramVerifier(p.password)
	if err != nil {
		return err
	}
	secret := filepath.Join(p.dir, "password")
	if err := os.WriteFile(secret, []byte(verifier), 0o600); err != nil {
		return err
	}
	if err := p.group.account.own(secret); err != nil {
		return err
	}
	err = p.group.run(p.dir, initdb, "--pgdata", p.data, "--username", "postgres", "--pwfile", secret,
		"--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	return errors.Join(err, p.configure(settings))
}

// configure adds lines to the configuration.
func (p *PostgresServer) configure(settings string) error {
	f, err := os.OpenFile(filepath.Join(p.data, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "\n%sport = %d\n", settings, p.port)
	return errors.Join(err, f.Close())
}

// removeSharedMemory removes the one segment that PostgreSQL keeps outside of its
// files. Its number is in the seventh line of the lock file, after the key.
func (p *PostgresServer) removeSharedMemory() {
	f, err := os.Open(filepath.Join(p.data, "postmaster.pid"))
	if err != nil {
		return // it ended before it had one
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if fields := strings.Fields(lines.Text()); n == 7 && len(fields) == 2 {
			if id, err := strconv.Atoi(fields[1]); err == nil {
				removeSharedMemory(id)
			}
		}
	}
}

// URL is the DSN of the administrator's database, for pgx and lib/pq.
func (p *PostgresServer) URL() string { return p.dsn("postgres") }

func (p *PostgresServer) dsn(database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword("postgres", p.password),
		Host: p.Addr(), Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Database makes an empty database and returns its DSN; the user is the
// administrator. It is dropped at the end of the test.
func (p *PostgresServer) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", p.last.Add(1))
	if err := p.exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	if p.shared { // otherwise it goes with the server
		t.Cleanup(func() {
			if err := p.exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
				t.Error(err)
			}
		})
	}
	return p.dsn(name)
}

// Set changes a setting of a private server that needs no restart:
// "synchronous_standby_names" to "*" makes its standby a synchronous one.
func (p *PostgresServer) Set(t testing.TB, name, value string) {
	t.Helper()
	p.fault(t, func() error { return p.set(name, value) })
}

func (p *PostgresServer) set(name, value string) error {
	alter := fmt.Sprintf("ALTER SYSTEM SET %s = '%s'", name, strings.ReplaceAll(value, "'", "''"))
	return p.exec(alter, "SELECT pg_reload_conf()")
}
