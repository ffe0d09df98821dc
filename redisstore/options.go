package redisstore

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Options are the settings of a [Store]. The zero value of each field means its
// default, and so does a nil *Options.
type Options struct {
	// Prefix begins the names of all keys and of the channel that waiters listen on. It
	// must not have braces, which would put all records into one slot of a cluster, nor end
	// with "mark:". Default "semel:".
	Prefix string
	// MaxBatch is the largest number of calls that are sent in one go. Default 512.
	MaxBatch int
	// Timeout bounds each call, beside the caller's context. Default 5s.
	Timeout time.Duration
	// Replicas is how many replicas must have a write before it is answered, for half of
	// Timeout; with fewer the answer is [semel.ErrNoReply]. It narrows what a failover can
	// lose, and does not close it: Redis may promote another replica. Default 0.
	Replicas int
	// AllowEviction accepts a server that drops records under memory pressure, live leases
	// included: then two callers run at once. Default: such a server is refused.
	AllowEviction bool
}

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Prefix == "" {
		c.Prefix = "semel:"
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
		refuse(strings.ContainsAny(o.Prefix, "{}"), "Prefix %q has braces, so that all records would be in one slot; leave them out", o.Prefix),
		refuse(strings.HasSuffix(o.Prefix, markPrefix), "Prefix %q ends as the names of marks begin, so that those of another store would be taken for records; end it otherwise", o.Prefix),
		refuse(len(o.Prefix) > 100, "Prefix has %d bytes; use up to 100", len(o.Prefix)),
		refuse(o.MaxBatch < 1, "MaxBatch %d is negative; leave it 0 for 512", o.MaxBatch),
		refuse(o.Timeout < 10*time.Millisecond, "Timeout %v is below 10ms; leave it 0 for 5s", o.Timeout),
		refuse(o.Replicas < 0, "Replicas %d is negative; use 0 to wait for none", o.Replicas),
	)
}

// checkClient refuses a client that would not keep a promise of the store.
func checkClient(client redis.UniversalClient) error {
	switch c := client.(type) {
	case *redis.Client:
		return refuse(!c.Options().ContextTimeoutEnabled, "the client ignores the deadlines of contexts; set ContextTimeoutEnabled in its options")
	case *redis.ClusterClient:
		return errors.Join(
			refuse(!c.Options().ContextTimeoutEnabled, "the client ignores the deadlines of contexts; set ContextTimeoutEnabled in its options"),
			refuse(c.Options().ReadOnly || c.Options().RouteByLatency || c.Options().RouteRandomly, "the client reads from replicas, which may be behind; unset ReadOnly, RouteByLatency and RouteRandomly"))
	case nil:
		return errors.New("redisstore: no client; make one with redis.NewClient, redis.NewFailoverClient or redis.NewClusterClient")
	}
	return fmt.Errorf("redisstore: a %T shares keys out by itself and is no single store; use a *redis.Client or a *redis.ClusterClient", client)
}

func refuse(bad bool, format string, args ...any) error {
	if !bad {
		return nil
	}
	return fmt.Errorf("redisstore: "+format, args...)
}
