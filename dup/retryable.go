package dup

import (
	"errors"

	"github.com/semel-go/semel/internal/sqlcode"
)

// Retryable reports an error after which the same again may succeed, since only others
// were in the way: a serialization failure, a deadlock, a lock that was not free in
// time, a database that is busy; and an [*UnseenError] without effect. PostgreSQL: 40001,
// 40P01, 55P03. MySQL and MariaDB: 1213, 1205, 1020, 3572. SQLite: BUSY and LOCKED with all
// their kinds, such as BUSY_SNAPSHOT.
//
// In a transaction the same again is the whole transaction: roll back, and begin a new
// one. The engines differ in what is left of the old one, and a snapshot stays as old
// as it is. An error without a reply is not retryable: the statement may have been
// executed.
func Retryable(err error) bool {
	if unseen, ok := errors.AsType[*UnseenError](err); ok {
		return !unseen.Inserted
	}
	if state := sqlcode.State(err); state != "" {
		return state == "55P03" || beaten(err)
	}
	if n, _, ok := sqlcode.Number(err); ok {
		return n == 1205 || n == 3572 || beaten(err) // lock wait timeout, NOWAIT
	}
	code, _, ok := sqlcode.SQLite(err)
	return ok && (code&0xff == sqlcode.SQLiteBusy || code&0xff == sqlcode.SQLiteLocked)
}

// beaten reports that a transaction was rolled back in favour of another one, so that
// the same may succeed at once.
func beaten(err error) bool {
	switch sqlcode.State(err) {
	case "40001", "40P01": // serialization failure, deadlock
		return true
	case "":
		n, _, _ := sqlcode.Number(err)
		return n == 1213 || n == 1020 // deadlock, changed since the snapshot
	}
	return false
}
