package memstore

import (
	"sync/atomic"
	"unsafe"

	"github.com/semel-go/semel"
)

// recordBytes is what a record takes beside its result: its slot, its place in
// the index (key, number and control byte at the usual load) and in the queue.
const recordBytes = int64(unsafe.Sizeof(slot{})) + indexBytes + queueBytes

const (
	indexBytes = 36
	queueBytes = 24
)

// size is what r takes in memory.
func (r *record) size() int64 {
	if r.state == semel.StateNone {
		return 0
	}
	return recordBytes + int64(cap(r.data)) + int64(len(r.keyText))
}

// budget counts the bytes of all records.
type budget struct {
	used atomic.Int64
	max  int64
}

// swap accounts for after in place of before. What does not grow always fits; new
// records leave the last sixteenth to the results of runs under way.
func (b *budget) swap(before, after *record) error {
	was := before.size()
	grows := after.size() - was
	limit := b.max
	if was == 0 {
		limit -= b.max / 16
	}
	if b.used.Add(grows) > limit && grows > 0 {
		b.used.Add(-grows)
		return semel.ErrStoreFull
	}
	return nil
}
