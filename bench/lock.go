package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/bench/internal/window"
	"github.com/semel-go/semel/lock"
)

// lockExpiry is for how long all locks are taken.
const lockExpiry = 30 * time.Second

// lockCycle takes a lock and gives it back.
type lockCycle func(ctx context.Context, name string) error

// lockSuite compares locks on Redis: of callers with a name each, and of many who want one.
func lockSuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	r, err := openRedis(ctx, &cfg)
	if err != nil {
		return nil, err
	}
	defer r.close(ctx)
	rivals, err := r.lockers(ctx)
	if err != nil {
		return nil, err
	}
	table := &window.Table{
		Title: "Redis, locks",
		Notes: []string{
			"A cycle is a lock that is taken and given back. redsync, redislock and rueidislock as their documentation has them (redislock with its linear backoff of 100 ms),",
			"on one server. They give no fence. *One name*: all callers of one process want the same lock.",
		},
	}
	for _, callers := range []int{1, 16, 128} {
		cfg.Callers = callers
		if err := addLocks(ctx, cfg, table, "own names", rivals, func(caller int) string { return fmt.Sprint("own:", caller) }); err != nil {
			return nil, err
		}
		if callers == 1 {
			continue
		}
		if err := addLocks(ctx, cfg, table, "one name", rivals, func(int) string { return "hot" }); err != nil {
			return nil, err
		}
	}
	return table, nil
}

// rival is a lock of some library.
type rival struct {
	name  string
	cycle lockCycle
}

func addLocks(ctx context.Context, cfg window.Config, table *window.Table, what string, rivals []rival, nameOf func(caller int) string) error {
	contenders := make([]window.Contender, len(rivals))
	for i, r := range rivals {
		contenders[i] = window.Contender{Name: r.name, Cycle: func(ctx context.Context, caller int) error { return r.cycle(ctx, nameOf(caller)) }}
	}
	figures, err := window.Run(ctx, cfg, contenders...)
	if err == nil {
		table.Add(window.Callers(cfg.Callers)+", "+what, figures)
	}
	return err
}

// lockers are the contenders, each with a client of its own.
func (r *redisServer) lockers(ctx context.Context) ([]rival, error) {
	ours, errOurs := r.semelLock(ctx)
	tracking, errTracking := r.rueidisLock()
	return []rival{
		{"redsync", r.redsyncLock()},
		{"redislock", r.redisLock()},
		{"rueidislock", tracking},
		{"Semel", ours},
	}, errors.Join(errOurs, errTracking)
}

func (r *redisServer) redsyncLock() lockCycle {
	rs := redsync.New(goredis.NewPool(r.client()))
	return func(ctx context.Context, name string) error {
		// Its 32 tries are not enough for 128 callers.
		m := rs.NewMutex("redsync:"+name, redsync.WithExpiry(lockExpiry), redsync.WithTries(1_000_000))
		if err := m.LockContext(ctx); err != nil {
			return err
		}
		_, err := m.UnlockContext(ctx)
		return err
	}
}

func (r *redisServer) redisLock() lockCycle {
	client := redislock.New(r.client())
	opts := &redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)}
	return func(ctx context.Context, name string) error {
		l, err := client.Obtain(ctx, "redislock:"+name, lockExpiry, opts)
		if err != nil {
			return err
		}
		return l.Release(ctx)
	}
}

func (r *redisServer) rueidisLock() (lockCycle, error) {
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{r.options.Addr}, Username: r.options.Username, Password: r.options.Password, SelectDB: r.options.DB},
		KeyMajority:  1, KeyValidity: lockExpiry, // NoLoopTracking lets callers of one process wait for ever
	})
	if err != nil {
		return nil, err
	}
	r.cleanup.add(l.Close)
	return func(ctx context.Context, name string) error {
		_, cancel, err := l.WithContext(ctx, "rueidis:"+name)
		if err == nil {
			cancel()
		}
		return err
	}, nil
}

func (r *redisServer) semelLock(ctx context.Context) (lockCycle, error) {
	store, err := r.store(ctx)
	if err != nil {
		return nil, err
	}
	l, err := lock.New(store, &lock.Config{Lease: lockExpiry})
	if err != nil {
		return nil, err
	}
	r.cleanup.add(func() { l.Close(context.WithoutCancel(ctx)) })
	nothing := func(context.Context, semel.Fence) error { return nil }
	return func(ctx context.Context, name string) error { return lock.Do(ctx, l, name, nil, nothing) }, nil
}
