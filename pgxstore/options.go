package pgxstore

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/semel-go/semel/internal/sqlrecord"
)

// Options are the settings of a [Store]. The zero value of each field means its
// default, and so does a nil *Options.
type Options struct {
	// Prefix begins the names of the tables and of their indexes: lower-case
	// letters, digits and underscores. Default "semel_".
	Prefix string
	// MaxBatch is the largest number of calls that share a statement. Default 512; 1: none do.
	MaxBatch int
	// Timeout bounds each call, beside the caller's context. Default 5s.
	Timeout time.Duration
	// NoMigrate leaves the schema to other means: a store only checks its version.
	// `semel migrate --print` prints the statements. Default: missing tables are
	// created, and old ones updated.
	NoMigrate bool
	// Listen is how to reach the server for one connection that listens, while
	// duplicates wait: directly, since a pooler in transaction mode passes no
	// notifications on. Default: as the pool does; behind a pooler none, and waiters look
	// from time to time.
	Listen *pgx.ConnConfig
}

var prefixForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,30}$`)

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Prefix == "" {
		c.Prefix = sqlrecord.DefaultPrefix
	}
	if c.MaxBatch == 0 {
		c.MaxBatch = 512
	}
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Second
	}
	return c
}

// validate reports every contradiction at once, each with its fix.
func (o *Options) validate() error {
	return errors.Join(
		refuse(!prefixForm.MatchString(o.Prefix), "Prefix %q is no plain identifier; use up to 31 lower-case letters, digits and underscores", o.Prefix),
		refuse(o.MaxBatch < 1, "MaxBatch %d is negative; leave it 0 for 512", o.MaxBatch),
		refuse(o.Timeout < time.Millisecond, "Timeout %v is below 1ms; leave it 0 for 5s", o.Timeout),
	)
}

func refuse(bad bool, format string, args ...any) error {
	if !bad {
		return nil
	}
	return fmt.Errorf("pgxstore: "+format, args...)
}
