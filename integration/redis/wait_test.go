package redis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/redisstore"
)

// waits lets a store wait in the background until the record is no longer running, and
// returns when the record is marked as waited for.
func waits(t testing.TB, s *redisstore.Store, admin redis.UniversalClient, prefix string, key semel.KeyID, fence semel.Fence) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		for {
			_, err := s.WaitChange(t.Context(), semel.WaitParams{Key: key, Fence: fence})
			if err != nil {
				done <- err
				return
			}
			r, err := s.Read(t.Context(), semel.ReadParams{Key: key})
			if err != nil || r.State != semel.StateRunning || r.Fence != fence {
				done <- err
				return
			}
		}
	}()
	for {
		mark, err := admin.GetRange(t.Context(), prefix+key.String(), 5, 5).Result()
		if err != nil {
			t.Fatal(err)
		}
		if mark == "\x01" {
			return done
		}
	}
}

// told fails if a wait does not end soon: not by being told, but by looking again.
func told(t testing.TB, done <-chan error) {
	t.Helper()
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-late.C:
		t.Error("nobody told the waiter")
	}
}

// published is how often something was published.
func published(t testing.TB, admin *redis.Client) int { return commands(t, admin)["publish"] }

// commands is how often each command was executed, but for those that ask.
func commands(t testing.TB, admin *redis.Client) map[string]int {
	t.Helper()
	stats, err := admin.InfoMap(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]int)
	for name, text := range stats["Commandstats"] {
		var n int
		if _, err := fmt.Sscanf(text, "calls=%d", &n); err != nil {
			t.Fatal(name, text, err)
		}
		switch name = strings.TrimPrefix(name, "cmdstat_"); name {
		case "info", "time", "config|resetstat":
		default:
			all[name] = n
		}
	}
	return all
}

// Nobody waits: the store and the engine do not ask for anything. One who waits is told, and
// looks by itself every two seconds at the most.
func TestNothingIsPolled(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, nil)
	admin, store := server.Client(t), openStore(t, clientOf(t, server.URL()), nil)
	engine, err := semel.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, func() error { return engine.Close(context.Background()) })
	if err := done(t.Context(), engine, "order", func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	restart := func() time.Time {
		if err := admin.ConfigResetStat(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		return admin.Time(t.Context()).Val()
	}
	for began := restart(); admin.Time(t.Context()).Val().Sub(began) < 300*time.Millisecond; {
		// nothing happens
	}
	if got := commands(t, admin); len(got) != 0 {
		t.Errorf("at rest the server was asked %v", got)
	}
	p := claimOf(newKey(), semel.NewToken())
	told := waits(t, store, admin, "semel:", p.Key, acquire(t, store, p).Fence)
	began := restart()
	finish(t, store, doneOf(p.Key, p.Token, "x"))
	if err := <-told; err != nil {
		t.Error(err)
	}
	looks := int(admin.Time(t.Context()).Val().Sub(began)/time.Second) + 1
	if got := commands(t, admin)["evalsha"]; got > 2+2*looks { // the finish, the last look, and each time that it came back
		t.Errorf("a wait took %d scripts; want it told", got)
	}
}

// A waiter of one process is told by another one, for each end that a run can have. Runs
// that nobody waits for are told to nobody.
func TestWaitersAreTold(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, nil)
	admin := server.Client(t)
	one, other := openStore(t, clientOf(t, server.URL()), nil), openStore(t, clientOf(t, server.URL()), nil)
	before := published(t, admin)
	for range 20 {
		if err := cycle(t.Context(), one); err != nil {
			t.Fatal(err)
		}
	}
	if got := published(t, admin) - before; got != 0 {
		t.Errorf("%d messages of runs that nobody waits for", got)
	}
	ends := map[string]func(p semel.ClaimParams, fence semel.Fence){
		"done":     func(p semel.ClaimParams, _ semel.Fence) { finish(t, one, doneOf(p.Key, p.Token, "x")) },
		"in doubt": func(p semel.ClaimParams, _ semel.Fence) { finish(t, one, inDoubt(p.Key, p.Token)) },
		"released": func(p semel.ClaimParams, _ semel.Fence) {
			finish(t, one, semel.FinishParams{Key: p.Key, Token: p.Token, State: semel.StateReleased, Retention: retention})
		},
		"taken over": func(p semel.ClaimParams, _ semel.Fence) {
			lapse(t, admin, "semel:", p.Key)
			p.Token = semel.NewToken()
			acquire(t, one, p)
		},
		"resolved": func(p semel.ClaimParams, fence semel.Fence) {
			lapse(t, admin, "semel:", p.Key)
			res, err := one.Resolve(t.Context(), semel.ResolveParams{Key: p.Key, Token: semel.NewToken(), Fence: fence, Resolution: semel.ResolveDelete})
			if err != nil || !res.Resolved {
				t.Error(res, err)
			}
		},
	}
	for name, end := range ends {
		p := claimOf(newKey(), semel.NewToken())
		fence := acquire(t, one, p).Fence
		done := waits(t, other, admin, "semel:", p.Key, fence)
		before := published(t, admin)
		end(p, fence)
		told(t, done)
		if got := published(t, admin) - before; got != 1 {
			t.Errorf("%s: told %d times, want once", name, got)
		}
	}
}

// lapse ends the lease of a record in one step, as time would.
func lapse(t testing.TB, admin redis.UniversalClient, prefix string, key semel.KeyID) {
	t.Helper()
	if err := lapseOf(t.Context(), admin, prefix, key); err != nil {
		t.Fatal(err)
	}
}

var lapseScript = redis.NewScript(`
local value = redis.call('GET', KEYS[1])
if value and #value >= 103 then
  redis.call('SETRANGE', KEYS[1], 18, struct.pack('<i8', struct.unpack('<i8', value, 19) - ARGV[1]))
end`)

func lapseOf(ctx context.Context, admin redis.UniversalClient, prefix string, key semel.KeyID) error {
	err := lapseScript.Run(ctx, admin, []string{prefix + key.String()}, (2 * lease).Microseconds()).Err()
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

// The server ends the connection that listens: those who wait look for themselves, and
// the next one who waits opens another.
func TestListeningConnectionBreaks(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, nil)
	admin := server.Client(t)
	store := openStore(t, clientOf(t, server.URL()), nil)
	p := claimOf(newKey(), semel.NewToken())
	fence := acquire(t, store, p).Fence
	for range 3 {
		done := waits(t, store, admin, "semel:", p.Key, fence)
		if err := admin.Do(t.Context(), "CLIENT", "KILL", "TYPE", "pubsub").Err(); err != nil {
			t.Fatal(err)
		}
		finish(t, store, semel.FinishParams{Key: p.Key, Token: p.Token, State: semel.StateReleased, Retention: retention})
		told(t, done)
		p.Token = semel.NewToken()
		fence = acquire(t, store, p).Fence
	}
}

// Close ends the connection that listens, and those who wait.
func TestCloseEndsWaits(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, nil)
	admin := server.Client(t)
	store, err := redisstore.New(t.Context(), clientOf(t, server.URL()), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := claimOf(newKey(), semel.NewToken())
	fence := acquire(t, store, p).Fence
	done := waits(t, store, admin, "semel:", p.Key, fence)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, semel.ErrStoreUnavailable) {
		t.Errorf("the wait after Close: %v; want unavailable", err)
	}
	calls := everyMethod(t, store, p)
	calls["list"] = errOf(store.List(t.Context(), semel.ListParams{Limit: 1}))
	calls["guarantees"] = errOf(store.Guarantees(t.Context(), semel.GuaranteesParams{}))
	calls["mark"] = errOf(store.FirstTime(t.Context(), newKey(), retention))
	for name, err := range calls {
		if !unavailable(err) {
			t.Errorf("%s after Close: %v; want unavailable", name, err)
		}
	}
	for {
		list, err := admin.ClientList(t.Context()).Result()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(list, "sub=1") {
			return
		}
	}
}
