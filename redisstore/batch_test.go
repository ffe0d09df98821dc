package redisstore

import (
	"context"
	"errors"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
)

// A caller who goes while its batch waits for a connection spoils it for nobody else: the
// others are sent, and only they.
func TestCallerGoesFromABatch(t *testing.T) {
	t.Parallel()
	said := make(chan string)
	s := scriptedBy(t, &redis.Options{MaxRetries: -1, PoolSize: 1, PipelinePoolSize: -1, PoolTimeout: time.Hour, ReadTimeout: -1}, said)
	to := s.route.(single).primary
	send := func(calls ...*call) <-chan struct{} {
		sent := make(chan struct{})
		go func() { to.send(t.Context(), calls); close(sent) }()
		return sent
	}
	claims := make([]*call, 4)
	for i := range claims {
		claims[i] = &call{key: "key", script: &s.scripts.claim, params: claimParams(&semel.ClaimParams{})}
	}
	const acquired = "*2\r\n:6\r\n:1\r\n"
	first := send(claims[0])
	for s.client.PoolStats().TotalConns == 0 {
		runtime.Gosched()
	}
	batch := send(claims[1:]...)
	for s.client.PoolStats().PendingRequests == 0 { // for the only connection
		runtime.Gosched()
	}
	if !claims[2].abandon() {
		t.Fatal("the call was written, though there is no connection")
	}
	said <- acquired
	<-first
	for range 2 {
		select {
		case said <- acquired:
		case <-batch:
			t.Error("the batch is over before both calls are answered")
		}
	}
	<-batch
	for i, c := range claims {
		if i == 2 {
			continue
		}
		if _, err := c.answer(semel.KeyID{}); c.verdict() != nil || err != nil {
			t.Errorf("call %d: %v, %v; want its answer", i, c.verdict(), err)
		}
	}
	select {
	case said <- acquired:
		t.Error("the call of who has gone was sent")
	default:
	}
}

// A connection that breaks in the middle of a batch: what it was to answer is unknown, and
// what was answered before is never told to be refused. Without a connection nothing was
// executed, for certain.
func TestBrokenBatch(t *testing.T) {
	t.Parallel()
	said := make(chan string, 2)
	s := scriptedBy(t, &redis.Options{MaxRetries: -1, DialerRetries: 1}, said)
	to := s.route.(single).primary
	batch := func() (calls []*call) {
		for range 3 {
			calls = append(calls, &call{key: "key", script: &s.scripts.claim, params: claimParams(&semel.ClaimParams{})})
		}
		to.send(t.Context(), calls)
		return calls
	}
	said <- "*2\r\n:6\r\n:1\r\n"
	said <- ""
	for i, c := range batch() {
		if err := c.verdict(); !errors.Is(err, semel.ErrNoReply) && (i > 0 || err != nil) {
			t.Errorf("call %d of a batch whose second reply is lost: %v", i, err)
		}
	}
	s.client.(*redis.Client).Options().Dialer = func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no route to host")
	}
	for i, c := range batch() {
		if err := c.verdict(); errors.Is(err, semel.ErrNoReply) || !errors.Is(err, semel.ErrStoreUnavailable) {
			t.Errorf("call %d of a batch without a connection: %v; want unavailable", i, err)
		}
	}
}

// Whoever shows commands, such as a tracer, shows nothing of a record.
func TestCommandsHideWhatTheyCarry(t *testing.T) {
	t.Parallel()
	c := &call{key: "key", script: &script{sha: "sha"}, params: []byte("order 4711")}
	if got, want := c.command(t.Context(), false, false).String(), "EVALSHA sha 1 key (10 bytes)"; got != want {
		t.Errorf("a command shows as %q; want %q", got, want)
	}
}
