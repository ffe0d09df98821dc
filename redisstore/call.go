package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// call is a command on one key, on its way. Once its caller has gone, only stage may be
// touched.
type call struct {
	key    string
	script *script // nil for the command of a mark
	params []byte
	span   int64 // of a mark, in milliseconds; 0 is for ever

	stage   atomic.Int32
	written int  // how often the client has put it on the wire in this try
	lost    bool // it was put on the wire and not answered, once at least
	reply   any
	err     error
}

// The stages of a call. Its caller and the client race for the first step, so that a call
// whose caller has gone is never sent.
const (
	stageWaiting int32 = iota
	stageWritten
	stageAbandoned
)

var errAbandoned = errors.New("redisstore: the caller has gone")

// MarshalBinary is how the client asks for the parameters when it writes the command,
// and at no other time. So a call knows for certain that it was never sent.
func (c *call) MarshalBinary() ([]byte, error) {
	if !c.stage.CompareAndSwap(stageWaiting, stageWritten) && c.abandoned() {
		return nil, errAbandoned
	}
	c.written++
	return c.params, nil
}

// abandon ends the caller's interest, and reports whether the call is never sent then.
func (c *call) abandon() bool { return c.stage.CompareAndSwap(stageWaiting, stageAbandoned) }

// abandoned reports a call that is never sent, since its caller has gone.
func (c *call) abandoned() bool { return c.stage.Load() == stageAbandoned }

// spoilt reports a call that one of its batch kept from being sent.
func (c *call) spoilt() bool { return errors.Is(c.err, errAbandoned) }

// String hides what the call carries from those who show commands, such as tracers.
func (c *call) String() string { return fmt.Sprintf("(%d bytes)", len(c.params)) }

// command is the call as a command. One with its text teaches the server the script.
func (c *call) command(ctx context.Context, text, confirm bool) *redis.Cmd {
	if c.script == nil {
		if c.span == 0 {
			return redis.NewCmd(ctx, "SET", c.key, c, "NX", "GET")
		}
		return redis.NewCmd(ctx, "SET", c.key, c, "NX", "GET", "PX", c.span)
	}
	args := make([]any, 0, 6)
	if text {
		args = append(args, "EVAL", c.script.text)
	} else {
		args = append(args, "EVALSHA", c.script.sha)
	}
	args = append(args, 1, c.key, c)
	if confirm && c.writes() {
		args = append(args, 1)
	}
	return redis.NewCmd(ctx, args...)
}

// changes reports a call that may change something.
func (c *call) changes() bool { return c.script == nil || c.script.writes }

// writes reports a call that replicas are to have, unlike a mark.
func (c *call) writes() bool { return c.script != nil && c.script.writes }

// told notes what a command got. Who answered may have been asked before, by a client
// that sends again what it got no reply to.
func (c *call) told(cmd *redis.Cmd) {
	c.reply, c.err = cmd.Result()
	if errors.Is(c.err, redis.Nil) {
		c.reply, c.err = nil, nil
	}
	answered := c.err == nil || isReply(c.err)
	if c.written > 1 || c.written == 1 && !answered {
		c.lost = true
	}
	c.written = 0
}

// isReply reports an error that the server has answered with.
func isReply(err error) bool {
	_, ok := errors.AsType[redis.Error](err)
	return ok
}

// alone is a batch of one.
func alone(c *call) []*call { return []*call{c} }
