package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// BouncerServer is PgBouncer in transaction mode in front of a [PostgresServer]: each
// transaction may run in another session of the server. It serves all databases and
// roles of the server; its DSNs are the server's [Through] its Addr.
//
// PgBouncer before 1.21 does not follow prepared statements, and Debian 12 has 1.18.
// So clients must not use named ones: with pgx, default_query_exec_mode=exec or
// simple_protocol; with lib/pq, binary_parameters=yes.
type BouncerServer struct {
	Server
	to *PostgresServer
}

func bouncerEngine() engine {
	return engine{name: "PgBouncer", packages: "pgbouncer", folders: []string{"/usr/sbin"}}
}

// Bouncer starts PgBouncer in front of the server. It ends with the test.
func (p *PostgresServer) Bouncer(t testing.TB) *BouncerServer {
	t.Helper()
	return private(t, p.startBouncer)
}

func (p *PostgresServer) startBouncer(g *group) (*BouncerServer, error) {
	i, err := g.prepare(bouncerEngine(), "pgbouncer")
	if err != nil {
		return nil, err
	}
	b := &BouncerServer{Server: Server{instance: i}, to: p}
	config, users := filepath.Join(i.dir, "pgbouncer.ini"), filepath.Join(i.dir, "users.txt")
	i.argv = append(i.argv, config)
	i.stop, i.orphan = syscall.SIGINT, syscall.SIGKILL
	i.ready = func(ctx context.Context) error { return accepts(ctx, b.URL()) }
	err = errors.Join(
		os.WriteFile(config, []byte(b.config(users)), 0o600),
		os.WriteFile(users, fmt.Appendf(nil, "\"postgres\" \"%s\"\n", p.password), 0o600),
		g.account.own(i.dir))
	if err != nil {
		return nil, err
	}
	return b, g.start(i)
}

// config lets PgBouncer ask the server for the passwords of roles that it does not know.
func (b *BouncerServer) config(users string) string {
	return "[databases]\n" +
		fmt.Sprintf("* = host=127.0.0.1 port=%d auth_user=postgres\n", b.to.port) +
		"[pgbouncer]\n" + lines(map[string]string{
		"auth_file":                 users,
		"auth_type":                 "scram-sha-256",
		"default_pool_size":         "20",
		"ignore_startup_parameters": "extra_float_digits",
		"listen_addr":               "127.0.0.1",
		"listen_port":               fmt.Sprint(b.port),
		"max_client_conn":           "1000",
		"pool_mode":                 "transaction",
		"unix_socket_dir":           "",
	}, "%s = %s")
}

// URL is the DSN of the administrator's database.
func (b *BouncerServer) URL() string { return Through(b.to.URL(), b.Addr()) }
