package redisstore

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Each contradiction is refused, and the message names the fix.
func TestOptionsRefused(t *testing.T) {
	t.Parallel()
	client := redis.NewClient(&redis.Options{ContextTimeoutEnabled: true})
	defer client.Close()
	for _, c := range []struct {
		fix string
		o   Options
	}{
		{"leave them out", Options{Prefix: "{app}:"}},
		{"end it otherwise", Options{Prefix: "semel:mark:"}},
		{"use up to 100", Options{Prefix: strings.Repeat("p", 101)}},
		{"leave it 0 for 512", Options{MaxBatch: -1}},
		{"leave it 0 for 5s", Options{Timeout: time.Millisecond}},
		{"use 0 to wait for none", Options{Replicas: -1}},
	} {
		if _, err := New(t.Context(), client, &c.o); err == nil || !strings.Contains(err.Error(), c.fix) {
			t.Errorf("%+v: %v; want an error with %q", c.o, err, c.fix)
		}
	}
}

func TestClientsRefused(t *testing.T) {
	t.Parallel()
	for fix, client := range map[string]redis.UniversalClient{
		"set ContextTimeoutEnabled":     redis.NewClient(&redis.Options{}),
		"; set ContextTimeoutEnabled":   redis.NewClusterClient(&redis.ClusterOptions{}),
		"unset ReadOnly":                redis.NewClusterClient(&redis.ClusterOptions{ContextTimeoutEnabled: true, ReadOnly: true}),
		"use a *redis.Client":           redis.NewRing(&redis.RingOptions{}),
		"make one with redis.NewClient": nil,
	} {
		if client != nil {
			defer client.Close()
		}
		if _, err := New(t.Context(), client, nil); err == nil || !strings.Contains(err.Error(), fix) {
			t.Errorf("%T: %v; want an error with %q", client, err, fix)
		}
	}
}
