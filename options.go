package semel

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Options are the settings of an [Engine]. The zero value of each field means
// its default; docs/defaults.md has them all in one table.
type Options struct {
	// Policy is the guarantee level of operations that name none. Default AtLeastOnce.
	Policy Policy
	// Lease is for how long a claim is held without a renewal. Default 30s.
	Lease time.Duration
	// Retention is for how long a finished record stays, at least. Default 24h.
	Retention time.Duration
	// Wait is for how long a duplicate waits for the running one. Default 0: not at all.
	Wait time.Duration
	// Poll is the longest pause between two looks of a duplicate that waits, where the
	// store cannot tell it of changes. Default 500ms.
	Poll time.Duration
	// MaxAttempts is the number of runs after which a record goes in doubt. Default 0: no limit.
	MaxAttempts int
	// ClaimTimeout bounds a claim, its repetitions included. Default 2s.
	ClaimTimeout time.Duration
	// FinishTimeout bounds the finish that a caller waits for; after it the result
	// is saved in the background. Default 5s.
	FinishTimeout time.Duration
	// MaxResult is the size in bytes of an encoded result from which on it is not
	// kept: retries then learn "done, result not available". Default 1 MiB.
	MaxResult int
	// Codec encodes results. Default [JSON].
	Codec Codec
	// Secret keys the fingerprints and scope ids, so that who reads the store cannot
	// guess inputs: 16 random bytes or more. All processes on one store need the same.
	// Default none.
	Secret []byte
	// StoreKeyText keeps the caller's key text in the record, for operators. Default false.
	StoreKeyText bool
	// FailOpen runs operations unguarded while the store cannot be reached. Each such
	// run is logged and observed. Default false: ErrStoreUnavailable.
	FailOpen bool
	// Cache is the size in bytes of the local cache of done records, from which this
	// process replays without asking the store. Default 0: none.
	Cache int64
	// CacheTTL is for how long a record is replayed from the cache before the store is
	// asked again; a record that an operator deleted is forgotten here after it at the
	// latest. Default 5s.
	CacheTTL time.Duration
	// PurgeEvery is the least time between two purges of expired records, which
	// claims set off. Default 1m; negative: never, somebody else purges.
	PurgeEvery time.Duration
	// Replicas is the number of processes that share the store's keys. It is only
	// checked: more than one needs a store that they can share. Default 1.
	Replicas int
	// Logger receives what an operator must know. Default slog.Default().
	Logger *slog.Logger
	// Observer is told of every transition. Default none.
	Observer Observer
	// Clock is this process's clock. Default the system's.
	Clock Clock
}

// Limits of the engine's waiting room.
const (
	maxWaitersPerKey = 16
	maxWaiters       = 1024
)

const (
	minSecret    = 16
	minLease     = time.Second
	minRetention = time.Second
	leastPoll    = time.Millisecond
)

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	setDefault(&c.Policy, AtLeastOnce)
	setDefault(&c.Lease, 30*time.Second)
	setDefault(&c.Retention, 24*time.Hour)
	setDefault(&c.Poll, 500*time.Millisecond)
	setDefault(&c.ClaimTimeout, 2*time.Second)
	setDefault(&c.FinishTimeout, 5*time.Second)
	setDefault(&c.MaxResult, 1<<20)
	setDefault(&c.CacheTTL, 5*time.Second)
	setDefault(&c.PurgeEvery, time.Minute)
	setDefault(&c.Replicas, 1)
	if c.Codec == nil {
		c.Codec = JSON
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Clock == nil {
		c.Clock = systemClock{}
	}
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// validate reports every contradiction at once, each with its fix.
func (o *Options) validate() error {
	return errors.Join(
		checkTimes(o.Policy, o.Lease, o.Retention, o.Wait, o.MaxAttempts),
		refuse(o.Poll < leastPoll, "Poll %v is below 1ms: waiting would keep the store busy; leave it 0 for 500ms", o.Poll),
		refuse(o.ClaimTimeout < 0, "ClaimTimeout is negative; leave it 0 for 2s"),
		refuse(o.FinishTimeout < 0, "FinishTimeout is negative; leave it 0 for 5s"),
		refuse(o.ClaimTimeout >= o.Lease, "ClaimTimeout %v is not below Lease %v: a claim could be over before it is answered; raise Lease", o.ClaimTimeout, o.Lease),
		refuse(o.MaxResult < 0, "MaxResult is negative; leave it 0 for 1 MiB"),
		refuse(len(o.Secret) > 0 && len(o.Secret) < minSecret, "Secret has %d bytes, which can be guessed; use 16 random bytes or more", len(o.Secret)),
		refuse(o.Cache < 0, "Cache is negative; leave it 0 for no local cache"),
		refuse(o.CacheTTL < 0, "CacheTTL is negative; leave it 0 for 5s"),
		refuse(o.Replicas < 1, "Replicas is negative; leave it 0 for one process"),
	)
}

// checkTimes checks the settings that an operation can override. It runs once an
// operation, so nothing is boxed for messages that are not needed.
func checkTimes(policy Policy, lease, retention, wait time.Duration, maxAttempts int) error {
	if okPolicy(policy) && lease >= minLease && retention >= minRetention && lease < retention && wait >= 0 && wait < retention && maxAttempts >= 0 {
		return nil
	}
	return errors.Join(
		refuse(!okPolicy(policy), "Policy %d is unknown; use semel.AtLeastOnce or semel.AtMostOnce", policy),
		refuse(lease < minLease, "Lease %v is below 1s: a pause of the process would end it; use 1s or more", lease),
		refuse(retention < minRetention, "Retention %v is below 1s; use 1s or more, or semel.Forever", retention),
		refuse(lease >= retention, "Lease %v is not below Retention %v: a record would expire while it runs; raise Retention", lease, retention),
		refuse(wait < 0, "Wait is negative; use 0 for no waiting"),
		refuse(wait >= retention, "Wait %v is not below Retention %v: the result could expire before it is read; lower Wait", wait, retention),
		refuse(maxAttempts < 0, "MaxAttempts is negative; use 0 for no limit"),
	)
}

func okPolicy(p Policy) bool { return p == AtLeastOnce || p == AtMostOnce }

func refuse(bad bool, format string, args ...any) error {
	if !bad {
		return nil
	}
	return fmt.Errorf("semel: "+format, args...)
}

// Clock is a source of time. [testing/synctest] needs none; other tests may.
type Clock interface {
	Now() time.Time
	NewTimer(d time.Duration) Timer
}

// Timer is the part of a [time.Timer] that the engine needs.
type Timer interface {
	C() <-chan time.Time
	Stop() bool
}

type systemClock struct{}

func (systemClock) Now() time.Time                 { return time.Now() }
func (systemClock) NewTimer(d time.Duration) Timer { return systemTimer{time.NewTimer(d)} }

type systemTimer struct{ t *time.Timer }

func (t systemTimer) C() <-chan time.Time { return t.t.C }
func (t systemTimer) Stop() bool          { return t.t.Stop() }
