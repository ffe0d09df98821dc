package redis_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/redisstore"
	"github.com/semel-go/semel/storetest"
)

// prefixes gives each case keys of its own.
var prefixes atomic.Int64

func newPrefix() string { return fmt.Sprintf("case%d:", prefixes.Add(1)) }

// clientOf makes a client for a URL, as a program should.
func clientOf(t testing.TB, url string) *redis.Client {
	t.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	o.ContextTimeoutEnabled, o.MaxRetries = true, -1
	client := redis.NewClient(o)
	closeLater(t, client.Close)
	return client
}

func closeLater(t testing.TB, end func() error) {
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
}

// openStore opens a store that is closed at the end of the test.
func openStore(t testing.TB, client redis.UniversalClient, o *redisstore.Options) *redisstore.Store {
	t.Helper()
	s, err := redisstore.New(t.Context(), client, o)
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, s.Close)
	return s
}

// conform runs the suite on a client, each case with a prefix of its own; admin reaches
// past the store.
func conform(t *testing.T, client, admin redis.UniversalClient, o redisstore.Options) {
	storetest.Run(t, storetest.Harness{New: func(ctx context.Context) (*storetest.Subject, error) {
		o := o
		o.Prefix = newPrefix()
		return subject(ctx, client, admin, o)
	}})
}

func subject(ctx context.Context, client, admin redis.UniversalClient, o redisstore.Options) (*storetest.Subject, error) {
	s, err := redisstore.New(ctx, client, &o)
	if err != nil {
		return nil, err
	}
	handles := []*redisstore.Store{s}
	again := func(ctx context.Context) (semel.Store, error) {
		h, err := redisstore.New(ctx, client, &o)
		if err == nil {
			handles = append(handles, h)
		}
		return h, err
	}
	return &storetest.Subject{
		Store:   s,
		Advance: func(ctx context.Context, d time.Duration) error { return advance(ctx, admin, o.Prefix, d) },
		Reopen:  again,
		// The store asks no clock but the server's, so that any handle is that of a process
		// whose clock is off.
		Skewed: func(ctx context.Context, _ time.Duration) (semel.Store, error) { return again(ctx) },
		SetFormat: func(ctx context.Context, key semel.KeyID, format int) error {
			return admin.SetRange(ctx, fmt.Sprintf("%s%x", o.Prefix, key[:]), 0, string(rune(format))).Err()
		},
		Close: func() (err error) {
			for _, h := range handles {
				err = errors.Join(err, h.Close())
			}
			return err
		},
	}, nil
}

// past moves the times of a record back by ARGV[1] microseconds: lease, expiry, start and
// doubt, at the places that docs/stores-protocol.md gives them. What Redis may delete by
// then it deletes.
var past = redis.NewScript(`
local value = redis.call('GET', KEYS[1])
if not value or #value < 103 then return 0 end
local function back(at)
  local time = struct.unpack('<i8', value, at)
  if time ~= 0 then redis.call('SETRANGE', KEYS[1], at - 1, struct.pack('<i8', time - ARGV[1])) end
end
for _, at in ipairs({19, 27, 35, 43}) do back(at) end
local left = redis.call('PTTL', KEYS[1])
if left >= 0 and ARGV[2] == '1' then redis.call('PEXPIRE', KEYS[1], left - math.floor(ARGV[1] / 1000)) end
return 1`)

// advance moves the clock of the server, as far as records can see.
func advance(ctx context.Context, admin redis.UniversalClient, prefix string, d time.Duration) error {
	return eachMaster(ctx, admin, func(ctx context.Context, c *redis.Client) error {
		keys := c.Scan(ctx, 0, prefix+"????????????????????????????????", 1000).Iterator()
		for keys.Next(ctx) {
			if err := past.Run(ctx, c, []string{keys.Val()}, d.Microseconds(), 1).Err(); err != nil {
				return err
			}
		}
		return keys.Err()
	})
}

func eachMaster(ctx context.Context, client redis.UniversalClient, do func(context.Context, *redis.Client) error) error {
	switch c := client.(type) {
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, do)
	case *redis.Client:
		return do(ctx, c)
	}
	return fmt.Errorf("no masters in a %T", client)
}
