package redis_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/redisstore"
)

// What changes nothing is still answered by a full server, also where each call waits for
// a replica, which takes a write.
func TestFullServerWithReplicas(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, nil)
	server.Replica(t, nil)
	store := openStore(t, clientOf(t, server.URL()), &redisstore.Options{Replicas: 1})
	done, doubt, spare := claimOf(newKey(), semel.NewToken()), claimOf(newKey(), semel.NewToken()), claimOf(newKey(), semel.NewToken())
	spare.Retention = semel.Forever
	for _, p := range []semel.ClaimParams{done, doubt, spare} {
		acquire(t, store, p)
	}
	finish(t, store, doneOf(done.Key, done.Token, "replayed"))
	finish(t, store, doneOf(spare.Key, spare.Token, "kept"))
	finish(t, store, inDoubt(doubt.Key, doubt.Token))
	decision := semel.ResolveParams{Key: doubt.Key, Token: semel.NewToken(), Fence: read(t, store, doubt.Key).Fence, Resolution: semel.ResolveDone, Retention: retention}
	decision.Result = semel.StoredResult{Kind: semel.ResultValue, Data: []byte("decided")}
	if res, err := store.Resolve(t.Context(), decision); err != nil || !res.Resolved {
		t.Fatal(res, err)
	}
	before := server.Client(t).PTTL(t.Context(), "semel:"+done.Key.String()).Val()
	server.Set(t, "maxmemory", "1")
	for range 2 {
		for p, want := range map[*semel.ClaimParams]string{&done: "replayed", &spare: "kept", &doubt: "decided"} {
			other := *p
			other.Token = semel.NewToken()
			if res, err := store.Claim(t.Context(), other); err != nil || res.Outcome != semel.ClaimDone || string(res.Record.Result.Data) != want {
				t.Errorf("a replay: %v, %q, %v; want %q", res.Outcome, res.Record.Result.Data, err, want)
			}
		}
		finish(t, store, doneOf(done.Key, done.Token, "another one"))
		if res, err := store.Resolve(t.Context(), decision); err != nil || !res.Resolved {
			t.Errorf("the same decision again: %+v, %v", res, err)
		}
	}
	if after := server.Client(t).PTTL(t.Context(), "semel:"+done.Key.String()).Val(); after > before || after < before-time.Minute {
		t.Errorf("Redis forgets the record in %v; it was %v", after, before)
	}
	if left := server.Client(t).PTTL(t.Context(), "semel:"+spare.Key.String()).Val(); left != -1 {
		t.Errorf("Redis forgets in %v what is kept for ever", left)
	}
}

// A damaged record, or one in a state that this version does not know, is an error of its
// own type for every method, is never run again, and stays as it is.
func TestDamagedRecordsAreLeftAlone(t *testing.T) {
	t.Parallel()
	client := clientOf(t, engines.Redis(t).URL())
	prefix := newPrefix()
	store := openStore(t, client, &redisstore.Options{Prefix: prefix})
	for name, damage := range map[string]func(value []byte) []byte{
		"cut in its head":       func(v []byte) []byte { return v[:60] },
		"cut in its labels":     func(v []byte) []byte { return v[:105] },
		"a state of no version": func(v []byte) []byte { v[1] = 9; return v },
		"a newer format":        func(v []byte) []byte { v[0] = 2; return v },
		"empty":                 func([]byte) []byte { return nil },
	} {
		p := claimOf(newKey(), semel.NewToken())
		acquire(t, store, p)
		finish(t, store, semel.FinishParams{Key: p.Key, Token: p.Token, State: semel.StateReleased, Retention: retention})
		place := prefix + p.Key.String()
		whole, err := client.Get(t.Context(), place).Bytes()
		if err != nil {
			t.Fatal(err)
		}
		damaged := damage(whole)
		if err := client.Set(t.Context(), place, damaged, redis.KeepTTL).Err(); err != nil {
			t.Fatal(err)
		}
		for method, err := range everyMethod(t, store, p) {
			if _, ok := errors.AsType[*semel.RecordFormatError](err); !ok {
				t.Errorf("%s, %s: %v; want a *RecordFormatError", name, method, err)
			}
		}
		if after, err := client.Get(t.Context(), place).Bytes(); err != nil || string(after) != string(damaged) {
			t.Errorf("%s: it was changed from %q to %q, %v", name, damaged, after, err)
		}
	}
}

// everyMethod calls each method on a record and returns what it answered.
func everyMethod(t testing.TB, s *redisstore.Store, p semel.ClaimParams) map[string]error {
	t.Helper()
	again := p
	again.Token = semel.NewToken()
	return map[string]error{
		"claim":      errOf(s.Claim(t.Context(), again)),
		"renew":      errOf(s.Renew(t.Context(), semel.RenewParams{Key: p.Key, Token: p.Token, Lease: lease})),
		"checkpoint": errOf(s.Checkpoint(t.Context(), semel.CheckpointParams{Key: p.Key, Token: p.Token})),
		"finish":     errOf(s.Finish(t.Context(), doneOf(p.Key, p.Token, "x"))),
		"read":       errOf(s.Read(t.Context(), semel.ReadParams{Key: p.Key})),
		"resolve":    errOf(s.Resolve(t.Context(), semel.ResolveParams{Key: p.Key, Token: semel.NewToken(), Resolution: semel.ResolveDelete})),
	}
}

// docs/stores-protocol.md shows the scripts as they are, but for their parameters.
func TestProtocolPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/stores-protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"claim", "own", "finish", "resolve"} {
		script, err := os.ReadFile("../../redisstore/scripts/" + name + ".lua")
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(string(script), "\n")
		if !strings.Contains(string(page), body) {
			t.Errorf("the page does not show %s.lua as it is", name)
		}
	}
}
