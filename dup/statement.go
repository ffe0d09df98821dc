package dup

import (
	"slices"

	"github.com/semel-go/semel/internal/sqlcall"
)

// check refuses statements that would hide what this package tells, as far as their
// words say it. quiet: the statement may insert no row without an error.
func check(statement string, named bool) (quiet bool, err error) {
	words := sqlcall.Words(statement)
	at := slices.Index(words, "INSERT")
	if at < 0 {
		return false, refuse("it has no INSERT")
	}
	words = words[at+1:]
	nothing := sqlcall.Has(words, "DO", "NOTHING")
	switch {
	case hides(words):
		return false, refuse("INSERT IGNORE and INSERT OR … also hide or end what is no duplicate; write a plain INSERT")
	case sqlcall.Has(words, "DUPLICATE", "KEY", "UPDATE"), sqlcall.Has(words, "DO", "UPDATE"):
		return false, refuse("an upsert does not tell an insert from an update; write a plain INSERT")
	case slices.Contains(words, "RETURNING"):
		return false, refuse("a result of RETURNING is lost here, and MariaDB then counts no row; use InsertOrGet")
	case severalRows(words):
		return false, refuse("one duplicate would keep the other rows out; insert one row a statement")
	case nothing && named:
		return false, refuse("ON CONFLICT DO NOTHING does not tell the constraint; name none, or write a plain INSERT")
	}
	return nothing || slices.Contains(words, "SELECT"), nil
}

// hides looks at what stands between INSERT and the table.
func hides(words []string) bool {
	for i, word := range words {
		switch word {
		case "INTO", "(":
			return false
		case "IGNORE":
			return true
		case "OR":
			return i+1 == len(words) || words[i+1] != "ABORT"
		}
	}
	return false
}

// severalRows looks for a comma between the rows of VALUES.
func severalRows(words []string) bool {
	depth, values := 0, false
	for _, word := range words {
		switch word {
		case "(":
			depth++
		case ")":
			depth--
		case "VALUES", "VALUE":
			values = values || depth == 0
		case ",":
			if values && depth == 0 {
				return true
			}
		}
	}
	return false
}
