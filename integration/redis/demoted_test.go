package redis_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/redisstore"
)

// demote makes a server, whose connections stay, the replica of another one.
func demote(t testing.TB, server, other *engines.RedisServer) {
	t.Helper()
	if err := server.Client(t).ConfigSet(t.Context(), "masterauth", other.Password()).Err(); err != nil {
		t.Fatal(err)
	}
	server.Follow(t, other)
}

// A primary that was demoted refuses, and says for certain that nothing was done. It may
// know less than the new one, so that it fences nobody, and confirms no deletion.
func TestDemoted(t *testing.T) {
	t.Parallel()
	server, other := engines.NewRedis(t, nil), engines.NewRedis(t, &engines.Options{})
	store := openStore(t, clientOf(t, server.URL()), nil)
	p, ended := claimOf(newKey(), semel.NewToken()), claimOf(newKey(), semel.NewToken())
	acquire(t, store, p)
	acquire(t, store, ended)
	finish(t, store, doneOf(ended.Key, ended.Token, "x"))
	demote(t, server, other) // which has none of it
	for name, err := range map[string]error{
		"claim":      errOf(store.Claim(t.Context(), claimOf(newKey(), semel.NewToken()))),
		"renew":      errOf(store.Renew(t.Context(), semel.RenewParams{Key: p.Key, Token: p.Token, Lease: lease})),
		"checkpoint": errOf(store.Checkpoint(t.Context(), semel.CheckpointParams{Key: p.Key, Token: p.Token})),
		"finish":     errOf(store.Finish(t.Context(), doneOf(p.Key, p.Token, "x"))),
		"again":      errOf(store.Finish(t.Context(), doneOf(ended.Key, ended.Token, "x"))),
		"delete":     errOf(store.Resolve(t.Context(), semel.ResolveParams{Key: p.Key, Token: semel.NewToken(), Resolution: semel.ResolveDelete})),
	} {
		if !unavailable(err) || !strings.Contains(err.Error(), "connect to the primary") {
			t.Errorf("%s at a replica: %v; want unavailable, with the fix", name, err)
		}
	}
	if _, err := redisstore.New(t.Context(), clientOf(t, server.URL()), nil); err == nil || !strings.Contains(err.Error(), "connect to the primary") {
		t.Errorf("a store on a replica: %v; want a refusal with the fix", err)
	}
	g, err := store.Guarantees(t.Context(), semel.GuaranteesParams{})
	if err != nil || g.SingleRegister != semel.No {
		t.Errorf("a replica promises a single register: %v, %v", g.SingleRegister, err)
	}
}

// A primary that has noticed that it is cut off from its replicas fences nobody either,
// and replays what is done. One that is full knows all that there is.
func TestCutOff(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, nil)
	store := openStore(t, clientOf(t, server.URL()), nil)
	done := claimOf(newKey(), semel.NewToken())
	acquire(t, store, done)
	finish(t, store, doneOf(done.Key, done.Token, "result"))
	other := done
	other.Token = semel.NewToken()
	late := func() error { return errOf(store.Finish(t.Context(), doneOf(other.Key, other.Token, "late"))) }
	server.Set(t, "maxmemory", "1")
	if err := late(); !errors.Is(err, semel.ErrFenced) {
		t.Errorf("at a full server, whoever is late: %v; want ErrFenced", err)
	}
	server.Set(t, "maxmemory", "0")
	server.Set(t, "min-replicas-to-write", "1")
	if err := late(); !unavailable(err) || !strings.Contains(err.Error(), "NOREPLICAS") {
		t.Errorf("at a server that is cut off, whoever is late: %v; want unavailable", err)
	}
	if res, err := store.Claim(t.Context(), other); err != nil || res.Outcome != semel.ClaimDone {
		t.Errorf("a replay there: %v, %v", res.Outcome, err)
	}
}
