package idgen

import (
	"crypto/rand"
	"sync/atomic"
	"time"
)

// UUIDs makes UUIDs of version 7 (RFC 9562 §5.7): the milliseconds of the clock, a
// counter, and 56 random bits. The zero value is ready; have one for the process,
// and do not copy it. All methods may be called concurrently.
//
// Each is greater than all before it from the same source, byte by byte and as text,
// also when the clock goes back or stands: the counter (method 1 of RFC 9562 §6.2, 18
// bits, begun at a random number below 2^17 in each millisecond) goes on, and when it
// is used up it borrows from the next millisecond. Other processes order with it as
// well as their clocks agree.
type UUIDs struct {
	// Now is the clock. Default time.Now.
	Now func() time.Time

	last atomic.Uint64 // milliseconds and counter of the last one
}

const (
	counterBits = 18
	seedBits    = counterBits - 1 // so that every millisecond has room for 2^17
	maxMillis   = 1<<(64-counterBits) - 1
)

// New returns the next UUID. It never fails.
func (g *UUIDs) New() UUID {
	var u UUID
	rand.Read(u[6:]) // never fails (documentation of crypto/rand)
	seed := (uint64(u[6])<<16 | uint64(u[7])<<8 | uint64(u[8])) & (1<<seedBits - 1)
	moment := g.next(min(nowMillis(g.Now), maxMillis)<<counterBits | seed)
	putMillis((*[16]byte)(&u), moment>>counterBits)
	u[6], u[7], u[8] = byte(moment>>14&0x0f), byte(moment>>6), byte(moment&0x3f)
	u.stamp(7)
	return u
}

// next returns fresh, or what follows the last one if that is not smaller.
func (g *UUIDs) next(fresh uint64) uint64 {
	for {
		last := g.last.Load()
		next := max(fresh, last+1)
		if g.last.CompareAndSwap(last, next) {
			return next
		}
	}
}
