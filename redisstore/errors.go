package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/combiner"
)

// verdict is what the caller of a call that has ended learns of its error.
//
// The server's own errors say that nothing was done: each script writes once, at its end,
// and an error comes before that. A call that was never written was not executed either.
// Everything else is unknown, unless the call only looks.
func (c *call) verdict() error {
	switch {
	case c.err == nil:
		return nil
	case codeOf(c.err) == "WRONGTYPE":
		return fmt.Errorf("redisstore: the key %.100q is no record, since it is no text: %w", c.key, &semel.RecordFormatError{})
	case c.lost && c.changes():
		return noReply(c.err)
	case strings.Contains(c.err.Error(), "OOM "):
		return fmt.Errorf("%w: redis: %w%s", semel.ErrStoreFull, c.err, fix(c.err))
	}
	return unavailable(c.err)
}

func noReply(err error) error { return fmt.Errorf("%w: redis: %w", semel.ErrNoReply, err) }

func unavailable(err error) error {
	return fmt.Errorf("%w: redis: %w%s", semel.ErrStoreUnavailable, err, fix(err))
}

// ended is the error of a context that ended before the call did anything.
func ended(ctx context.Context) error {
	return fmt.Errorf("%w: redis: %w", semel.ErrStoreUnavailable, context.Cause(ctx))
}

// unanswered is the error of a call whose caller did not wait for its end, or that was
// not begun. From now on it is not sent, if it was not sent yet.
func (c *call) unanswered(err error) error {
	if errors.Is(err, combiner.ErrLeft) && !c.abandon() && c.changes() {
		return noReply(err)
	}
	return unavailable(err)
}

// codeOf is the first word of the server's error, such as READONLY.
func codeOf(err error) string {
	if err == nil || !isReply(err) {
		return ""
	}
	code, _, _ := strings.Cut(err.Error(), " ")
	return code
}

// fix says what to do about errors of the set-up.
func fix(err error) string {
	switch text := err.Error(); {
	case strings.Contains(text, "OOM "):
		return " (the server is full and evicts nothing, as it must: raise maxmemory, or keep records for a shorter time)"
	case strings.Contains(text, "READONLY "):
		return " (this server is a replica: connect to the primary, or through Sentinel or as a cluster, which follow it)"
	case strings.Contains(text, "NOPERM "), strings.Contains(text, "user executing the script"):
		return " (the ACL user lacks a right; docs/store-redis.md has the rule to give it)"
	case strings.Contains(text, "NOAUTH "), strings.Contains(text, "WRONGPASS "):
		return " (check username and password of the client)"
	case strings.Contains(text, "MISCONF "):
		return " (the server cannot save its data: look at its log and its disk)"
	case strings.Contains(text, "syntax error"):
		return " (a mark in one command needs Redis 7.0; semel.FirstTime needs 6.2)"
	case strings.Contains(text, "CLUSTERDOWN "):
		return " (a part of the cluster has no primary)"
	}
	return ""
}
