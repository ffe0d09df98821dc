package engines

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// adminTimeout bounds what the package itself asks of a server.
const adminTimeout = time.Minute

// session opens a session of PostgreSQL for do.
func session(ctx context.Context, dsn string, do func(context.Context, *pgx.Conn) error) error {
	c, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, c), c.Close(ctx))
}

// accepts says whether a server accepts sessions.
func accepts(ctx context.Context, dsn string) error {
	return session(ctx, dsn, func(context.Context, *pgx.Conn) error { return nil })
}

// admin is a session of the administrator.
func (p *PostgresServer) admin(do func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), adminTimeout)
	defer cancel()
	return session(ctx, p.URL(), do)
}

// exec runs statements, each in a transaction of its own.
func (p *PostgresServer) exec(statements ...string) error {
	return p.admin(func(ctx context.Context, c *pgx.Conn) error {
		for _, s := range statements {
			if _, err := c.Exec(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	})
}

// query reads the one value that a query returns.
func (p *PostgresServer) query(query string, value any) error {
	return p.admin(func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, query).Scan(value)
	})
}

// until asks a question until its answer is true.
func (p *PostgresServer) until(question string) error {
	return p.admin(func(ctx context.Context, c *pgx.Conn) error {
		for {
			var yes bool
			if err := c.QueryRow(ctx, question).Scan(&yes); err != nil || yes {
				return err
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s: the answer stays no: %s", p.name, question)
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
}
