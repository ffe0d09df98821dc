package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	mathrand "math/rand/v2"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/bench/internal/window"
	"github.com/semel-go/semel/inbox"
	"github.com/semel-go/semel/sqlstore"
)

// accounts is how many there are to deduct from.
const accounts = 10_000

// business is a transaction that deducts a balance and notes it in a ledger, and what
// people add to it so that it happens once: a row of its own, on database/sql.
type business struct {
	db *sql.DB
	businessSQL
}

// businessSQL are the statements in a dialect.
type businessSQL struct {
	deduct, note string // the work
	mark, keep   string // the row of the key, and its response
}

var (
	postgresBusiness = businessSQL{
		deduct: "UPDATE accounts SET balance = balance - 1 WHERE id = $1",
		note:   "INSERT INTO ledger (account, amount) VALUES ($1, -1)",
		mark:   "INSERT INTO inbox (idem_key) VALUES ($1)",
		keep:   "UPDATE inbox SET response = $1 WHERE idem_key = $2",
	}
	otherBusiness = businessSQL{
		deduct: "UPDATE accounts SET balance = balance - 1 WHERE id = ?",
		note:   "INSERT INTO ledger (account, amount) VALUES (?, -1)",
		mark:   "INSERT INTO inbox (idem_key) VALUES (?)",
		keep:   "UPDATE inbox SET response = ? WHERE idem_key = ?",
	}
)

const businessNote = "A cycle deducts a balance (UPDATE) and notes it in a ledger (INSERT) in one transaction. *Bare* does only that. *By hand* adds a row for the key before, and stores 300 bytes in it after. *Semel* is inbox.Do, or Do of pgxstore."

// work is what has to happen once.
func (b *business) work(ctx context.Context, tx *sql.Tx) error {
	account := mathrand.IntN(accounts)
	if _, err := tx.ExecContext(ctx, b.deduct, account); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, b.note, account)
	return err
}

// bare is the transaction alone.
func (b *business) bare(ctx context.Context, _ int) error {
	return inTx(ctx, b.db, func(tx *sql.Tx) error { return b.work(ctx, tx) })
}

// byHand adds the row of the key, and its response.
func (b *business) byHand(ctx context.Context, _ int) error {
	return inTx(ctx, b.db, func(tx *sql.Tx) error {
		key := rand.Text()
		if _, err := tx.ExecContext(ctx, b.mark, key); err != nil {
			return err
		}
		if err := b.work(ctx, tx); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, b.keep, make([]byte, payload), key)
		return err
	})
}

// inbox does the work with its record in the transaction.
func (b *business) inbox(store *sqlstore.Store) (func(context.Context, int) error, error) {
	box, err := inbox.New(store, nil)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, _ int) error {
		return runNew(func(op semel.Op) (semel.Result[string], error) {
			return inbox.Do(ctx, box, op, func(ctx context.Context, tx *sql.Tx) (string, error) {
				return answerBody, b.work(ctx, tx)
			})
		})
	}, nil
}

// newOp is an operation with a new key.
func newOp() semel.Op {
	return semel.Op{Key: semel.KeyOf(semel.Scope{Principal: "bench"}, rand.Text()), Input: semel.NoInput}
}

// runNew does a new operation. It may be told that it is in progress when something
// locks the table for long; as any caller would, it comes back.
func runNew(do func(semel.Op) (semel.Result[string], error)) (err error) {
	op := newOp()
	for range 5 {
		res, failure := do(op)
		if failure == nil && res.Replayed {
			return errors.New("a new key was replayed")
		}
		err = failure
		if _, busy := errors.AsType[*semel.InProgressError](err); !busy {
			break
		}
	}
	return err
}

// businessOn compares the transaction on the database of a store.
func businessOn(ctx context.Context, cfg window.Config, title string, store *sqlstore.Store, statements businessSQL) (*window.Table, error) {
	b := &business{store.DB(), statements}
	guarded, err := b.inbox(store)
	if err != nil {
		return nil, err
	}
	return businessTable(ctx, cfg, title, []window.Contender{
		{Name: "bare", Cycle: b.bare},
		{Name: "by hand", Cycle: b.byHand},
		{Name: "Semel", Cycle: guarded},
	})
}

func inTx(ctx context.Context, db *sql.DB, do func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// businessTable runs the contenders on one database.
func businessTable(ctx context.Context, cfg window.Config, title string, contenders []window.Contender) (*window.Table, error) {
	table := &window.Table{Title: title, Notes: []string{businessNote}}
	return table, underLoad(ctx, cfg, table, contenders, 1, 16, 128)
}
