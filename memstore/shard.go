package memstore

import (
	"sync"

	"github.com/semel-go/semel"
)

const (
	shardCount = 64 // by the top bits of the key id: shards are in the order of ids
	pageSlots  = 64
)

// shard keeps the records of one range of key ids. Records lie in pages and are
// found by number: the index and the queue hold no pointers, so that a million
// records are a few thousand objects to the garbage collector, and their results.
type shard struct {
	mu      sync.Mutex
	index   map[semel.KeyID]uint32
	pages   []*[pageSlots]slot
	free    []uint32
	due     dueQueue
	waiters map[semel.KeyID]*waiter
	// floor is the highest fence of all records that were deleted here: a key that
	// comes back starts above it, even if the clock stood still.
	floor semel.Fence
}

// slot is a place for a record. queued is the time of its entry in the queue that
// counts; others are left over and are dropped when they come up.
type slot struct {
	record
	queued instant
}

func (sh *shard) slot(n uint32) *slot { return &sh.pages[n/pageSlots][n%pageSlots] }

// load returns the record of key, and its slot if there is one.
func (sh *shard) load(key semel.KeyID) (record, *slot) {
	n, ok := sh.index[key]
	if !ok {
		return record{fence: sh.floor}, nil
	}
	sl := sh.slot(n)
	return sl.record, sl
}

// save writes r, the successor of what load returned, and tells its waiters.
func (sh *shard) save(key semel.KeyID, sl *slot, r record) {
	switch {
	case r.state == semel.StateNone:
		if sl != nil {
			sh.remove(key)
		}
		return
	case sl == nil:
		n := sh.take()
		sh.index[key] = n
		sl = sh.slot(n)
		sl.queued = never
	}
	if sl.state != r.state || sl.fence != r.fence {
		sh.wake(key)
	}
	sl.record = r
	sh.queue(sl)
}

// queue sees to it that the record comes up when it may be deleted, or before. A
// record that is due later than its entry stays where it is, so that a busy key
// has one entry and not one for each of its runs.
func (sh *shard) queue(sl *slot) {
	if at := sl.deletableAt(); at < sl.queued {
		sl.queued = at
		sh.due.push(due{at: at, slot: sh.index[sl.key]})
	}
}

// take returns the number of an empty slot.
func (sh *shard) take() uint32 {
	if len(sh.free) == 0 {
		first := uint32(len(sh.pages) * pageSlots)
		sh.pages = append(sh.pages, new([pageSlots]slot))
		for n := range uint32(pageSlots) {
			sh.free = append(sh.free, first+pageSlots-1-n)
		}
	}
	n := sh.free[len(sh.free)-1]
	sh.free = sh.free[:len(sh.free)-1]
	return n
}

// remove deletes the record of key, which is there.
func (sh *shard) remove(key semel.KeyID) {
	n := sh.index[key]
	sl := sh.slot(n)
	sh.floor = max(sh.floor, sl.fence)
	*sl = slot{queued: never}
	delete(sh.index, key)
	sh.free = append(sh.free, n)
	sh.wake(key)
}

// deletable returns the record that has been due the longest, if one is due.
func (sh *shard) deletable(now instant) (*slot, bool) {
	for len(sh.due) > 0 && sh.due[0].at <= now {
		sl := sh.slot(sh.due[0].slot)
		if sl.queued == sh.due[0].at && sl.deletableAt() <= now {
			return sl, true
		}
		if d := sh.due.pop(); sl.queued == d.at {
			sl.queued = never
			sh.queue(sl)
		}
	}
	return nil, false
}
