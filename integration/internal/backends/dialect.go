package backends

import (
	"fmt"

	"github.com/semel-go/semel"
)

// dialect is how an engine wants its SQL.
type dialect int

const (
	sqlite dialect = iota
	postgres
	mysql
)

// quote makes a name of a word that may be reserved.
func (d dialect) quote(name string) string {
	if d == mysql {
		return "`" + name + "`"
	}
	return `"` + name + `"`
}

// key is a literal.
func (d dialect) key(id semel.KeyID) string {
	if d == postgres {
		return fmt.Sprintf("'%x'::uuid", id[:])
	}
	return fmt.Sprintf("x'%x'", id[:])
}
