package semel

import (
	"context"
	"log/slog"
	"time"
)

const (
	purgeChunk   = 500
	purgeTimeout = 5 * time.Second
)

// purgeSometimes starts a purge of expired records if the last one is long
// enough ago. Claims set it off, so a process at rest does nothing.
func (e *Engine) purgeSometimes() {
	if e.purger == nil || e.opts.PurgeEvery < 0 {
		return
	}
	last, now := e.lastPurge.Load(), e.now().UnixNano()
	if now-last < int64(e.opts.PurgeEvery) || !e.lastPurge.CompareAndSwap(last, now) {
		return
	}
	e.work.spawn(e.purge)
}

// purge deletes expired records chunk by chunk until none is left, an error
// occurs or the engine closes. What is left waits for the next time.
func (e *Engine) purge() {
	for more := true; more && e.closing.Err() == nil; {
		ctx, cancel := context.WithTimeout(e.closing, purgeTimeout)
		sent := e.now()
		res, err := e.purger.Purge(ctx, PurgeParams{Limit: purgeChunk})
		cancel()
		if err = e.called("purge", KeyID{}, sent, err); err != nil {
			e.opts.Logger.LogAttrs(e.ctx, slog.LevelWarn, "semel: purging expired records failed", slog.Any("error", err))
			return
		}
		e.observe(Event{Kind: EventPurge, Count: res.Purged, Duration: res.Lag})
		more = res.More
	}
}
