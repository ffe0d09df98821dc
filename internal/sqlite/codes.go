package sqlite

import (
	"errors"
	"strings"
)

// The primary result codes of SQLite that matter here.
const (
	sqliteBusy     = 5
	sqliteLocked   = 6
	sqliteIOErr    = 10
	sqliteCorrupt  = 11
	sqliteFull     = 13
	sqliteCantOpen = 14
	sqliteNotADB   = 26
)

// classify goes by the error's code where the driver tells it, else by
// SQLite's own texts.
func classify(err error) class {
	var coded interface{ Code() int }
	if errors.As(err, &coded) {
		return classOfCode(coded.Code() & 0xff)
	}
	text := err.Error()
	switch {
	case strings.Contains(text, "database is locked"), strings.Contains(text, "database table is locked"):
		return classBusy
	case strings.Contains(text, "database or disk is full"):
		return classFull
	case strings.Contains(text, "disk I/O error"), strings.Contains(text, "malformed"),
		strings.Contains(text, "not a database"), strings.Contains(text, "unable to open"):
		return classBroken
	}
	return classOther
}

func classOfCode(code int) class {
	switch code {
	case sqliteBusy, sqliteLocked:
		return classBusy
	case sqliteFull:
		return classFull
	case sqliteIOErr, sqliteCorrupt, sqliteCantOpen, sqliteNotADB:
		return classBroken
	}
	return classOther
}

// class is what an error of a driver means for a transaction.
type class int

const (
	classOther  class = iota // a statement failed; others may not
	classBusy                // the database is locked; nothing was done
	classFull                // no space is left; nothing was done
	classBroken              // the connection or the file is of no use any more
)
