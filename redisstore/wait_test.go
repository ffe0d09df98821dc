package redisstore

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// A server that has gone without a word, which the connection does not show for long, is
// found out by its silence.
func TestSilentServerIsFoundOut(t *testing.T) {
	t.Parallel()
	said := make(chan string, 3)
	defer close(said)
	s := scriptedBy(t, &redis.Options{MaxRetries: -1}, said)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e, err := s.listen(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	try := func(reply string, within time.Duration) error {
		said <- reply
		if err := e.Try(ctx); err != nil {
			t.Fatalf("with an answer to the last one: %v", err)
		}
		until, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		_, ok, err := e.Hear(until)
		if ok {
			t.Errorf("a key is heard after %q", reply)
		}
		return err
	}
	for range 2 {
		if err := try("*2\r\n$4\r\npong\r\n$0\r\n\r\n", time.Minute); err != nil {
			t.Error(err)
		}
	}
	if err := try(skipped, 20*time.Millisecond); err == nil {
		t.Error("an answer is heard that did not come")
	}
	if err := e.Try(ctx); err == nil {
		t.Error("a server that did not answer is taken for alive")
	}
}
