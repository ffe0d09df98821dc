package demo

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// charge is a row of the shop's table. Amounts are in fen, a hundredth of a yuan.
type charge struct {
	ID        int64     `json:"id"`
	Order     string    `json:"order"`
	Customer  string    `json:"customer"`
	Item      string    `json:"item"`
	Amount    int64     `json:"amount"`
	Reference string    `json:"reference,omitempty"` // the Idempotency-Key as it came; kept for the books, never looked at
	ChargedAt time.Time `json:"charged_at"`
}

// ledger is the shop's table of charges. Nothing in it keeps an order from being
// charged twice.
type ledger struct{ db *sql.DB }

const ledgerSchema = `CREATE TABLE IF NOT EXISTS charges (
	id         INTEGER PRIMARY KEY,
	order_id   TEXT NOT NULL,
	customer   TEXT NOT NULL,
	item       TEXT NOT NULL,
	amount     INTEGER NOT NULL,
	reference  TEXT NOT NULL,
	charged_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS charges_order ON charges (order_id);
CREATE INDEX IF NOT EXISTS charges_reference ON charges (reference)`

func openLedger(ctx context.Context, file string) (*ledger, error) {
	db, err := openTables(ctx, file, ledgerSchema)
	if err != nil {
		return nil, fmt.Errorf("the shop's ledger: %w", err)
	}
	return &ledger{db}, nil
}

// openTables opens a service's database, made if it is missing.
func openTables(ctx context.Context, file, schema string) (*sql.DB, error) {
	pragmas := url.Values{"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: file, RawQuery: pragmas.Encode()}).String())
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

func (l *ledger) Close() error { return l.db.Close() }

// add commits a charge and returns it with its number.
func (l *ledger) add(ctx context.Context, c charge) (charge, error) {
	res, err := l.db.ExecContext(ctx,
		"INSERT INTO charges (order_id, customer, item, amount, reference, charged_at) VALUES (?, ?, ?, ?, ?, ?)",
		c.Order, c.Customer, c.Item, c.Amount, c.Reference, c.ChargedAt.UnixMilli())
	if err != nil {
		return c, err
	}
	c.ID, err = res.LastInsertId()
	return c, err
}

// find returns the charges of an order or of a reference, oldest first; an empty
// one matches none.
func (l *ledger) find(ctx context.Context, order, reference string) ([]charge, error) {
	rows, err := l.db.QueryContext(ctx,
		`SELECT id, order_id, customer, item, amount, reference, charged_at FROM charges
		 WHERE (order_id = ?1 AND ?1 <> '') OR (reference = ?2 AND ?2 <> '') ORDER BY id`, order, reference)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := []charge{}
	for rows.Next() {
		var c charge
		var at int64
		if err := rows.Scan(&c.ID, &c.Order, &c.Customer, &c.Item, &c.Amount, &c.Reference, &at); err != nil {
			return nil, err
		}
		c.ChargedAt = time.UnixMilli(at).UTC()
		found = append(found, c)
	}
	return found, rows.Err()
}

// tally counts what was charged for an order.
func (l *ledger) tally(ctx context.Context, order string) (count int, total int64, err error) {
	err = l.db.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(amount), 0) FROM charges WHERE order_id = ?", order).Scan(&count, &total)
	return count, total, err
}
