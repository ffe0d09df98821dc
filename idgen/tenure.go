package idgen

import (
	"sync/atomic"

	"github.com/semel-go/semel"
)

// A tenure is a worker id while it is held: its claim, the last id that was issued
// under it, and up to when ids are reserved. Ticks are milliseconds since the layout's
// epoch.
type tenure struct {
	worker int
	run    *semel.Run
	quiet  func() bool // ends the watch on the run's lease

	// Copies from the layout, for take.
	workerBits, sequenceBits uint
	lastTick                 int64

	// last is the number of the last id: its tick and sequence, without the worker. The
	// bit shut says that the tenure is over, so that no compare-and-swap succeeds any more.
	last atomic.Int64
	// until is the last tick that the store has acknowledged as reserved.
	until atomic.Int64

	unsure bool // a reservation got no reply; the keeper's
}

func newTenure(l Layout, worker int, run *semel.Run) *tenure {
	return &tenure{worker: worker, run: run, workerBits: uint(l.WorkerBits), sequenceBits: uint(l.SequenceBits), lastTick: l.lastTick()}
}

// shut is a bit that no number has: at least one of 63 is the worker's.
const shut = 1 << 62

// maxLead is by how many milliseconds ids may be ahead of the clock: a burst borrows
// from them, and a clock that is set back by less is not even noticed.
const maxLead = 10

// verdict is what became of a try to issue an id.
type verdict uint8

const (
	issued verdict = iota
	early          // the clock has to catch up first
	beyond         // the tick is not reserved yet
	spent          // the layout ends
	over           // the tenure is over
)

// take issues the next id at now, and says by how many ticks it is ahead of that.
//
// The number of an id is greater than the last one by the compare-and-swap, its
// tick is reserved by until, and the two never both belong to another tenure of the
// same worker id: see [Node].
func (t *tenure) take(now int64) (id Snowflake, lead int64, v verdict) {
	for {
		last := t.last.Load()
		if last&shut != 0 {
			return 0, 0, over
		}
		next := max(now<<t.sequenceBits, last+1) // a full millisecond carries over into the next one
		tick := next >> t.sequenceBits
		switch lead = tick - now; {
		case lead > maxLead:
			return 0, lead, early
		case tick > t.lastTick:
			return 0, lead, spent
		case tick > t.until.Load():
			return 0, lead, beyond
		case t.last.CompareAndSwap(last, next):
			return t.compose(next), lead, issued
		}
	}
}

// compose puts the worker id between the tick and the sequence of a number.
func (t *tenure) compose(number int64) Snowflake {
	tick, sequence := number>>t.sequenceBits, number&(1<<t.sequenceBits-1)
	return Snowflake((tick<<t.workerBits|int64(t.worker))<<t.sequenceBits | sequence)
}

// skip makes all ticks up to floor count as used. A tenure that is over stays so.
func (t *tenure) skip(floor int64) {
	number := (floor+1)<<t.sequenceBits - 1
	for last := t.last.Load(); last < number && !t.last.CompareAndSwap(last, number); {
		last = t.last.Load()
	}
}

// tick is the one of the last id.
func (t *tenure) tick() int64 { return t.last.Load() &^ shut >> t.sequenceBits }

// end stops the issuing at once. It may be called again.
func (t *tenure) end() { t.last.Or(shut) }

func (t *tenure) ended() bool { return t.last.Load()&shut != 0 }
