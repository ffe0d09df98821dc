package sqlcode

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// SQLite is the extended result code of an error of SQLite, and SQLite's text. Of
// other drivers than modernc's and mattn's it knows the violation of a unique
// constraint and a lock, by their texts.
func SQLite(err error) (code int, text string, ok bool) {
	if err == nil {
		return 0, "", false
	}
	inner := wrapped(err)
	if len(inner) == 0 {
		return sqliteLeaf(err)
	}
	for _, err := range inner {
		if code, text, ok = SQLite(err); ok {
			break
		}
	}
	return code, text, ok
}

func sqliteLeaf(err error) (code int, text string, ok bool) {
	text = err.Error()
	if code, ok = codeByMethod(err, text); ok {
		return code, text, ok
	}
	if code, ok = codeByField(err); ok {
		return code, text, ok
	}
	code, ok = codeByText(text)
	return code, text, ok
}

// codeByMethod is for modernc.org/sqlite. Its texts have the code too, which tells it
// from all the other errors that have a method of this name.
func codeByMethod(err error, text string) (int, bool) {
	coded, ok := errors.AsType[interface {
		error
		Code() int
	}](err)
	if !ok || !strings.Contains(text, fmt.Sprintf("(%d)", coded.Code())) {
		return 0, false
	}
	return coded.Code(), true
}

// codeByField is for mattn/go-sqlite3.
func codeByField(err error) (int, bool) {
	primary, extended := field(err, "Code"), field(err, "ExtendedCode")
	if !isInt(primary) || !isInt(extended) || extended.Int()&0xff != primary.Int()&0xff {
		return 0, false
	}
	return int(extended.Int()), true
}

func isInt(v reflect.Value) bool { return v.IsValid() && v.CanInt() }

// The result codes that a text tells.
const (
	SQLiteBusy   = 5
	SQLiteLocked = 6
	SQLiteUnique = 2067
)

// codeByText goes by how a text of SQLite begins, and by nothing within: that may be
// the words of anybody.
func codeByText(text string) (int, bool) {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "sqlite3: "), "constraint failed: ")
	switch {
	case strings.HasPrefix(text, "UNIQUE constraint failed: "):
		return SQLiteUnique, true
	case strings.HasPrefix(text, "database is locked"):
		return SQLiteBusy, true
	case strings.HasPrefix(text, "database table is locked"):
		return SQLiteLocked, true
	}
	return 0, false
}
