package inbox

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/inbox"
)

// box is a transactional box of any kind, as the rules use it.
type box interface {
	do(ctx context.Context, op semel.Op, fn work) (semel.Result[receipt], error)
	// transact begins a transaction of the caller and ends it as fn says.
	transact(ctx context.Context, iso sql.IsolationLevel, fn func(tx execer) error) error
	mark(ctx context.Context, tx execer, op semel.Op) (bool, error)
	Transact(ctx context.Context, op semel.Op, fn func(context.Context) (semel.Verdict, bool)) (*semel.Record, error)
	Store() semel.Store
	Defaults() semel.Op
	Check(op semel.Op) error
}

type work func(ctx context.Context, tx execer) (receipt, error)

type receipt struct{ Amount int }

// execer is a transaction, whatever its driver. Statements have no parameters.
type execer interface {
	exec(ctx context.Context, sql string) error
	number(ctx context.Context, sql string) (int, error)
	end(commit bool) error
}

// withdraw is the business of these tests: it must happen once per key.
func withdraw(ctx context.Context, tx execer, op string, amount int) (receipt, error) {
	return withdrawFrom(ctx, tx, 1, op, amount)
}

func withdrawFrom(ctx context.Context, tx execer, account int, op string, amount int) (receipt, error) {
	err := tx.exec(ctx, fmt.Sprintf("INSERT INTO withdrawal (op, amount) VALUES ('%s', %d)", op, amount))
	if err == nil {
		err = tx.exec(ctx, fmt.Sprintf("UPDATE account SET balance = balance - %d WHERE id = %d", amount, account))
	}
	return receipt{amount}, err
}

// withdrawing is withdraw as the work of a box.
func withdrawing(op string, amount int) work {
	return func(ctx context.Context, tx execer) (receipt, error) { return withdraw(ctx, tx, op, amount) }
}

// opOf is the operation of a withdrawal.
func opOf(name string) semel.Op {
	return semel.Op{
		Key:   semel.KeyOf(semel.Scope{Principal: "alice", Operation: "withdraw"}, name),
		Input: semel.InputString(name),
	}
}

const startBalance = 1_000_000

// bank holds the business tables of one test.
type bank struct {
	db *sql.DB
}

// schema are its tables; every engine takes them.
var schema = []string{
	"CREATE TABLE account (id INTEGER NOT NULL PRIMARY KEY, balance INTEGER NOT NULL)",
	"CREATE TABLE withdrawal (op VARCHAR(64) NOT NULL, amount INTEGER NOT NULL)",
	"CREATE TABLE other (id INTEGER NOT NULL)",
	fmt.Sprintf("INSERT INTO account (id, balance) VALUES (1, %d), (2, %d)", startBalance, startBalance),
}

func (b *bank) create(t *testing.T) {
	t.Helper()
	for _, text := range schema {
		if _, err := b.db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
}

func (b *bank) number(t *testing.T, query string) (n int) {
	t.Helper()
	if err := b.db.QueryRowContext(context.WithoutCancel(t.Context()), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// check asserts the invariants: money is only moved, no key has two withdrawals, and a
// withdrawal is there exactly where a done record with a value is.
func (b *bank) check(t *testing.T, f *fixture) {
	t.Helper()
	if got := b.number(t, "SELECT SUM(balance) FROM account") + b.number(t, "SELECT COALESCE(SUM(amount), 0) FROM withdrawal"); got != 2*startBalance {
		t.Errorf("balances and withdrawals add up to %d, want %d", got, 2*startBalance)
	}
	if got := b.number(t, "SELECT COUNT(*) FROM (SELECT op FROM withdrawal GROUP BY op HAVING COUNT(*) > 1) AS twice"); got != 0 {
		t.Errorf("%d keys have taken effect more than once", got)
	}
	effects, values := b.number(t, "SELECT COUNT(*) FROM withdrawal"), f.values(t)
	if effects != values {
		t.Errorf("%d effects, %d recorded values; want one for each", effects, values)
	}
}

// times is how often the operation of that name took effect.
func (b *bank) times(t *testing.T, name string) int {
	t.Helper()
	return b.number(t, fmt.Sprintf("SELECT COUNT(*) FROM withdrawal WHERE op = '%s'", name))
}

// sqlBox is package inbox's.
type sqlBox struct{ *inbox.Box }

func (b sqlBox) do(ctx context.Context, op semel.Op, fn work) (semel.Result[receipt], error) {
	return inbox.Do(ctx, b.Box, op, func(ctx context.Context, tx *sql.Tx) (receipt, error) { return fn(ctx, sqlTx{tx}) })
}

func (b sqlBox) mark(ctx context.Context, tx execer, op semel.Op) (bool, error) {
	return inbox.Mark(ctx, b.Box, tx.(sqlTx).Tx, op)
}

func (b sqlBox) transact(ctx context.Context, iso sql.IsolationLevel, fn func(tx execer) error) error {
	tx, err := b.Store().(interface{ DB() *sql.DB }).DB().BeginTx(ctx, &sql.TxOptions{Isolation: iso})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fn(sqlTx{tx}); err != nil {
		return err
	}
	return tx.Commit()
}

type sqlTx struct{ *sql.Tx }

func (t sqlTx) exec(ctx context.Context, sql string) error {
	_, err := t.ExecContext(ctx, sql)
	return err
}

func (t sqlTx) number(ctx context.Context, sql string) (n int, err error) {
	err = t.QueryRowContext(ctx, sql).Scan(&n)
	return n, err
}

func (t sqlTx) end(commit bool) error {
	if commit {
		return t.Commit()
	}
	return t.Rollback()
}
