package redisstore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel/internal/combiner"
)

const (
	// lanes is how many batches may be under way to one server, and patience for how
	// long calls wait for those that are under way before they go on another connection:
	// one that hangs delays nobody else for long.
	lanes    = 16
	patience = 5 * time.Millisecond
	// direct is how many calls go by themselves, side by side; more of them share
	// pipelines, flights of which are under way: the server works on one while the next
	// is made.
	direct  = 8
	flights = 2
	// reloads is how often a script is sent anew to a server that forgot it.
	reloads = 3
)

// primary is one server that owns keys. Calls that arrive while others are under way
// share the next pipeline; a call that finds it idle goes alone.
type primary struct {
	client   *redis.Client
	calls    *combiner.Combiner[*call]
	timeout  time.Duration
	replicas int
	under    sync.WaitGroup // of calls whose caller may have gone
}

func newPrimary(client *redis.Client, o *Options) *primary {
	p := &primary{client: client, timeout: o.Timeout, replicas: o.Replicas}
	p.calls = combiner.New(combiner.Config[*call]{Max: o.MaxBatch, Lanes: lanes, Direct: direct, Flights: flights, Patience: patience, Flush: p.flush})
	return p
}

// do makes the call in some batch. Its answer is in the call, unless an error says that
// it did not come to that; the call must not be touched then.
func (p *primary) do(ctx context.Context, c *call) error { return p.calls.Do(ctx, c) }

// flush sends a batch. A caller whose own call it is does not wait longer than he wants;
// the client would: it looks at deadlines only.
func (p *primary) flush(ctx context.Context, batch []*combiner.Call[*call]) error {
	calls := make([]*call, 0, len(batch))
	for _, b := range batch {
		if b.Start() {
			calls = append(calls, b.Op)
		}
	}
	sent := make(chan struct{})
	send := func() {
		within, cancel := context.WithTimeout(ctx, p.timeout)
		defer cancel()
		p.send(within, calls)
		close(sent)
	}
	if ctx.Done() == nil {
		send()
		return nil
	}
	p.under.Go(send)
	select {
	case <-sent:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", combiner.ErrLeft, context.Cause(ctx))
	}
}

// close waits for calls under way, or until ctx ends.
func (p *primary) close(ctx context.Context) error {
	err := p.calls.Close(ctx)
	p.under.Wait()
	return err
}

// send sends calls until the server knows their scripts.
func (p *primary) send(ctx context.Context, calls []*call) {
	p.sendTogether(ctx, calls, nil)
	for range reloads {
		unknown, first := forgotten(calls)
		if len(unknown) == 0 {
			return
		}
		p.sendTogether(ctx, unknown, first)
	}
}

// sendTogether sends calls in one go. One whose caller goes while they wait for a
// connection ends the writing: the others are sent again then, without it.
func (p *primary) sendTogether(ctx context.Context, calls []*call, texts map[*call]bool) {
	for {
		if slices.ContainsFunc(calls, (*call).abandoned) {
			calls = slices.DeleteFunc(slices.Clone(calls), (*call).abandoned)
		}
		if len(calls) == 0 {
			return
		}
		p.pipeline(ctx, calls, texts)
		if !slices.ContainsFunc(calls, (*call).spoilt) {
			return
		}
	}
}

// forgotten are the calls whose script the server does not know, and of each script the
// first, which is to bring it along.
func forgotten(calls []*call) (unknown []*call, first map[*call]bool) {
	var seen map[*script]bool
	for _, c := range calls {
		if codeOf(c.err) != "NOSCRIPT" {
			continue
		}
		if first == nil {
			first, seen = make(map[*call]bool), make(map[*script]bool)
		}
		if !seen[c.script] {
			first[c], seen[c.script] = true, true
		}
		unknown = append(unknown, c)
	}
	return unknown, first
}

// pipeline sends calls in one go on one connection, those in texts with the text of
// their script.
func (p *primary) pipeline(ctx context.Context, calls []*call, texts map[*call]bool) {
	waits := p.replicas > 0 && slices.ContainsFunc(calls, (*call).writes)
	if len(calls) == 1 && !waits {
		cmd := calls[0].command(ctx, texts[calls[0]], false)
		_ = p.client.Process(ctx, cmd) // the command has it
		calls[0].told(cmd)
		return
	}
	pipe := p.client.Pipeline()
	cmds := make([]*redis.Cmd, len(calls))
	for i, c := range calls {
		cmds[i] = c.command(ctx, texts[c], waits)
		_ = pipe.Process(ctx, cmds[i]) // it only joins the queue
	}
	var wait *redis.IntCmd
	if waits {
		wait = p.wait(ctx, pipe)
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	for i, c := range calls {
		c.told(cmds[i])
	}
	p.check(wait, calls)
}

// wait ends a pipeline with WAIT, which goes by the writes of its own connection.
func (p *primary) wait(ctx context.Context, pipe redis.Pipeliner) *redis.IntCmd {
	wait := redis.NewIntCmd(ctx, "WAIT", p.replicas, (p.timeout / 2).Milliseconds())
	_ = pipe.Process(ctx, wait) // it only joins the queue
	return wait
}

// check takes back answers of writes that too few replicas have.
func (p *primary) check(wait *redis.IntCmd, calls []*call) {
	if wait == nil {
		return
	}
	have, err := wait.Result()
	if err == nil && int(have) >= p.replicas {
		return
	}
	if err == nil {
		err = fmt.Errorf("%d of %d replicas have it", have, p.replicas)
	}
	for _, c := range calls {
		if c.err == nil && c.writes() {
			c.lost, c.err = true, fmt.Errorf("it is on the primary, and may be lost with it: %w", err)
		}
	}
}
