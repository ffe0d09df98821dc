package lock

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/semel-go/semel"
)

// NoWait, as Options.Wait, asks once and does not wait.
const NoWait time.Duration = -1

// Options are the settings of one acquisition. The zero value of each field means its
// default, and so does a nil *Options.
type Options struct {
	// Wait is for how long to wait for the lock: [NoWait] not at all, [semel.Forever] until
	// the context ends. Default Config.Wait; of a [*Local] until the context ends.
	Wait time.Duration
	// Lease is for how long the lock outlives a holder that died, and for how long the
	// store may be silent before a holder loses it. Default Config.Lease. A [*Local] has none.
	Lease time.Duration
}

func (o *Options) withDefaults(wait, lease time.Duration) Options {
	var c Options
	if o != nil {
		c = *o
	}
	return Options{Wait: cmp.Or(c.Wait, wait), Lease: cmp.Or(c.Lease, lease)}
}

// Config has the settings of a [*Leased]. The zero value of each field means its default,
// and so does a nil *Config.
type Config struct {
	// Scope separates the names of programs that share a store; all processes of one
	// program need the same. Its Operation is the label of the records and in metrics.
	// Default {semel.Global, "lock"}.
	Scope semel.Scope
	// Lease is that of acquisitions that name none. Default 30s.
	Lease time.Duration
	// Wait is that of acquisitions that name none. Default 1m.
	Wait time.Duration
	// Retention is for how long the record of a lock that nobody holds stays, and with it
	// its fence: see docs/locks.md. At least twice the lease. Default 10m, or that.
	Retention time.Duration
	// Poll is the longest pause between two looks of a process that waits, on a store that
	// cannot tell it of a release. Default 100ms.
	Poll time.Duration
	// MaxWaiters is how many callers of this process may wait behind another one of it.
	// Whoever waits for other processes counts apart: 1,024 names at once. Default 1,024.
	MaxWaiters int
	// MaxWaitersPerName is how many of them may wait for one name. Default 256.
	MaxWaitersPerName int
	// Logger receives what an operator must know. Names are never logged. Default
	// slog.Default().
	Logger *slog.Logger
	// Observer is told of every transition, with the events of an engine. Default none.
	Observer semel.Observer
}

func (c *Config) withDefaults() Config {
	var d Config
	if c != nil {
		d = *c
	}
	if d.Scope == (semel.Scope{}) {
		d.Scope = semel.Scope{Principal: semel.Global, Operation: "lock"}
	}
	d.Lease = cmp.Or(d.Lease, 30*time.Second)
	d.Wait = cmp.Or(d.Wait, time.Minute)
	d.Retention = cmp.Or(d.Retention, max(10*time.Minute, 2*d.Lease))
	d.Poll = cmp.Or(d.Poll, 100*time.Millisecond)
	d.MaxWaiters = cmp.Or(d.MaxWaiters, 1024)
	d.MaxWaitersPerName = cmp.Or(d.MaxWaitersPerName, 256)
	return d
}

// validate reports every mistake that an engine does not find, each with its fix.
func (c *Config) validate() error {
	return errors.Join(
		refuse(c.Scope.Principal == "", "Scope has no Principal; name the tenant, or say semel.Global"),
		refuse(c.Retention < 2*c.Lease, "Retention %v is below twice the Lease %v; raise it, or leave it 0 for 10m", c.Retention, c.Lease),
		refuse(c.MaxWaiters < 1, "MaxWaiters is negative; leave it 0 for 1024"),
		refuse(c.MaxWaitersPerName < 1, "MaxWaitersPerName is negative; leave it 0 for 256"),
	)
}

// engine are the settings of the engine that keeps the leases.
func (c *Config) engine() *semel.Options {
	return &semel.Options{
		Policy: semel.AtLeastOnce, Lease: c.Lease, Retention: c.Retention, Poll: c.Poll,
		ClaimTimeout: min(2*time.Second, c.Lease/2), FinishTimeout: min(5*time.Second, c.Lease),
		Logger: c.Logger, Observer: c.Observer,
	}
}

func refuse(bad bool, format string, args ...any) error {
	if !bad {
		return nil
	}
	return fmt.Errorf("lock: "+format, args...)
}
