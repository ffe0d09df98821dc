package kills

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/semel-go/semel"
	"github.com/semel-go/semel/inbox"
	"github.com/semel-go/semel/integration/internal/backends"
	"github.com/semel-go/semel/pgxstore"
	"github.com/semel-go/semel/sqlstore"
)

// executor runs jobs on a database, under their guarantee levels.
type executor struct {
	name     string
	handle   *backends.Handle
	engine   *semel.Engine
	transact transact
}

// transact runs an operation whose record commits with its effects, which exec writes.
type transact func(ctx context.Context, op semel.Op, run func(ctx context.Context, exec exec) (string, error)) (semel.Result[string], error)

type exec func(ctx context.Context, statement string) error

const (
	lease    = 10 * time.Minute
	patience = time.Minute // more than the machine ever needs
)

func open(ctx context.Context, name, backend, dsn string) (*executor, error) {
	b, err := backends.Named(backend)
	if err != nil {
		return nil, err
	}
	h, err := b.Open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	engine, err := semel.New(h.Store, &semel.Options{
		Lease: lease, ClaimTimeout: patience, FinishTimeout: patience, PurgeEvery: -1,
	})
	if err != nil {
		return nil, err
	}
	transact, err := transactOn(h)
	return &executor{name: name, handle: h, engine: engine, transact: transact}, err
}

func (e *executor) close() error {
	return errors.Join(e.engine.Close(context.Background()), e.handle.Close())
}

// do runs a job. run gets a function that writes the effect.
func (e *executor) do(ctx context.Context, j job, run func(ctx context.Context, effect func() error) error) (replayed bool, err error) {
	if j.level == transactional {
		res, err := e.transact(ctx, j.op(), func(ctx context.Context, exec exec) (string, error) {
			return e.name, run(ctx, func() error { return exec(ctx, effectOf(j, e.name, 0)) })
		})
		return res.Replayed, err
	}
	res, err := semel.Do(ctx, e.engine, j.op(), func(ctx context.Context) (string, error) {
		return e.name, run(ctx, func() error { return e.write(ctx, j) })
	})
	return res.Replayed, err
}

// write writes the effect of a job beside its record.
func (e *executor) write(ctx context.Context, j job) error {
	fence, _ := semel.FenceFrom(ctx)
	_, err := e.handle.DB.ExecContext(ctx, effectOf(j, e.name, fence))
	return err
}

func effectOf(j job, by string, fence semel.Fence) string {
	return fmt.Sprintf("INSERT INTO effect VALUES (%d, '%s', %d)", j.key, by, fence)
}

// transactOn is transactional mode on either face of a database.
func transactOn(h *backends.Handle) (transact, error) {
	switch s := h.Store.(type) {
	case *pgxstore.Store:
		box, err := pgxstore.NewBox(s, nil)
		return func(ctx context.Context, op semel.Op, run func(context.Context, exec) (string, error)) (semel.Result[string], error) {
			return pgxstore.Do(ctx, box, op, func(ctx context.Context, tx pgx.Tx) (string, error) {
				return run(ctx, func(ctx context.Context, statement string) error {
					_, err := tx.Exec(ctx, statement)
					return err
				})
			})
		}, err
	case *sqlstore.Store:
		box, err := inbox.New(s, nil)
		return func(ctx context.Context, op semel.Op, run func(context.Context, exec) (string, error)) (semel.Result[string], error) {
			return inbox.Do(ctx, box, op, func(ctx context.Context, tx *sql.Tx) (string, error) {
				return run(ctx, func(ctx context.Context, statement string) error {
					_, err := tx.ExecContext(ctx, statement)
					return err
				})
			})
		}, err
	}
	return func(context.Context, semel.Op, func(context.Context, exec) (string, error)) (semel.Result[string], error) {
		return semel.Result[string]{}, fmt.Errorf("no transactional mode on %T", h.Store)
	}, nil
}
