// Package intx is transactional mode, whatever the database: the record of an
// operation is written in the transaction of its effects, so that both commit or
// neither does. Packages inbox (database/sql) and pgxstore (pgx) are its faces.
//
// One try is: begin, claim the key in the transaction, savepoint, work, result,
// commit. The claim writes the record as done, with a mark for a result: whoever
// sees it sees a committed one. Work that commits by itself therefore leaves "done,
// result not kept", never a second run.
//
//   - database.go: what a database brings, and what its errors mean
//   - settings.go: the settings of a box
//   - flow.go: an operation from claim to answer, with its retries
//   - do.go: functions and HTTP handlers as work
//   - begin.go, seats.go: claims, and the wait of duplicates
//   - work.go: one run of the work, and its end
//   - settle.go: commits whose reply was lost
//   - mark.go: a mark in a transaction of the caller
//   - observe.go, purge.go: events, and the purge of expired records
package intx
