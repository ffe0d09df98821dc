// Package lock lets one holder at a time into a piece of work: among all processes that
// share a store, among the callers of one process, or among the transactions of one
// database.
//
//	locker, err := lock.New(store, nil) // any semel.Store
//	defer locker.Close(ctx)
//
//	err = lock.Do(ctx, locker, "report/2026", nil, func(ctx context.Context, fence semel.Fence) error {
//		tx, err := db.BeginTx(ctx, nil)
//		if err != nil {
//			return err
//		}
//		defer tx.Rollback()
//		if err := lock.Guard(ctx, tx, "report/2026", fence); err != nil {
//			return err // somebody else has the lock by now
//		}
//		…
//		return tx.Commit()
//	})
//
// A lock that is held by time, as every lock across machines is, is an optimisation: it
// keeps two from working at once nearly always. A process that is paused for longer than
// its lease does not know that the lock has passed on. The fence, a number that grows with
// each acquisition, is what stops its late write: [Guard] checks it in the transaction that
// writes. docs/locks.md shows when that matters, moment by moment.
//
// # Map
//
//   - lock.go: [Do], [TryDo], [Held], and what a [Locker] is
//   - leased.go: [Leased], locks over any store, made by [New]
//   - local.go: [Local], a mutex for each name within this process
//   - queue.go: the order of those who wait in this process
//   - options.go, errors.go: settings, and what callers are told
//   - guard.go: [Guard] and [Fences] refuse a stale fence at the resource
//   - row.go, advisory.go, within.go: [ForUpdate], [Advisory] and [Within], locks that end
//     with a transaction
//   - transaction.go: what a transaction is, and which database it belongs to
//
// pgxstore.LockTx makes a [Tx] of a pgx.Tx.
package lock
