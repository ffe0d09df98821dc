package faultproxy

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/semel-go/semel/integration/internal/engines"
)

// pgxClient is a connection of pgx itself: batches, COPY and notifications do not
// exist in database/sql.
func pgxClient(t *testing.T, dsn, parameters string) (*client, *pgx.Conn) {
	t.Helper()
	c := connect(t, "pgx", dsn, parameters)
	conn, err := pgx.Connect(t.Context(), c.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return c, conn
}

// If a turn were counted wrongly, the cut would come too early or never.
func TestPostgresTurns(t *testing.T) {
	t.Parallel()
	dsn := engines.Postgres(t).Database(t)
	for name, turns := range map[string]func(context.Context, *pgx.Conn) error{
		"none": func(context.Context, *pgx.Conn) error { return nil },
		"ping": func(ctx context.Context, conn *pgx.Conn) error { return conn.Ping(ctx) },
		"errors": func(ctx context.Context, conn *pgx.Conn) error {
			for _, wrong := range []string{"SELECT nothing", "SELECT 1/$1::int"} {
				if _, err := conn.Exec(ctx, wrong, 0); err == nil {
					return errors.New("no error: " + wrong)
				}
			}
			return nil
		},
		"several statements in one": func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "SELECT 1; SELECT 2; SELECT generate_series(1, 1000)")
			return err
		},
		"batch": func(ctx context.Context, conn *pgx.Conn) error {
			b := &pgx.Batch{}
			b.Queue("SELECT 1")
			b.Queue("SELECT $1::text", "a")
			return conn.SendBatch(ctx, b).Close()
		},
		"copy": func(ctx context.Context, conn *pgx.Conn) error {
			if _, err := conn.Exec(ctx, "CREATE TABLE u (n int)"); err != nil {
				return err
			}
			_, err := conn.CopyFrom(ctx, pgx.Identifier{"u"}, []string{"n"}, pgx.CopyFromRows([][]any{{1}, {2}}))
			return err
		},
		"notification": func(ctx context.Context, conn *pgx.Conn) error {
			if _, err := conn.Exec(ctx, "LISTEN news"); err != nil {
				return err
			}
			if _, err := conn.Exec(ctx, "NOTIFY news"); err != nil {
				return err
			}
			_, err := conn.WaitForNotification(ctx)
			return err
		},
		"large rows": func(ctx context.Context, conn *pgx.Conn) error {
			var got string
			err := conn.QueryRow(ctx, "SELECT repeat('x', $1)", 1<<20).Scan(&got)
			if len(got) != 1<<20 {
				return errors.Join(err, errors.New("the row is not whole"))
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, conn := pgxClient(t, dsn, "")
			if err := turns(t.Context(), conn); err != nil {
				t.Fatal(err)
			}
			c.cutsInsert(t, conn)
		})
	}
}

func (c *client) cutsInsert(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	cut := c.proxy.Arm(isInsert, CutReply())
	if _, err := conn.Exec(t.Context(), c.insert, 1); err == nil {
		t.Error("the client got a reply")
	}
	<-cut.Fired()
	if got := c.rows(t); got != 1 {
		t.Errorf("there are %d rows, want the one of the executed statement", got)
	}
}

// What was sent before a cut statement in one go is answered, and what was sent after
// it does not arrive.
func TestPostgresPipeline(t *testing.T) {
	t.Parallel()
	c, conn := pgxClient(t, engines.Postgres(t).Database(t), "")
	p := conn.PgConn().StartPipeline(t.Context())
	second := 0
	cut := c.proxy.Arm(func(string) bool { second++; return second == 2 }, CutReply())
	for range 3 {
		p.SendQueryParams(c.insert, [][]byte{[]byte("1")}, nil, nil, nil)
		p.SendPipelineSync()
	}
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	answered := 0
	for {
		r, err := p.GetResults()
		if err != nil {
			break
		}
		if reader, ok := r.(*pgconn.ResultReader); ok {
			if _, err := reader.Close(); err == nil {
				answered++
			}
		}
	}
	<-cut.Fired()
	if got := c.rows(t); answered != 1 || got != 2 {
		t.Errorf("%d statements answered and %d executed, want 1 and 2", answered, got)
	}
}

// A client that prefers TLS goes on without it.
func TestPostgresRefusesTLS(t *testing.T) {
	t.Parallel()
	dsn := strings.Replace(engines.Postgres(t).Database(t), "sslmode=disable", "sslmode=prefer", 1)
	c, conn := pgxClient(t, dsn, "")
	c.cutsInsert(t, conn)
}

// A request to cancel comes on a connection of its own.
func TestPostgresPassesCancelRequests(t *testing.T) {
	t.Parallel()
	_, conn := pgxClient(t, engines.Postgres(t).Database(t), "")
	done := make(chan error, 1)
	go func() {
		_, err := conn.Exec(t.Context(), "SELECT pg_sleep(600)")
		done <- err
	}()
	for {
		if err := conn.PgConn().CancelRequest(t.Context()); err != nil {
			t.Error(err)
		}
		select {
		case err := <-done:
			if pgErr, ok := errors.AsType[*pgconn.PgError](err); !ok || pgErr.Code != "57014" {
				t.Errorf("got %v, want query_canceled", err)
			}
			return
		default: // it came before the statement
		}
	}
}

// pgx asks to cancel what it gets no reply to. The statement is to be executed even if
// that would come in time.
func TestPostgresResetLosesCancelRequests(t *testing.T) {
	t.Parallel()
	c, conn := pgxClient(t, engines.Postgres(t).Database(t), "")
	c.proxy.Arm(isInsert, Reset())
	if _, err := conn.Exec(t.Context(), "INSERT INTO "+c.table+" SELECT 1 FROM pg_sleep(0.5)"); err == nil {
		t.Error("the client got a reply")
	}
	c.appears(t)
}
