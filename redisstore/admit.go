package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// admit refuses servers that can never do.
func (s *Store) admit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	clients, err := s.servers(ctx)
	if err != nil {
		return err
	}
	for _, client := range clients {
		f, err := ask(ctx, client)
		if err == nil {
			err = s.admits(&f)
		} else {
			err = unavailable(err)
		}
		if err != nil {
			return fmt.Errorf("redisstore: %s: %w", client.Options().Addr, err)
		}
	}
	return s.checkRights(ctx)
}

func (s *Store) admits(f *facts) error {
	_, cluster := s.route.(*cluster)
	switch {
	case f.replica():
		return errors.New("the server is a replica: connect to the primary, or through Sentinel (redis.NewFailoverClient); never read from a replica")
	case f.old():
		return fmt.Errorf("the server has version %s, and 6.2 is the oldest that will do; upgrade it", f.info["redis_version"])
	case f.clustered() && !cluster:
		return errors.New("the server is one of a cluster: use redis.NewClusterClient")
	case f.evicts() && !s.options.AllowEviction:
		return fmt.Errorf("maxmemory-policy is %s: the server drops live leases and results when memory is short, and work runs twice; set it to noeviction in redis.conf or with CONFIG SET, or accept that with Options.AllowEviction", f.policy())
	}
	return nil
}

// checkRights does once what calls and scripts do.
func (s *Store) checkRights(ctx context.Context) error {
	key := s.options.Prefix + "probe"
	to, err := s.route.to(ctx, key)
	if err != nil {
		return fmt.Errorf("redisstore: %w", unavailable(err))
	}
	said, err := to.client.Eval(ctx, s.scripts.probe.text, []string{key}, s.channel()).Int()
	if err == nil {
		err = to.client.EvalSha(ctx, s.scripts.probe.sha, []string{key}, s.channel()).Err()
	}
	if err == nil && s.options.Replicas > 0 {
		err = to.client.Wait(ctx, 0, time.Millisecond).Err()
	}
	if err != nil {
		return fmt.Errorf("redisstore: %w", unavailable(err))
	}
	s.deaf = said == 0
	return nil
}

// channel is where the ends of runs are told that somebody waits for.
func (s *Store) channel() string { return s.options.Prefix + "ended" }
