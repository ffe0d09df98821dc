// Package inbox makes an operation take effect exactly once: its record is written
// in the same database transaction as its business rows, so that both commit or
// neither does. It works on *sql.Tx, for the databases of package sqlstore; package
// pgxstore has the same for pgx.Tx.
//
//	store, err := sqlstore.OpenSQLite(ctx, connector, nil)
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	box, err := inbox.New(store, nil)
//	if err != nil {
//		return err
//	}
//	op := semel.Op{
//		Key:   semel.KeyOf(semel.Scope{Principal: account, Operation: "withdraw"}, orderID),
//		Input: semel.InputJSON(order),
//	}
//	res, err := inbox.Do(ctx, box, op, func(ctx context.Context, tx *sql.Tx) (Receipt, error) {
//		_, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance - ? WHERE id = ?", order.Amount, account)
//		return Receipt{Order: orderID}, err
//	})
//
// What happens when a process dies: before the commit the database rolls back and
// there is no record, so the next caller runs; after it the record is there, and
// the next caller gets the result. There is nothing in between, so there is no lease,
// no fence to check, and nothing is ever in doubt.
//
// Effects outside the database are not part of the promise: they happen at least
// once. The database's own promises hold for both alike: what a failover loses, it
// loses together.
//
// A map of the package:
//
//   - box.go, options.go: the box that users hold, and its settings
//   - do.go: a function in a transaction
//   - mark.go: a mark in a transaction of the caller
//   - handler.go: HTTP handlers, with package semelhttp
package inbox
