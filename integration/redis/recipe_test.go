package redis_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/faultproxy"
)

// recipe is what everybody writes: SETNX with an expiry, then the work.
func recipe(ctx context.Context, client *redis.Client, key string, work func() error) error {
	first, err := client.SetNX(ctx, key, "1", time.Hour).Result()
	if err != nil || !first {
		return err
	}
	return work()
}

// marked is the same with a plain mark.
func (l *line) marked(ctx context.Context, key semel.KeyID, work func() error) error {
	first, err := l.through.FirstTime(ctx, key, time.Hour)
	if err != nil || !first {
		return err
	}
	return work()
}

// done is the same with a record.
func done(ctx context.Context, e *semel.Engine, key string, work func() error) error {
	op := semel.Op{Key: semel.KeyOf(semel.Scope{Principal: semel.Global, Operation: "mail"}, key), Input: semel.NoInput}
	_, err := semel.Do(ctx, e, op, func(context.Context) (struct{}, error) { return struct{}{}, work() })
	return err
}

// The recipe and its counterparts, side by side: how often the work is done when a caller
// asks twice, and the reply to the first mark is lost, or the work fails the first time.
// docs/store-redis.md has the table.
func TestRecipes(t *testing.T) {
	t.Parallel()
	l := newLine(t, &redis.Options{MaxRetries: 3})
	client := redis.NewClient(&redis.Options{Addr: l.proxy.Addr(), Password: l.password, MaxRetries: 3})
	closeLater(t, client.Close)
	engine, err := semel.New(l.through, nil)
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, func() error { return engine.Close(context.Background()) })
	for name, r := range map[string]struct {
		command        string
		ask            func(key semel.KeyID, work func() error) error
		lost, failures int // how often the work is done
	}{
		"SETNX": {"SET", func(key semel.KeyID, work func() error) error {
			return recipe(t.Context(), client, "recipe:"+key.String(), work)
		}, 0, 0},
		"FirstTime": {"SET", func(key semel.KeyID, work func() error) error { return l.marked(t.Context(), key, work) }, 1, 0},
		"Do":        {"EVALSHA", func(key semel.KeyID, work func() error) error { return done(t.Context(), engine, key.String(), work) }, 1, 1},
	} {
		count := 0
		work := func() error { count++; return nil }
		key := newKey()
		cut := l.proxy.Arm(faultproxy.Starts(r.command+" "), faultproxy.CutReply())
		for range 2 {
			if err := r.ask(key, work); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		<-cut.Fired()
		if count != r.lost {
			t.Errorf("%s, with a lost reply: the work is done %d times; want %d", name, count, r.lost)
		}
		key, count = newKey(), 0
		failed := errors.New("failed")
		if err := r.ask(key, func() error { return failed }); !errors.Is(err, failed) {
			t.Errorf("%s: %v", name, err)
		}
		if err := r.ask(key, work); err != nil || count != r.failures {
			t.Errorf("%s, after a failure: the work is done %d times, %v; want %d", name, count, err, r.failures)
		}
	}
}
