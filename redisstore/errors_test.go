package redisstore

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
)

func claim(ctx context.Context, s *Store) error {
	_, err := s.Claim(ctx, semel.ClaimParams{Key: semel.KeyID{1}, Token: semel.NewToken(), Policy: semel.AtLeastOnce, Lease: time.Minute, Retention: time.Hour})
	return err
}

// What the server's answers say of a call: certainly not executed, or unknown.
func TestRepliesClassified(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reply string
		want  error
		fix   string
	}{
		{"-LOADING Redis is loading the dataset in memory", semel.ErrStoreUnavailable, ""},
		{"-READONLY You can't write against a read only replica.", semel.ErrStoreUnavailable, "connect to the primary"},
		{"-BUSY Redis is busy running a script.", semel.ErrStoreUnavailable, ""},
		{"-MOVED 1 127.0.0.1:1", semel.ErrStoreUnavailable, ""},
		{"-ASK 1 127.0.0.1:1", semel.ErrStoreUnavailable, ""},
		{"-TRYAGAIN Multiple keys request during rehashing of slot", semel.ErrStoreUnavailable, ""},
		{"-CLUSTERDOWN Hash slot not served", semel.ErrStoreUnavailable, "no primary"},
		{"-MASTERDOWN Link with MASTER is down", semel.ErrStoreUnavailable, ""},
		{"-NOREPLICAS Not enough good replicas to write.", semel.ErrStoreUnavailable, ""},
		{"-NOAUTH Authentication required.", semel.ErrStoreUnavailable, "username and password"},
		{"-NOPERM this user has no permissions", semel.ErrStoreUnavailable, "docs/store-redis.md"},
		{"-MISCONF Redis is configured to save RDB snapshots, but", semel.ErrStoreUnavailable, "its disk"},
		{"-NOSCRIPT No matching script.", semel.ErrStoreUnavailable, ""},
		{"-OOM command not allowed when used memory > 'maxmemory'.", semel.ErrStoreFull, "raise maxmemory"},
		{"*1\r\n$3\r\nwhy", semel.ErrNoReply, "proxy in between"},
		{"*1\r\n:99", semel.ErrNoReply, ""},
		{"*2\r\n:7\r\n:1", semel.ErrNoReply, ""},
	} {
		err := claim(t.Context(), scripted(t, &redis.Options{MaxRetries: -1}, c.reply+"\r\n"))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.fix) {
			t.Errorf("%s: %v; want %v with %q", c.reply, err, c.want, c.fix)
		}
		if c.want != semel.ErrNoReply && errors.Is(err, semel.ErrNoReply) {
			t.Errorf("%s: %v; nothing was executed, for certain", c.reply, err)
		}
	}
}

// A record that this version cannot read is a typed error, and no run.
func TestRecordRepliesClassified(t *testing.T) {
	t.Parallel()
	for reply, format := range map[string]int{
		"*2\r\n:3\r\n:2\r\n":                     2,
		"*2\r\n:4\r\n:0\r\n":                     0,
		"*3\r\n:8\r\n:1\r\n$3\r\nbad\r\n":        int('b'),
		"-WRONGTYPE Operation against a key\r\n": 0,
	} {
		err := claim(t.Context(), scripted(t, &redis.Options{MaxRetries: -1}, reply))
		if f, ok := errors.AsType[*semel.RecordFormatError](err); !ok || f.Format != format {
			t.Errorf("%q: %v; want a RecordFormatError with %d", reply, err, format)
		}
	}
}

// A connection that breaks leaves it unknown, also when the client has sent the call
// again and was refused then.
func TestBrokenConnection(t *testing.T) {
	t.Parallel()
	if err := claim(t.Context(), scripted(t, &redis.Options{MaxRetries: -1}, "")); !errors.Is(err, semel.ErrNoReply) {
		t.Errorf("the server hangs up: %v; want no reply", err)
	}
	again := &redis.Options{MaxRetries: 1, MinRetryBackoff: -1, MaxRetryBackoff: -1}
	if err := claim(t.Context(), scripted(t, again, "", "-OOM full\r\n")); !errors.Is(err, semel.ErrNoReply) {
		t.Errorf("refused the second time: %v; want no reply, since the first is unknown", err)
	}
	if err := claim(t.Context(), scripted(t, &redis.Options{MaxRetries: 1}, "", "*2\r\n:6\r\n:1\r\n")); err != nil {
		t.Errorf("answered the second time: %v", err)
	}
}

// What never got to a server was not executed.
func TestNeverSent(t *testing.T) {
	t.Parallel()
	s := scripted(t, &redis.Options{MaxRetries: -1, DialerRetries: 1}, "")
	s.client.(*redis.Client).Options().Dialer = func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no route to host")
	}
	if err := claim(t.Context(), s); errors.Is(err, semel.ErrNoReply) || !errors.Is(err, semel.ErrStoreUnavailable) {
		t.Errorf("no connection: %v; want unavailable", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := claim(ctx, s); errors.Is(err, semel.ErrNoReply) || !errors.Is(err, semel.ErrStoreUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v; want unavailable", err)
	}
	if err := s.route.close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := claim(t.Context(), s); errors.Is(err, semel.ErrNoReply) || !errors.Is(err, semel.ErrStoreUnavailable) {
		t.Errorf("a closed store: %v; want unavailable", err)
	}
}

// A caller who goes does not wait for a server that hangs, though the client would. What
// had not been written by then is never sent.
func TestCallerGoes(t *testing.T) {
	t.Parallel()
	said := make(chan string)
	s := scriptedBy(t, &redis.Options{MaxRetries: -1, PoolSize: 1, PipelinePoolSize: -1, PoolTimeout: time.Hour, ReadTimeout: -1}, said)
	s.options.Timeout = time.Hour
	s.route = newRoute(s.client, s.options)
	told := make(chan error)
	going := func(ctx context.Context) { told <- claim(ctx, s) }
	go going(t.Context())
	for s.client.PoolStats().TotalConns == 0 {
		runtime.Gosched()
	}
	waiting, give := context.WithCancel(t.Context())
	go going(waiting)
	for s.client.PoolStats().PendingRequests == 0 { // for the only connection
		runtime.Gosched()
	}
	give()
	if err := <-told; errors.Is(err, semel.ErrNoReply) || !errors.Is(err, semel.ErrStoreUnavailable) {
		t.Errorf("a call that was never written: %v; want unavailable", err)
	}
	const acquired = "*2\r\n:6\r\n:1\r\n"
	said <- acquired // to the first call; its connection is free
	if err := <-told; err != nil {
		t.Error(err)
	}
	go going(t.Context())
	said <- acquired // to the next call that is written
	if err := <-told; err != nil {
		t.Error(err)
	}
	hanging, hangUp := context.WithCancel(t.Context())
	go going(hanging)
	said <- silence
	hangUp()
	if err := <-told; !errors.Is(err, semel.ErrNoReply) {
		t.Errorf("a call that was written: %v; want no reply", err)
	}
}

// The server that has forgotten the script gets its text, once in a pipeline.
func TestScriptBroughtAlong(t *testing.T) {
	t.Parallel()
	s := scripted(t, &redis.Options{MaxRetries: -1}, "-NOSCRIPT No matching script.\r\n", "*2\r\n:6\r\n:1\r\n")
	if err := claim(t.Context(), s); err != nil {
		t.Error(err)
	}
	var calls []*call
	for range 3 {
		calls = append(calls, &call{script: &s.scripts.claim, err: replyError("NOSCRIPT No matching script.")}, &call{script: &s.scripts.finish})
	}
	unknown, first := forgotten(calls)
	if len(unknown) != 3 || len(first) != 1 || !first[calls[0]] {
		t.Errorf("%d calls again, %d with the text; want 3 and the first of them", len(unknown), len(first))
	}
}

// replyError is an error of a server.
type replyError string

func (e replyError) Error() string { return string(e) }

func (replyError) RedisError() {}
