package redis_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel/integration/internal/engines"
)

// docs/sizing.md says what a record takes. The figures of this server are within a fifth
// of them, and a stored result costs its bytes.
func TestMemoryOfRecords(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, &engines.Options{Settings: map[string]string{"appendonly": "no"}})
	store, admin := openStore(t, clientOf(t, server.URL()), nil), server.Client(t)
	const callers, each = 64, 320
	for size, documented := range map[int]int{0: 277, 300: 579} {
		before := usedMemory(t, admin)
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				for range each {
					if err := cycleWith(t.Context(), store, strings.Repeat("x", size)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		got := (usedMemory(t, admin) - before) / (callers * each)
		if got < documented*4/5 || got > documented*6/5 {
			t.Errorf("a record with %d bytes takes %d; docs/sizing.md says %d", size, got, documented)
		}
	}
}

func usedMemory(t testing.TB, admin *redis.Client) int {
	t.Helper()
	info, err := admin.InfoMap(t.Context(), "memory").Result()
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(info["Memory"]["used_memory"])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
