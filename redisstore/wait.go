package redisstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/waitroom"
)

// WaitChange is [semel.ChangeWaiter]. Those who wait are told through one connection of
// this process, on one channel, of the ends of runs that somebody waits for. It comes
// back every two seconds at least, and with an error that matches
// [semel.ErrUnsupported] where the user may not publish.
func (s *Store) WaitChange(ctx context.Context, p semel.WaitParams) (semel.WaitResult, error) {
	if s.deaf {
		return semel.WaitResult{}, fmt.Errorf("redisstore: the user may not publish on the channel %s: %w", s.channel(), semel.ErrUnsupported)
	}
	return semel.WaitResult{}, s.room.Wait(ctx, p.Key, func(ctx context.Context) (bool, error) {
		a, err := s.run(ctx, &s.scripts.await, p.Key, awaitParams(&p))
		return a.code == saysOK, err
	})
}

// listen subscribes. The subscription ends with ctx.
func (s *Store) listen(ctx context.Context) (waitroom.Ear, error) {
	within, cancel := context.WithTimeout(ctx, waitroom.TryTimeout)
	defer cancel()
	sub := s.client.Subscribe(within, s.channel())
	if _, err := sub.ReceiveTimeout(within, waitroom.TryTimeout); err != nil {
		return nil, errors.Join(err, sub.Close())
	}
	return &ear{PubSub: sub, stop: context.AfterFunc(ctx, func() {
		_ = sub.Close() // whoever hears is told that it is closed
	})}, nil
}

// ear is a subscription.
type ear struct {
	*redis.PubSub
	stop  func() bool
	asked bool // and not heard anything since
}

// Hear is waitroom.Ear. The client knows timeouts only; the room's context is that of
// the subscription.
func (e *ear) Hear(ctx context.Context) (key semel.KeyID, ok bool, err error) {
	until, _ := ctx.Deadline()
	said, err := e.ReceiveTimeout(ctx, time.Until(until))
	if timeout, isTimeout := errors.AsType[net.Error](err); isTimeout && timeout.Timeout() {
		<-ctx.Done()
		return key, false, err
	}
	if err != nil {
		return key, false, err
	}
	e.asked = false
	m, isMessage := said.(*redis.Message)
	if !isMessage {
		return key, false, nil
	}
	key, bad := semel.ParseKeyID(m.Payload)
	return key, bad == nil, nil
}

// Try is waitroom.Ear. The answer is heard; a server that gave none until it is tried
// again has gone, which a connection may take a quarter of an hour to find out.
func (e *ear) Try(ctx context.Context) error {
	if e.asked {
		return errDeaf
	}
	e.asked = true
	return e.Ping(ctx)
}

var errDeaf = errors.New("redisstore: the server does not answer on the connection that listens")

// Close is waitroom.Ear.
func (e *ear) Close() error {
	if !e.stop() {
		return nil // it was closed with its context
	}
	return e.PubSub.Close()
}
