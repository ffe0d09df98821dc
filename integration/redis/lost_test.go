package redis_test

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/integration/internal/faultproxy"
	"github.com/semel-go/semel/redisstore"
)

// transition is a call that changes a record, in the situation that it is for.
type transition struct {
	name    string
	prepare func(t testing.TB, s *redisstore.Store, r *record)
	call    func(ctx context.Context, s *redisstore.Store, r *record) error
	done    func(r semel.Record) bool
}

// record is a key and its owner.
type record struct {
	key   semel.KeyID
	token semel.Token
	fence semel.Fence
}

var errWrongAnswer = errors.New("the answer is another one than without an accident")

func right(ok bool, err error) error {
	if err == nil && !ok {
		return errWrongAnswer
	}
	return err
}

func transitions() []transition {
	nothing := func(testing.TB, *redisstore.Store, *record) {}
	own := func(t testing.TB, s *redisstore.Store, r *record) {
		r.fence = acquire(t, s, claimOf(r.key, r.token)).Fence
	}
	doubtful := func(t testing.TB, s *redisstore.Store, r *record) {
		other := semel.NewToken()
		r.fence = acquire(t, s, claimOf(r.key, other)).Fence
		finish(t, s, inDoubt(r.key, other))
	}
	claim := func(ctx context.Context, s *redisstore.Store, r *record) error {
		p := claimOf(r.key, r.token)
		p.Recovering = true
		res, err := s.Claim(ctx, p)
		return right(res.Outcome == semel.ClaimAcquired && res.Mine, err)
	}
	resolve := func(how semel.Resolution) func(context.Context, *redisstore.Store, *record) error {
		return func(ctx context.Context, s *redisstore.Store, r *record) error {
			res, err := s.Resolve(ctx, semel.ResolveParams{Key: r.key, Token: r.token, Fence: r.fence, Resolution: how, Retention: retention})
			return right(res.Resolved, err)
		}
	}
	state := func(want semel.State) func(semel.Record) bool {
		return func(r semel.Record) bool { return r.State == want }
	}
	return []transition{
		{"claim", nothing, claim, func(r semel.Record) bool { return r.State == semel.StateRunning && r.Attempt == 1 }},
		{"recovering claim", doubtful, claim, func(r semel.Record) bool { return r.State == semel.StateRunning && r.Attempt == 2 }},
		{"renew", own, func(ctx context.Context, s *redisstore.Store, r *record) error {
			_, err := s.Renew(ctx, semel.RenewParams{Key: r.key, Token: r.token, Lease: lease, Policy: semel.AtMostOnce})
			return err
		}, func(r semel.Record) bool { return r.Policy == semel.AtMostOnce }},
		{"checkpoint", own, func(ctx context.Context, s *redisstore.Store, r *record) error {
			_, err := s.Checkpoint(ctx, semel.CheckpointParams{Key: r.key, Token: r.token, Data: []byte("half-way")})
			return err
		}, func(r semel.Record) bool { return string(r.Checkpoint) == "half-way" }},
		{"finish", own, func(ctx context.Context, s *redisstore.Store, r *record) error {
			_, err := s.Finish(ctx, doneOf(r.key, r.token, "result"))
			return err
		}, state(semel.StateDone)},
		{"resolve: it happened", doubtful, resolve(semel.ResolveDone), state(semel.StateDone)},
		{"resolve: it did not happen", doubtful, resolve(semel.ResolveDidNotHappen), state(semel.StateReleased)},
		{"resolve: delete", doubtful, resolve(semel.ResolveDelete), state(semel.StateNone)},
	}
}

// line is a store behind a proxy, and the same records without one.
type line struct {
	proxy    *faultproxy.Proxy
	through  *redisstore.Store
	directly *redisstore.Store
	password string
}

func newLine(t *testing.T, o *redis.Options) *line {
	t.Helper()
	server := engines.Redis(t)
	l := &line{proxy: faultproxy.Redis(t, server.Addr()), password: server.Password()}
	prefix := &redisstore.Options{Prefix: newPrefix()}
	l.directly = openStore(t, clientOf(t, server.URL()), prefix)
	o.Addr, o.Password, o.ContextTimeoutEnabled = l.proxy.Addr(), server.Password(), true
	client := redis.NewClient(o)
	t.Cleanup(func() { client.Close() })
	l.through = openStore(t, client, prefix)
	return l
}

// Field fault: the reply to a claim is lost, the client library sends it again, and the
// caller waits for itself. Package faults has what befalls a client that does not.
//
// The client sends scripts again by itself: three executions, and success. The caller
// must not meet its own claim as somebody else's.
func TestClientSendsAgain(t *testing.T) {
	t.Parallel()
	l := newLine(t, &redis.Options{MaxRetries: 3})
	for _, tr := range transitions() {
		r := &record{key: newKey(), token: semel.NewToken()}
		tr.prepare(t, l.directly, r)
		first := l.proxy.Arm(faultproxy.Starts("EVALSHA"), faultproxy.CutReply())
		second := l.proxy.Arm(faultproxy.Starts("EVALSHA"), faultproxy.CutReply())
		if err := tr.call(t.Context(), l.through, r); err != nil {
			t.Errorf("%s: %v; want the answer to the third time that it was sent", tr.name, err)
		}
		<-first.Fired()
		<-second.Fired()
		if !tr.done(read(t, l.directly, r.key)) {
			t.Errorf("%s: the record is %+v", tr.name, read(t, l.directly, r.key))
		}
	}
}

// A client that sends again may be refused the second time: that the first was not
// executed is then not known.
func TestErrorAfterALostReply(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, nil)
	proxy := faultproxy.Redis(t, server.Addr())
	client := redis.NewClient(&redis.Options{
		Addr: proxy.Addr(), Password: server.Password(), ContextTimeoutEnabled: true, MaxRetries: 1, MinRetryBackoff: -1, MaxRetryBackoff: -1,
	})
	t.Cleanup(func() { client.Close() })
	store := openStore(t, client, nil)
	acquire(t, store, claimOf(newKey(), semel.NewToken())) // the server knows the script
	until := make(chan struct{})
	lost := proxy.Arm(faultproxy.Starts("EVALSHA"), faultproxy.CutReply())
	held := proxy.Arm(faultproxy.Starts("EVALSHA"), faultproxy.Delay(until))
	p := claimOf(newKey(), semel.NewToken())
	told := make(chan error)
	go func() {
		_, err := store.Claim(t.Context(), p)
		told <- err
	}()
	<-lost.Fired()
	<-held.Fired()
	admin := server.Client(t)
	permit := func(rule string) {
		t.Helper()
		if err := admin.Do(t.Context(), "ACL", "SETUSER", "default", rule).Err(); err != nil {
			t.Fatal(err)
		}
	}
	permit("-evalsha")
	close(until)
	if err := <-told; !noReply(err) {
		t.Errorf("told %v; want no reply, since it was executed", err)
	}
	permit("+evalsha")
	if r := read(t, store, p.Key); r.State != semel.StateRunning {
		t.Errorf("the record is %v", r.State)
	}
	if r := acquire(t, store, p); r.Attempt != 1 {
		t.Errorf("asked again: attempt %d", r.Attempt)
	}
}

// A server that cannot be reached has executed nothing, for certain; so has one that
// refuses.
func TestNotSent(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, nil)
	store := openStore(t, clientOf(t, server.URL()), nil)
	server.Kill(t)
	for range 3 { // the first may find that a connection of the pool is dead
		_, err := store.Claim(t.Context(), claimOf(newKey(), semel.NewToken()))
		if !unavailable(err) && !noReply(err) {
			t.Errorf("a claim at a dead server: %v", err)
		}
	}
	if _, err := store.Claim(t.Context(), claimOf(newKey(), semel.NewToken())); !unavailable(err) {
		t.Errorf("a claim that nobody can have got: %v; want unavailable", err)
	}
	server.Restart(t)
	acquire(t, store, claimOf(newKey(), semel.NewToken()))
}
