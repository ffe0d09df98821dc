package main

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// naiveRedis is a recorded response as tutorials write it: look, SETNX, and SET
// when the work is done.
type naiveRedis struct{ client *redis.Client }

const kept = 24 * time.Hour

func (n *naiveRedis) cycle(ctx context.Context, _ int) error {
	key := "naive:" + rand.Text()
	if err := n.client.Get(ctx, key).Err(); !errors.Is(err, redis.Nil) {
		return errors.Join(errors.New("a new key was found"), err)
	}
	first, err := n.client.SetNX(ctx, key, "started", kept).Result()
	if err != nil || !first {
		return errors.Join(errors.New("a new key was taken"), err)
	}
	return n.client.Set(ctx, key, make([]byte, payload), kept).Err()
}

// The two transitions as scripts that know their owner, one call each.
var (
	claimScript  = redis.NewScript(`return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])`)
	finishScript = redis.NewScript(`if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
		redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) return 1`)
)

func (n *naiveRedis) cycleScripts(ctx context.Context, _ int) error {
	keys, token := []string{"script:" + rand.Text()}, rand.Text()
	if err := claimScript.Run(ctx, n.client, keys, token, kept.Milliseconds()).Err(); err != nil {
		return err
	}
	return finishScript.Run(ctx, n.client, keys, token, make([]byte, payload), kept.Milliseconds()).Err()
}

// fill stores responses for replay.
func (n *naiveRedis) fill(ctx context.Context) error {
	_, err := n.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range stored {
			p.Set(ctx, storedKeyOf(i), make([]byte, payload), kept)
		}
		return nil
	})
	return err
}

func (n *naiveRedis) replay(ctx context.Context, _ int) error {
	data, err := n.client.Get(ctx, storedKey()).Bytes()
	if err == nil && len(data) != payload {
		err = errors.New("a stored response is not there")
	}
	return err
}
