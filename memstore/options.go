package memstore

import (
	"fmt"
	"time"
)

// Options are the settings of a [Store]. The zero value of each field means its
// default, and so does a nil *Options.
type Options struct {
	// MaxBytes is the budget for everything that is kept: keys, records and results,
	// as they lie in memory. Past it the store answers [semel.ErrStoreFull]. The last
	// sixteenth is left to runs that are under way, so that they can save their
	// results. Default 256 MiB.
	MaxBytes int64
	// Now is the store's clock; it is called under a lock and must be quick. Default:
	// this host's clock as it was at New, carried on by the monotonic clock, so that a
	// step of the wall clock ends no lease.
	Now func() time.Time
}

const (
	defaultMaxBytes = 256 << 20
	minMaxBytes     = 64 << 10
)

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxBytes
	}
	if c.Now == nil {
		start := time.Now()
		c.Now = func() time.Time { return start.Add(time.Since(start)) }
	}
	return c
}

func (o *Options) validate() error {
	if o.MaxBytes < minMaxBytes {
		return fmt.Errorf("memstore: MaxBytes %d is below %d, too little for anything; raise it, or leave it 0 for %d", o.MaxBytes, minMaxBytes, defaultMaxBytes)
	}
	return nil
}
