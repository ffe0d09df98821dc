package redis_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/redisstore"
)

// list pages through a store and calls between after each page.
func list(t testing.TB, s *redisstore.Store, limit int, between func(page int)) (keys map[semel.KeyID]int) {
	t.Helper()
	keys = make(map[semel.KeyID]int)
	for p, page := (semel.ListParams{Limit: limit}), 1; ; page++ {
		res, err := s.List(t.Context(), p)
		if err != nil || len(res.Records) > limit {
			t.Fatalf("page %d: %d records, %v", page, len(res.Records), err)
		}
		for _, r := range res.Records {
			keys[r.Key]++
		}
		if p.Cursor = res.Next; p.Cursor == "" {
			return keys
		}
		between(page)
	}
}

// crowd writes keys of somebody else, so many that the server changes the size of its
// table, or deletes them.
func crowd(ctx context.Context, admin *redis.Client, here bool) error {
	pipe := admin.Pipeline()
	for i := range 5000 {
		if key := fmt.Sprintf("foreign:%d", i); here {
			pipe.Set(ctx, key, "", 0)
		} else {
			pipe.Del(ctx, key)
		}
	}
	_, err := pipe.Exec(ctx)
	return err
}

// A list holds every record that is there all the time, though the server makes its table
// larger and smaller between the pages.
func TestListWhileTheTableChanges(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, &engines.Options{Settings: map[string]string{"appendonly": "no"}})
	admin, store := server.Client(t), openStore(t, clientOf(t, server.URL()), nil)
	want := make(map[semel.KeyID]bool)
	for range 300 {
		key := newKey()
		acquire(t, store, claimOf(key, semel.NewToken()))
		want[key] = true
	}
	got := list(t, store, 7, func(page int) {
		if page%10 == 0 {
			if err := crowd(t.Context(), admin, page%20 == 0); err != nil {
				t.Fatal(err)
			}
		}
	})
	twice := 0
	for key, n := range got {
		if !want[key] {
			t.Errorf("%v is listed, and is none", key)
		}
		twice += n - 1
	}
	if len(got) != len(want) {
		t.Errorf("%d of %d records are listed", len(got), len(want))
	}
	t.Logf("%d records, told of twice: %d", len(got), twice)
}

// A page costs the server one bounded step, however many records are asked for.
func TestListIsBounded(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, nil)
	admin, store := server.Client(t), openStore(t, clientOf(t, server.URL()), nil)
	acquire(t, store, claimOf(newKey(), semel.NewToken()))
	server.Set(t, "slowlog-log-slower-than", "0")
	if _, err := store.List(t.Context(), semel.ListParams{Limit: 1 << 30}); err != nil {
		t.Fatal(err)
	}
	server.Set(t, "slowlog-log-slower-than", "-1")
	log, err := admin.SlowLogGet(t.Context(), -1).Result()
	if err != nil {
		t.Fatal(err)
	}
	scans := slices.DeleteFunc(log, func(l redis.SlowLog) bool { return !strings.EqualFold(l.Args[0], "scan") })
	if len(scans) != 1 || scans[0].Args[len(scans[0].Args)-1] != "1000" {
		t.Errorf("a page took %v; want one SCAN with COUNT 1000", scans)
	}
}

// A server that was restarted has another order, and another server has other records:
// the rest of a list is an error, and no gap.
func TestListAfterARestart(t *testing.T) {
	t.Parallel()
	server, other := engines.NewRedis(t, nil), engines.NewRedis(t, nil)
	store, elsewhere := openStore(t, clientOf(t, server.URL()), nil), openStore(t, clientOf(t, other.URL()), nil)
	for range 100 {
		acquire(t, store, claimOf(newKey(), semel.NewToken()))
	}
	page, err := store.List(t.Context(), semel.ListParams{Limit: 5})
	if err != nil || page.Next == "" {
		t.Fatal(page, err)
	}
	if _, err := elsewhere.List(t.Context(), semel.ListParams{Limit: 5, Cursor: page.Next}); err == nil || !strings.Contains(err.Error(), "begin anew") {
		t.Errorf("the second page of another server: %v", err)
	}
	server.Stop(t)
	server.Restart(t)
	rest := semel.ListParams{Limit: 5, Cursor: page.Next}
	for err = nil; err == nil && rest.Cursor != ""; {
		page, err = store.List(t.Context(), rest)
		if unavailable(err) { // a connection of the pool that is dead
			err = nil
			continue
		}
		rest.Cursor = page.Next
	}
	if err == nil || !strings.Contains(err.Error(), "begin anew") {
		t.Errorf("the rest after a restart: %v; want an error that says to begin anew", err)
	}
	list(t, store, 5, func(int) {})
}
