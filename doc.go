// Package semel makes an operation take effect once per key, however often it is
// asked for: double clicks, client retries, redelivered messages, two replicas
// racing, a process killed half-way.
//
//	store, err := memstore.New(nil) // or sqlstore.OpenSQLite, …
//	engine, err := semel.New(store, nil)
//	defer engine.Close(ctx)
//
//	op := semel.Op{
//		Key:   semel.KeyOf(semel.Scope{Principal: userID, Operation: "charge"}, orderID),
//		Input: semel.InputJSON(order),
//	}
//	res, err := semel.Do(ctx, engine, op, func(ctx context.Context) (Receipt, error) {
//		return bank.Charge(ctx, order)
//	})
//
// The first caller runs the function and its result is recorded; every later one
// gets the recorded result. The same key with another input is refused.
//
// What happens when a process dies in between is chosen per operation:
// [AtLeastOnce] runs the work again, [AtMostOnce] leaves the record in doubt until
// [DoRecover] or an operator decides. Exactly once is possible only where record
// and effect commit in one database transaction, as in package inbox.
//
// # Map
//
//   - Operations: [Op], [Key], [Input]; [Do] and [DoRecover] for functions,
//     [Engine.Begin] for what is neither a function nor an HTTP handler;
//     [FirstTime] for work that may be lost.
//   - What a handler says with its error: [Final], [Retryable], [InDoubt].
//   - What a caller is told: [*InProgressError], [*MismatchError],
//     [*InDoubtError], [*ResultUnavailableError], [*StoreError].
//   - [Store]: the contract of stores. Package memstore keeps records in memory,
//     sqlstore in SQL databases; storetest checks any other.
//   - Package inbox keeps the record in the transaction of the business rows;
//     [Recorder] is what it shares with the engine.
//   - Package semelhttp guards HTTP handlers by their Idempotency-Key, and has the
//     client that sends it. Package semeltest is for the tests of its users.
//   - Other schemes: dup for rows with a unique number, optimistic for rows with a version,
//     lock for one holder at a time, onetime for forms without a key, idgen for ids.
//     docs/which-scheme.md says which when.
//
// The words are those of docs/concepts.md: a claim has an owner token, a lease
// and a fence; a record is running, released, done or in doubt.
package semel
