package idgen

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/semel-go/semel"
)

// Options are the settings of a [Node]. The zero value of each field means its
// default, and so does a nil *Options.
type Options struct {
	// Group names the nodes among which ids are unique: all that write ids into one
	// table. Default "ids".
	Group string
	// Layout is where the bits are; one for all nodes of a group. Default: see [Layout].
	Layout Layout
	// Lease is for how long a worker id is held without a renewal, and how far ahead ids
	// are reserved: a node that was killed blocks its worker id for that long. 1s or more.
	// Default 30s.
	Lease time.Duration
	// MaxWait is the longest that [Node.Next] waits for a clock that was set back; a
	// step of more is a [*ClockError] at once. Default 100ms.
	MaxWait time.Duration
	// MaxSkew is by how much this host's clock may differ from the store's when a worker
	// id is taken; more is a [*ClockError]. Negative: by anything. Default 1m.
	MaxSkew time.Duration
	// Logger is told when a worker id is lost and when another one is taken. Default
	// slog.Default().
	Logger *slog.Logger
	// Observer is told of claims, renewals and store calls, as an engine's. Default none.
	Observer semel.Observer
	// Clock measures leases and waits. Default the system's.
	Clock semel.Clock
	// Now is the time that goes into the ids: this host's wall clock, which may be set
	// back. Default time.Now, or Clock.Now if there is a Clock.
	Now func() time.Time
}

const (
	storeTimeout = 2 * time.Second
	minLease     = time.Second
)

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Group = cmp.Or(c.Group, "ids")
	c.Layout = c.Layout.withDefaults()
	c.Lease = cmp.Or(c.Lease, 30*time.Second)
	c.MaxWait = cmp.Or(c.MaxWait, 100*time.Millisecond)
	c.MaxSkew = cmp.Or(c.MaxSkew, time.Minute)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.Now == nil && c.Clock != nil {
		c.Now = c.Clock.Now
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Clock == nil {
		c.Clock = systemClock{}
	}
	return c
}

func (o *Options) validate() error {
	return errors.Join(
		o.Layout.validate(),
		refuse(o.Lease < minLease, "Lease %v is below 1s: a pause of the process would end it; use 1s or more, or 0 for 30s", o.Lease),
		refuse(o.MaxWait < 0, "MaxWait is negative; use 1ns for no waiting, or 0 for 100ms"),
		refuse(o.MaxWait >= o.Lease, "MaxWait %v is not below Lease %v; raise Lease", o.MaxWait, o.Lease),
	)
}

// engine makes what claims, renews and gives back: one engine a node.
func (o *Options) engine(store semel.Store) (*semel.Engine, error) {
	timeout := min(storeTimeout, o.Lease/4)
	return semel.New(store, &semel.Options{
		Policy: semel.AtLeastOnce, Lease: o.Lease, Retention: semel.Forever, ClaimTimeout: timeout, FinishTimeout: timeout,
		PurgeEvery: -1, Logger: o.Logger, Observer: o.Observer, Clock: o.Clock,
	})
}

// systemClock is the default [Options.Clock].
type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) NewTimer(d time.Duration) semel.Timer { return systemTimer{time.NewTimer(d)} }

type systemTimer struct{ t *time.Timer }

func (t systemTimer) C() <-chan time.Time { return t.t.C }
func (t systemTimer) Stop() bool          { return t.t.Stop() }
