package dup

import (
	"strings"

	"github.com/semel-go/semel/internal/sqlcode"
)

// named reports whether the constraint has this name.
func (v Violation) named(name string) bool {
	if v.engine == postgres {
		return name == v.Constraint || v.Table != "" && name == v.Table+"."+v.Constraint
	}
	if v.engine == sqlite {
		return strings.EqualFold(tight(name), tight(v.Constraint))
	}
	return strings.EqualFold(name, v.Constraint) || v.Table != "" && strings.EqualFold(name, v.Table+"."+v.Constraint)
}

// tight is a list without blanks around its commas.
func tight(list string) string {
	parts := strings.Split(list, ",")
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
	}
	return strings.Join(parts, ",")
}

func ofPostgres(err error, state string) (Violation, bool) {
	if state != "23505" { // unique_violation
		return Violation{}, false
	}
	name, table := sqlcode.Constraint(err)
	return Violation{Constraint: name, Table: table, engine: postgres}, true
}

func ofMySQL(number int, text string) (Violation, bool) {
	switch number {
	case 1062, 1586, 1859: // ER_DUP_ENTRY, the same with the key's name, with the key alone
		table, name, ok := strings.Cut(lastQuoted(text), ".")
		if !ok {
			table, name = "", table
		}
		return Violation{Constraint: name, Table: table, engine: mysql}, true
	case 1022, 1169: // ER_DUP_KEY, ER_DUP_UNIQUE tell no key
		return Violation{engine: mysql}, true
	}
	return Violation{}, false
}

// lastQuoted is what stands in the last pair of quotes. It is the key in all languages
// of the server; what stands before it is the value, which may have quotes of its own.
func lastQuoted(text string) string {
	end := strings.LastIndexByte(text, '\'')
	if end < 0 {
		return ""
	}
	return text[strings.LastIndexByte(text[:end], '\'')+1 : end]
}

// The extended result codes of SQLite that mean a duplicate key, and the primary one of
// all constraints.
const (
	sqliteConstraint = 19
	sqliteUnique     = 2067
	sqlitePrimaryKey = 1555
	sqliteRowID      = 2579
)

const sqliteSays = "UNIQUE constraint failed: "

func ofSQLite(code int, text string) (Violation, bool) {
	_, name, told := strings.Cut(text, sqliteSays)
	switch code {
	case sqliteUnique, sqlitePrimaryKey, sqliteRowID:
	case sqliteConstraint:
		if !told {
			return Violation{}, false
		}
	default:
		return Violation{}, false
	}
	v := Violation{Constraint: withoutCode(name), engine: sqlite}
	if index, ok := strings.CutPrefix(v.Constraint, "index '"); ok {
		v.Constraint = strings.TrimSuffix(index, "'")
		return v, true
	}
	v.Table, _, _ = strings.Cut(v.Constraint, ".")
	return v, true
}

// withoutCode cuts off the code that a driver puts behind the text: " (2067)".
func withoutCode(text string) string {
	at := strings.LastIndex(text, " (")
	if at < 0 || strings.Trim(text[at+2:], "0123456789") != ")" {
		return text
	}
	return text[:at]
}
