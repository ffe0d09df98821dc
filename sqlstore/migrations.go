package sqlstore

import (
	"fmt"

	"github.com/semel-go/semel/internal/mysql"
	"github.com/semel-go/semel/internal/postgres"
	"github.com/semel-go/semel/internal/sqlite"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// Migration is one numbered step of the schema.
type Migration = sqlrecord.Migration

// Migrations returns the steps that a store of this dialect ("sqlite", "postgres",
// "mysql") with these options applies, in order; for reading, or for applying them by
// other means.
func Migrations(dialect string, opts *Options) ([]Migration, error) {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	switch dialect {
	case "sqlite":
		return sqlite.Migrations(o.Prefix)
	case "postgres":
		return postgres.Migrations(o.Prefix)
	case "mysql":
		return mysql.Migrations(o.Prefix)
	}
	return nil, fmt.Errorf("sqlstore: there is no dialect %q; use sqlite, postgres or mysql", dialect)
}
