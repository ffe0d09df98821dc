package dup

import (
	"slices"

	"github.com/semel-go/semel/internal/sqlcall"
)

// traits are what a statement that was not refused says of itself.
type traits struct {
	quiet  bool // no row and no error means that there was nothing to insert
	chosen bool // it names the key that it may meet: ON CONFLICT (…), so that an error is about another one
}

// check refuses statements that would hide what this package tells, as far as their
// words say it.
func check(statement string, named bool) (traits, error) {
	words := sqlcall.Words(statement)
	at := slices.Index(words, "INSERT")
	if at < 0 {
		return traits{}, refuse("it has no INSERT")
	}
	words = words[at+1:]
	nothing := sqlcall.Has(words, "DO", "NOTHING")
	switch {
	case hides(words):
		return traits{}, refuse("INSERT IGNORE and INSERT OR … also hide or end what is no duplicate; write a plain INSERT")
	case sqlcall.Has(words, "DUPLICATE", "KEY", "UPDATE"), sqlcall.Has(words, "DO", "UPDATE"):
		return traits{}, refuse("an upsert does not tell an insert from an update; write a plain INSERT")
	case slices.Contains(words, "RETURNING"):
		return traits{}, refuse("a result of RETURNING is lost here, and MariaDB then counts no row; use InsertOrGet")
	case severalRows(words):
		return traits{}, refuse("one duplicate would keep the other rows out; insert one row a statement")
	case nothing && named:
		return traits{}, refuse("ON CONFLICT DO NOTHING does not tell the constraint; name none, or write a plain INSERT")
	}
	return traits{
		quiet:  nothing || slices.Contains(words, "SELECT"),
		chosen: nothing && !sqlcall.Has(words, "CONFLICT", "DO"),
	}, nil
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
	for i, word := range words {
		switch word {
		case "(":
			depth++
		case ")":
			depth--
		case "VALUES", "VALUE":
			values = values || depth == 0 && i+1 < len(words) && (words[i+1] == "(" || words[i+1] == "ROW") // else a column of this name
		case ",":
			if values && depth == 0 {
				return true
			}
		}
	}
	return false
}
