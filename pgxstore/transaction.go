package pgxstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/intx"
	"github.com/semel-go/semel/internal/postgres"
	"github.com/semel-go/semel/internal/sqltx"
)

// transaction is one business transaction.
type transaction struct {
	d    *transactions
	conn *pgxpool.Conn
	work handle
}

// handle is what work gets; it is closed when the transaction has ended, since the
// connection is somebody else's then.
type handle struct{ pgx.Tx }

// Handle is [intx.Tx]'s.
func (t *transaction) Handle() pgx.Tx { return &t.work }

// begin sends BEGIN, the claim of a new key, and the savepoint together.
func (t *transaction) begin(ctx context.Context, p *semel.ClaimParams, wait time.Duration) (semel.ClaimResult, error) {
	if t.d.stepwise || wait >= postgres.LeastWait {
		return t.beginStepwise(ctx, p, wait)
	}
	batch := new(pgx.Batch)
	batch.BeginTx(t.d.opts)
	text, args := t.d.text.First(p)
	batch.Queue(text, args...)
	batch.Queue(savepoint)
	results := t.conn.SendBatch(ctx, batch)
	t.work.Tx = results.Tx()
	res, settled, err := readFirst(results, p)
	if closed := results.Close(); err == nil {
		err = closed
	}
	if err != nil || settled {
		return res, err
	}
	res, err = t.d.text.Next(ctx, onTx{t.work.Tx}, wait, p)
	return t.save(ctx, res, err)
}

// readFirst reads the answer to BEGIN and to the claim. settled is false when there is
// a record, and the claim has to go on.
func readFirst(results pgx.BatchResults, p *semel.ClaimParams) (res semel.ClaimResult, settled bool, err error) {
	if _, err := results.Exec(); err != nil {
		return res, false, err
	}
	rows, err := results.Query()
	err = drain(rows, err, func(r postgres.Row) (err error) {
		res, settled, err = postgres.ReadFirst(r, p)
		return err
	})
	return res, settled, err
}

func (t *transaction) beginStepwise(ctx context.Context, p *semel.ClaimParams, wait time.Duration) (res semel.ClaimResult, err error) {
	if t.work.Tx, err = t.conn.BeginTx(ctx, t.d.opts); err != nil {
		return res, err
	}
	res, err = t.d.text.Claim(ctx, onTx{t.work.Tx}, wait, p)
	return t.save(ctx, res, err)
}

// save marks the place where the work begins, behind a claim that was acquired.
func (t *transaction) save(ctx context.Context, res semel.ClaimResult, err error) (semel.ClaimResult, error) {
	if err == nil && res.Outcome == semel.ClaimAcquired {
		_, err = t.work.Exec(ctx, savepoint)
	}
	return res, err
}

// Undo is [intx.Tx]'s.
func (t *transaction) Undo(ctx context.Context) error {
	_, err := t.work.Exec(ctx, "ROLLBACK TO SAVEPOINT "+sqltx.Savepoint)
	return endedOr(err)
}

// Commit is [intx.Tx]'s. It sends the result and COMMIT together; the result fails,
// and with it the rest, if the record is not what it has to be.
func (t *transaction) Commit(ctx context.Context, p *semel.FinishParams) error {
	text, args := t.d.text.MustFill(p)
	var err error
	if t.d.stepwise {
		err = t.commitStepwise(ctx, text, args)
	} else {
		err = t.commitTogether(ctx, text, args)
	}
	if err == nil {
		t.close()
		return nil
	}
	_ = t.Rollback() // the first error says all
	return endedOr(err)
}

func (t *transaction) commitTogether(ctx context.Context, text string, args []any) error {
	batch := new(pgx.Batch)
	batch.Queue(text, args...)
	batch.Queue("COMMIT")
	results := t.work.SendBatch(ctx, batch)
	_, _ = results.Exec() // the error of the result is that of all behind it
	tag, err := results.Exec()
	if closed := results.Close(); err == nil {
		err = closed
	}
	if err == nil && tag.String() != "COMMIT" {
		err = pgx.ErrTxCommitRollback
	}
	return uncommitted(err)
}

func (t *transaction) commitStepwise(ctx context.Context, text string, args []any) error {
	if err := (onTx{t.work.Tx}).Query(ctx, text, args, func(postgres.Row) error { return nil }); err != nil {
		return err
	}
	return uncommitted(t.work.Commit(ctx))
}

// uncommitted marks the failure of a commit that may have been executed.
func uncommitted(err error) error {
	if err == nil || errors.Is(err, pgx.ErrTxClosed) || errors.Is(err, pgx.ErrTxCommitRollback) {
		return err
	}
	if _, open := postgres.ClassInTx(err); open {
		return fmt.Errorf("%w: commit: %w", semel.ErrNoReply, err)
	}
	return err
}

// rollbackTimeout bounds a rollback; without a reply the connection is closed, and the
// server rolls back.
const rollbackTimeout = 5 * time.Second

// Rollback is [intx.Tx]'s.
func (t *transaction) Rollback() error {
	defer t.close()
	if t.work.Tx == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
	defer cancel()
	ended := t.conn.Conn().PgConn().TxStatus() == 'I' && !t.conn.Conn().IsClosed()
	err := t.work.Rollback(ctx)
	if err == nil && ended {
		return intx.ErrEnded
	}
	return endedOr(err)
}

// close gives the connection back; the pool closes one that is still in a
// transaction.
func (t *transaction) close() {
	t.work.Tx = closedTx()
	t.conn.Release()
}

// closedTx is a transaction that answers everything with [pgx.ErrTxClosed].
func closedTx() pgx.Tx {
	batch := new(pgx.Batch)
	batch.BeginTx(pgx.TxOptions{})
	return pgx.FailedBatchResults(batch, pgx.ErrTxClosed).Tx()
}

// endedOr translates what pgx says of a transaction that is over, and the failure of
// a result that found no record.
func endedOr(err error) error {
	if errors.Is(err, pgx.ErrTxClosed) || postgres.Unfilled(err) {
		return intx.ErrEnded
	}
	return err
}
