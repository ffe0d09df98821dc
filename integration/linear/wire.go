package linear

import (
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/semel-go/semel"
)

// wire is the way between callers and the store. Of the calls that get no reply, one
// third never arrives, one third is executed at once, and one third is executed while
// its caller has long gone on, as by a server that does not notice that a client left.
type wire struct {
	loss float64 // share of calls without a reply

	mu   sync.Mutex
	late []func()
	busy sync.WaitGroup

	// claims are under way while it is read-locked. No lease of an hour runs out while
	// its claim is executed; a store may then claim again, and the claim has two effects.
	claims sync.RWMutex
}

// send passes a call on. The reply is [semel.ErrNoReply] if it, or the call, is lost.
func (w *wire) send(rng *rand.Rand, do func() (reply, error)) (reply, error) {
	w.deliverLate(rng)
	hop(rng)
	if rng.Float64() >= w.loss {
		r, err := do()
		hop(rng)
		return r, err
	}
	switch rng.IntN(3) {
	case 0:
		_, _ = do()
	case 1:
		w.mu.Lock()
		w.late = append(w.late, func() { _, _ = do() })
		w.mu.Unlock()
	}
	hop(rng)
	return reply{}, semel.ErrNoReply
}

// hop lets others run, so that calls overlap also on a store that needs no time.
func hop(rng *rand.Rand) {
	for range rng.IntN(6) {
		runtime.Gosched()
	}
}

// deliverLate executes a late call now and then, beside the others.
func (w *wire) deliverLate(rng *rand.Rand) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.late) == 0 || rng.IntN(4) != 0 {
		return
	}
	i := rng.IntN(len(w.late))
	w.busy.Go(w.late[i])
	w.late = append(w.late[:i], w.late[i+1:]...)
}

// drain executes what is still under way, and waits for it.
func (w *wire) drain() {
	w.mu.Lock()
	for _, do := range w.late {
		w.busy.Go(do)
	}
	w.late = nil
	w.mu.Unlock()
	w.busy.Wait()
}
