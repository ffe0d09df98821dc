package redis_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/integration/internal/faultproxy"
	"github.com/semel-go/semel/integration/linear"
	"github.com/semel-go/semel/redisstore"
)

// Of 128 callers of one key one at a time owns it: between a claim and its finish nobody
// else gets it, and fences grow from owner to owner.
func TestOneOwnerAtATime(t *testing.T) {
	t.Parallel()
	server := engines.Redis(t)
	prefix := &redisstore.Options{Prefix: newPrefix()}
	stores := []*redisstore.Store{openStore(t, clientOf(t, server.URL()), prefix), openStore(t, clientOf(t, server.URL()), prefix)}
	key := newKey()
	var mu sync.Mutex
	var owner semel.Token
	var fence semel.Fence
	runs := 0
	own := func(token semel.Token, r semel.Record) {
		mu.Lock()
		defer mu.Unlock()
		if owner != (semel.Token{}) {
			t.Error("two owners at once")
		}
		if r.Fence <= fence || r.Attempt != runs+1 {
			t.Errorf("attempt %d with fence %d after attempt %d with fence %d", r.Attempt, r.Fence, runs, fence)
		}
		owner, fence, runs = token, r.Fence, r.Attempt
	}
	disown := func() {
		mu.Lock()
		defer mu.Unlock()
		owner = semel.Token{}
	}
	var all sync.WaitGroup
	for i := range 128 {
		s := stores[i%2]
		all.Go(func() {
			for range 10 {
				p := claimOf(key, semel.NewToken())
				res, err := s.Claim(t.Context(), p)
				if err != nil {
					t.Errorf("claim: %v", err)
				}
				if res.Outcome != semel.ClaimAcquired {
					continue
				}
				own(p.Token, res.Record)
				disown()
				if _, err := s.Finish(t.Context(), semel.FinishParams{Key: key, Token: p.Token, State: semel.StateReleased, Retention: retention}); err != nil {
					t.Errorf("release: %v", err)
				}
			}
		})
	}
	all.Wait()
	if runs < 10 {
		t.Errorf("%d runs in all; the callers did not get on", runs)
	}
}

// A connection that hangs delays nobody else for long: calls that come meanwhile are
// answered on another one while it still hangs.
func TestHungConnection(t *testing.T) {
	t.Parallel()
	l := newLine(t, &redis.Options{MaxRetries: -1})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hung := l.proxy.Arm(faultproxy.Starts("EVALSHA"), faultproxy.Blackhole())
	told := make(chan error, 1)
	go func() {
		_, err := l.through.Claim(ctx, claimOf(newKey(), semel.NewToken()))
		told <- err
	}()
	<-hung.Fired()
	for range 100 {
		if err := cycle(t.Context(), l.through); err != nil {
			t.Errorf("beside a connection that hangs: %v", err)
		}
	}
	select {
	case err := <-told:
		t.Errorf("the call on the connection that hangs came back first: %v", err)
	default:
	}
	cancel()
	if err := <-told; !noReply(err) {
		t.Errorf("the call on the connection that hangs: %v; want no reply", err)
	}
}

// What many callers are told, by two processes, with lost replies and lapses, can be put
// into one order; package linear has it on one server, with connections that break.
func TestLinearizableWithReplica(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, nil)
	server.Replica(t, nil)
	o := &redisstore.Options{Replicas: 1}
	linearizable(t, "Redis, with a replica", linear.Subject{
		Stores: []semel.Store{openStore(t, clientOf(t, server.URL()), o), openStore(t, clientOf(t, server.URL()), o)},
		Lapse:  lapses(clientOf(t, server.URL())),
	})
}

func TestLinearizableOnCluster(t *testing.T) {
	t.Parallel()
	_, client, store := openCluster(t, nil)
	linearizable(t, "Redis Cluster", linear.Subject{Stores: []semel.Store{store, openStore(t, client, nil)}, Lapse: lapses(client)})
}

func lapses(admin redis.UniversalClient) func(context.Context, []semel.KeyID) error {
	return func(ctx context.Context, keys []semel.KeyID) error {
		for _, key := range keys {
			if err := lapseOf(ctx, admin, "semel:", key); err != nil {
				return err
			}
		}
		return nil
	}
}

func linearizable(t *testing.T, name string, s linear.Subject) {
	t.Helper()
	h, err := linear.Run(t.Context(), s, linear.Load{Seed: 1, Rounds: 10})
	if err != nil {
		t.Fatal(err)
	}
	f := h.Figures()
	fmt.Printf("figures: linearizable: %s: %v\n", name, f)
	if err := h.Check(); err != nil {
		t.Error(err)
	}
	if f.Overlapping < 0.3 {
		t.Errorf("%v: want 30 %% or more overlapping", f)
	}
}
