package semel

import (
	"container/list"
	"sync"
	"time"
)

// cache keeps done records of this process, so that a replay needs no store. Done
// records do not change, so an entry can only be wrong about one thing: that an
// operator deleted the record meanwhile. That is honoured after Options.CacheTTL
// at the latest. Running records are never kept.
type cache struct {
	max int64
	ttl time.Duration

	mu      sync.Mutex
	entries map[KeyID]*list.Element // of *cached
	recent  *list.List              // most recently used first
	bytes   int64
}

// cached is a record and the moment from which on it must be read again.
type cached struct {
	rec   *Record
	until time.Time
	bytes int64
}

// cacheOverhead is what an entry takes beside the bytes of its record, about.
const cacheOverhead = 512

func newCache(max int64, ttl time.Duration) *cache {
	return &cache{max: max, ttl: ttl, entries: make(map[KeyID]*list.Element), recent: list.New()}
}

// get returns the record of key, or nil. It is not to be changed.
func (c *cache) get(key KeyID, now time.Time) *Record {
	if c.max <= 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	el := c.entries[key]
	if el == nil {
		return nil
	}
	if entry := el.Value.(*cached); now.Before(entry.until) {
		c.recent.MoveToFront(el)
		return entry.rec
	}
	c.drop(el)
	return nil
}

// put keeps a done record that was true at a time, for as long as it surely is.
func (c *cache) put(rec *Record, asOf time.Time) {
	size := int64(cacheOverhead + len(rec.Result.Data) + len(rec.Operation) + len(rec.KeyText))
	if size > c.max {
		return
	}
	entry := &cached{rec: rec, until: asOf.Add(min(rec.ExpiresIn, c.ttl)), bytes: size}
	c.mu.Lock()
	defer c.mu.Unlock()
	if el := c.entries[rec.Key]; el != nil {
		c.drop(el)
	}
	c.entries[rec.Key] = c.recent.PushFront(entry)
	for c.bytes += size; c.bytes > c.max; {
		c.drop(c.recent.Back())
	}
}

func (c *cache) drop(el *list.Element) {
	entry := c.recent.Remove(el).(*cached)
	delete(c.entries, entry.rec.Key)
	c.bytes -= entry.bytes
}
