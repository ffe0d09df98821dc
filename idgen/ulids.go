package idgen

import (
	"crypto/rand"
	"errors"
	"sync"
	"time"
)

// ErrOverflow says that a millisecond has no greater ULID left: 2^80 less what its
// random beginning took. Ask again in the next one.
var ErrOverflow = errors.New("idgen: no greater ULID is left in this millisecond; ask again in the next one")

// ULIDs makes ULIDs that are monotonic, as the specification has it: within a
// millisecond each is the last one plus 1, so whoever has seen one can guess the next.
// The zero value is ready; have one for the process, and do not copy it. All
// methods may be called concurrently.
//
// Each is greater than all before it from the same source, also when the clock goes
// back: the last millisecond goes on then.
type ULIDs struct {
	// Now is the clock. Default time.Now.
	Now func() time.Time

	mu   sync.Mutex
	last ULID
}

// New returns the next ULID. The only error is [ErrOverflow].
func (g *ULIDs) New() (ULID, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := min(nowMillis(g.Now), 1<<48-1)
	if now <= millis(g.last) {
		next := g.last
		if !next.increment() {
			return ULID{}, ErrOverflow
		}
		g.last = next
		return next, nil
	}
	putMillis((*[16]byte)(&g.last), now)
	rand.Read(g.last[6:]) // never fails (documentation of crypto/rand)
	return g.last, nil
}

// increment adds 1 to the random bits; false when they are used up.
func (u *ULID) increment() bool {
	for i := len(u) - 1; i >= 6; i-- {
		if u[i]++; u[i] != 0 {
			return true
		}
	}
	return false
}
