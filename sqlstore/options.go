package sqlstore

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/semel-go/semel/internal/sqlrecord"
)

// Options are the settings of a [Store]. The zero value of each field means its
// default, and so does a nil *Options.
type Options struct {
	// Prefix begins the names of the tables and of their indexes: lower-case
	// letters, digits and underscores. Default "semel_".
	Prefix string
	// BusyTimeout is for how long a transaction waits while another process writes.
	// Default 5s.
	BusyTimeout time.Duration
	// MaxBatch is the largest number of calls that share a transaction. Default 512; 1: none do.
	MaxBatch int
	// Timeout bounds each call to a database server, beside the caller's context.
	// Default 5s.
	Timeout time.Duration
	// NoMigrate leaves the schema of a database server to other means: a store only
	// checks its version. `semel migrate --print` prints the statements. Default:
	// missing tables are created, and old ones updated.
	NoMigrate bool
	// Pooler says that the connections to PostgreSQL go through a pooler in transaction
	// mode, such as PgBouncer: nothing is then kept prepared. Give lib/pq
	// binary_parameters=yes and pgx default_query_exec_mode=exec as well. Default: found
	// out at start, where the pooler shows itself.
	Pooler bool
	// Now is the clock of an embedded database (SQLite). Processes that share a file
	// must share a clock. Default time.Now.
	Now func() time.Time
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
	if c.BusyTimeout == 0 {
		c.BusyTimeout = 5 * time.Second
	}
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Second
	}
	if c.MaxBatch == 0 {
		c.MaxBatch = 512
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// validate reports every contradiction at once, each with its fix.
func (o *Options) validate() error {
	return errors.Join(
		refuse(!prefixForm.MatchString(o.Prefix), "Prefix %q is no plain identifier; use up to 31 lower-case letters, digits and underscores", o.Prefix),
		refuse(o.BusyTimeout < time.Millisecond, "BusyTimeout %v is below 1ms; leave it 0 for 5s", o.BusyTimeout),
		refuse(o.Timeout < time.Millisecond, "Timeout %v is below 1ms; leave it 0 for 5s", o.Timeout),
		refuse(o.MaxBatch < 1, "MaxBatch %d is negative; leave it 0 for 512", o.MaxBatch),
	)
}

func refuse(bad bool, format string, args ...any) error {
	if !bad {
		return nil
	}
	return fmt.Errorf("sqlstore: "+format, args...)
}
