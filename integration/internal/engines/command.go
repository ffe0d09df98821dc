package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"
)

// RunCommand starts every engine that is installed, with memory as on a small server of
// production and no standby, runs a command, and ends them with it. The environment
// tells the command where they are:
//
//	ENGINES_POSTGRES_URL          PostgreSQL, for pgx and lib/pq
//	ENGINES_POSTGRES_BOUNCER_URL  PgBouncer in front of it
//	ENGINES_POSTGRES_PID          its first process
//	ENGINES_MARIADB_DSN           MariaDB without a database, for go-sql-driver/mysql
//	ENGINES_MARIADB_PID           its process
//	ENGINES_REDIS_URL             Redis, for redis.ParseURL
//	ENGINES_REDIS_PID             its process
//
// What is not installed is told on the standard error, and its variables are missing.
func RunCommand(ctx context.Context, command []string) (err error) {
	g := &group{}
	defer func() { err = errors.Join(err, g.close()) }()
	postgres, pgErr := commandPostgres(g)
	mariadb, myErr := commandMariaDB(g)
	redis, redisErr := commandRedis(g)
	if err := errors.Join(pgErr, myErr, redisErr); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = slices.Concat(os.Environ(), postgres, mariadb, redis)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd.Run()
}

func commandPostgres(g *group) (env []string, err error) {
	p, err := startPostgres(g, &Options{Settings: map[string]string{"shared_buffers": "1GB", "max_wal_size": "4GB"}})
	if err != nil {
		return nil, told(os.Stderr, err)
	}
	env = []string{"ENGINES_POSTGRES_URL=" + p.URL(), "ENGINES_POSTGRES_PID=" + p.pid()}
	b, err := p.startBouncer(g)
	if err != nil {
		return env, told(os.Stderr, err)
	}
	return append(env, "ENGINES_POSTGRES_BOUNCER_URL="+b.URL()), nil
}

func commandMariaDB(g *group) (env []string, err error) {
	m, err := startMariaDB(g, &Options{Settings: map[string]string{"innodb-buffer-pool-size": "1G", "innodb-log-file-size": "1G"}})
	if err != nil {
		return nil, told(os.Stderr, err)
	}
	return []string{"ENGINES_MARIADB_DSN=" + m.DSN(""), "ENGINES_MARIADB_PID=" + m.pid()}, nil
}

func commandRedis(g *group) (env []string, err error) {
	r, err := startRedis(g, &Options{Settings: map[string]string{"appendfsync": "everysec"}})
	if err != nil {
		return nil, told(os.Stderr, err)
	}
	return []string{"ENGINES_REDIS_URL=" + r.URL(), "ENGINES_REDIS_PID=" + r.pid()}, nil
}

// pid is that of the server's first process.
func (i *instance) pid() string { return fmt.Sprint(i.cmd.Process.Pid) }
