package mysql

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"strings"

	"github.com/semel-go/semel/internal/sqlcode"
)

// Class is what an error means for the statement that met it.
type Class int

// The classes of errors.
const (
	// Unsure: the reply is missing, or it leaves the outcome open.
	Unsure Class = iota
	// Refused: the statement was not executed, and the same one will be refused again.
	Refused
	// Unreached: the server was not reached, or is not able to serve.
	Unreached
	// Locked: a row stayed locked by somebody else for too long. The statement was
	// undone; a transaction around it goes on.
	Locked
	// Conflict: the statement and a transaction around it were undone, in favour of
	// others. The same again may succeed.
	Conflict
	// Full: there is no space left; the statement was undone.
	Full
)

// ClassOf goes by the server's error number.
func ClassOf(err error) Class {
	if n, _, ok := sqlcode.Number(err); ok {
		return classOfNumber(n)
	}
	if err != nil && beforeSending(err) {
		return Unreached
	}
	return Unsure
}

func classOfNumber(n int) Class {
	switch n {
	case 1213, 1020, 1614, 3101, 1615: // deadlock, changed since the snapshot, XA, rolled back by a plugin, prepare again
		return Conflict
	case 1205, 3572: // lock wait timeout, NOWAIT
		return Locked
	case 1021, 1041, 1114, 1037, 1038: // disk, memory, table
		return Full
	case 1180, 3100, 1105, 1317, 1053, 1927, 1030: // during the commit, unknown, killed, shutdown, I/O
		return Unsure
	case 1040, 1047, 1203, 1226, 1129, 1158, 1159, 1160, 1161, 1290, 1836: // connections, cluster, network, read-only
		return Unreached
	}
	return Refused
}

// beforeSending reports failures that come before a statement is sent.
func beforeSending(err error) bool {
	var dial *net.OpError
	if _, ok := errors.AsType[unsent](err); ok {
		return true
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone) ||
		errors.As(err, &dial) && dial.Op == "dial" || strings.HasSuffix(err.Error(), "database is closed") ||
		strings.HasPrefix(err.Error(), "packet for query is too large")
}
