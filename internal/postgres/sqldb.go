package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/semel-go/semel/internal/sqlcode"
)

// SQL is a [Database] over database/sql. prepare keeps the statements prepared,
// which a pooler in transaction mode does not bear.
func SQL(db *sql.DB, prepare bool) Database {
	d := &sqlDatabase{db: db, heeds: fmt.Sprintf("%T", db.Driver()) == "*stdlib.Driver"}
	d.plain.Store(!prepare)
	return d
}

type sqlDatabase struct {
	db       *sql.DB
	heeds    bool        // the driver, pgx, comes back when a context ends
	plain    atomic.Bool // nothing is prepared
	prepared sync.Map    // of *sql.Stmt, by text, and those that came second by themselves
}

func (d *sqlDatabase) Query(ctx context.Context, text string, args []any, each func(Row) error) error {
	if d.heeds {
		return d.query(ctx, text, args, each)
	}
	return leaving(ctx, each, func(each func(Row) error) error {
		return counting(args, func(args []any) error { return d.query(ctx, text, args, each) })
	})
}

func (d *sqlDatabase) QueryOnce(ctx context.Context, text string, args []any, each func(Row) error) error {
	if d.heeds {
		return d.queryOnce(ctx, text, args, each)
	}
	return leaving(ctx, each, func(each func(Row) error) error {
		return counting(args, func(args []any) error { return d.queryOnce(ctx, text, args, each) })
	})
}

// counting runs a query whose error may be that of a repetition: database/sql sends a
// statement again after driver.ErrBadConn, which lib/pq also returns where a statement was
// executed and no reply came. An error that says that nothing was sent is then no longer
// true of the first time.
func counting(args []any, query func(args []any) error) error {
	if len(args) == 0 {
		return query(args)
	}
	first := &counted{arg: args[0]}
	err := query(append([]any{first}, args[1:]...))
	if err != nil && (first.times > 1 || first.times == 1 && classOf(err) == classUnsent) {
		return lost{err}
	}
	return err
}

// counted is a parameter that knows how often it was asked for, which is just before a
// statement is sent.
type counted struct {
	arg   any
	times int
}

// Value is [driver.Valuer]'s.
func (c *counted) Value() (driver.Value, error) {
	c.times++
	return c.arg, nil
}

// grace is for how long a driver may take to notice that a context has ended. What it
// says then tells more than that.
const grace = 100 * time.Millisecond

// leaving runs a query that its caller may leave. lib/pq asks the server to cancel when
// a context ends, and waits for the reply, for ever if the connection hangs: a statement
// under way must not hold up its batch and those behind it. The rows of a query that was
// left go nowhere; its goroutine ends with the connection.
func leaving(ctx context.Context, each func(Row) error, query func(each func(Row) error) error) error {
	var mu sync.Mutex
	left := false
	answer := make(chan error, 1)
	go func() {
		answer <- query(func(r Row) error {
			mu.Lock()
			defer mu.Unlock()
			if left {
				return context.Cause(ctx)
			}
			return each(r)
		})
	}()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case err := <-answer:
		return err
	case <-late.C:
	}
	mu.Lock()
	defer mu.Unlock()
	left = true
	return context.Cause(ctx)
}

func (d *sqlDatabase) query(ctx context.Context, text string, args []any, each func(Row) error) error {
	if d.plain.Load() {
		return d.queryOnce(ctx, text, args, each)
	}
	stmt, err := d.statement(ctx, text)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err = drain(ctx, rows, err, each); sqlcode.State(err) == "26000" {
		d.plain.Store(true) // a pooler that did not show itself; nothing was executed
		return d.queryOnce(ctx, text, args, each)
	}
	return err
}

func (d *sqlDatabase) queryOnce(ctx context.Context, text string, args []any, each func(Row) error) error {
	rows, err := d.db.QueryContext(ctx, text, args...)
	return drain(ctx, rows, err, each)
}

// statement prepares a statement at its first use; preparing changes nothing.
func (d *sqlDatabase) statement(ctx context.Context, text string) (*sql.Stmt, error) {
	if stmt, ok := d.prepared.Load(text); ok {
		return stmt.(*sql.Stmt), nil
	}
	stmt, err := d.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, Unsent(err)
	}
	if first, loaded := d.prepared.LoadOrStore(text, stmt); loaded {
		// Not closed now: lib/pq waits for the reply to that, while database/sql keeps the
		// whole pool locked.
		d.prepared.Store(stmt, stmt)
		return first.(*sql.Stmt), nil
	}
	return stmt, nil
}

func (d *sqlDatabase) Transact(ctx context.Context, f func(Querier) error) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return Unsent(err)
	}
	if err := f(OnTx(tx)); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Close waits a second at most: database/sql closes no statement of a connection that
// hangs. It ends with the connection.
func (d *sqlDatabase) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := leaving(ctx, nil, func(func(Row) error) (err error) {
		d.prepared.Range(func(_, stmt any) bool {
			err = errors.Join(err, stmt.(*sql.Stmt).Close())
			return true
		})
		return err
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// OnTx runs statements on a transaction of the caller.
func OnTx(tx *sql.Tx) Querier { return sqlTx{tx} }

type sqlTx struct{ *sql.Tx }

func (t sqlTx) Query(ctx context.Context, text string, args []any, each func(Row) error) error {
	rows, err := t.QueryContext(ctx, text, args...)
	return drain(ctx, rows, err, each)
}

// drain reads all rows of a query. A statement that succeeded although its context
// has ended was cancelled too late, or in its commit, while it waited for a standby:
// that is no success.
func drain(ctx context.Context, rows *sql.Rows, err error, each func(Row) error) error {
	if err != nil {
		return err
	}
	for err == nil && rows.Next() {
		err = each(rows)
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// NewSQL returns a store over database/sql: see sqlstore.NewPostgres.
func NewSQL(ctx context.Context, db *sql.DB, pooler bool, o Options) (*Store, error) {
	if db == nil {
		return nil, errors.New("sqlstore: no database; open one with a driver such as github.com/jackc/pgx/v5/stdlib")
	}
	if !pooler && db.Stats().MaxOpenConnections != 1 {
		shared, err := sharesBackends(ctx, db)
		if err != nil {
			return nil, fmt.Errorf("semel: postgres: %w%s", err, fix(err))
		}
		pooler = shared
	}
	return New(ctx, SQL(db, !pooler), o)
}

// probes is how often each of two connections is asked. A pooler may well give the
// same answers a few times, but not that often.
const probes = 16

// sharesBackends reports a pooler: a connection has met two processes of the server,
// or two have met the same one. A prepared statement is lost there, or is somebody
// else's, at the next use.
func sharesBackends(ctx context.Context, db *sql.DB) (shared bool, err error) {
	a, err := db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	b, err := db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	met := make(map[int]*sql.Conn, 2)
	for i := range 2 * probes {
		c := [...]*sql.Conn{a, b}[i%2]
		var pid int
		if err := c.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
			return false, err
		}
		if other, ok := met[pid]; ok && other != c || !ok && i >= 2 {
			return true, nil
		}
		met[pid] = c
	}
	return false, nil
}
