package intx

import (
	"context"
	"log/slog"
	"time"

	"github.com/semel-go/semel"
)

// purgeChunk bounds what one caller pays for: a few milliseconds.
const purgeChunk = 100

// purgeSometimes deletes a chunk of expired records if the last purge is long
// enough ago. While more are left the next caller takes a chunk, so that there is no
// goroutine and the purge keeps up with the runs.
func (c *call[X]) purgeSometimes() {
	purger, ok := c.store.(semel.Purger)
	if !ok || c.set.PurgeEvery < 0 {
		return
	}
	last, now := c.lastPurge.Load(), time.Now().UnixNano()
	if now-last < int64(c.set.PurgeEvery) || !c.lastPurge.CompareAndSwap(last, now) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.set.Timeout)
	defer cancel()
	res, err := purger.Purge(ctx, semel.PurgeParams{Limit: purgeChunk})
	if err != nil {
		c.set.Logger.LogAttrs(ctx, slog.LevelWarn, "inbox: purging expired records failed", slog.Any("error", err))
		return
	}
	c.observe(semel.EventPurge, func(ev *semel.Event) { ev.Count, ev.Duration = res.Purged, res.Lag })
	if res.More {
		c.lastPurge.Store(last)
	}
}
