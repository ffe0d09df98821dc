package redisstore

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"
)

// places is a route of which only the servers are asked for.
type places struct {
	route
	clients []*redis.Client
}

func (p places) all(context.Context) ([]*redis.Client, error) { return p.clients, nil }

func placesAt(t testing.TB, addrs ...string) (p places) {
	t.Helper()
	for _, addr := range addrs {
		client := redis.NewClient(&redis.Options{Addr: addr})
		t.Cleanup(func() { client.Close() })
		p.clients = append(p.clients, client)
	}
	return p
}

// A list goes through the servers in the order of their addresses. With one more, or one
// less, its rest is an error: it may have passed records by.
func TestListGoesThroughTheSameServers(t *testing.T) {
	t.Parallel()
	s := &Store{route: placesAt(t, "b:1", "a:1", "c:1")}
	var c cursor
	found, next, err := s.server(t.Context(), &c)
	if err != nil || found.Options().Addr != "a:1" || next != "b:1" {
		t.Fatal(found, next, err)
	}
	c.Server = "c:1"
	if found, next, err = s.server(t.Context(), &c); err != nil || found.Options().Addr != "c:1" || next != "" {
		t.Error(found, next, err)
	}
	for _, others := range []places{placesAt(t, "a:1", "b:1", "c:1", "d:1"), placesAt(t, "a:1", "c:1"), placesAt(t, "a:1", "b:1"), placesAt(t)} {
		s.route = others
		if _, _, err := s.server(t.Context(), &c); !errors.Is(err, errServers) {
			t.Errorf("with other servers: %v; want %v", err, errServers)
		}
	}
	for _, text := range []string{"?", "e30", "eyJzIjoiYSIsImsiOiJBQUFBIn0"} { // no base64, no server, a part of a key
		if _, err := parseCursor(text); !errors.Is(err, errCursor) {
			t.Errorf("the cursor %q: %v; want %v", text, err, errCursor)
		}
	}
}
