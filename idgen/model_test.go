package idgen_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semeltest"
)

// TestNothingComesTwiceWhateverHappens: three hosts share two worker ids and go through
// random troubles: clocks that jump, stores that are cut off and come back, replies that
// are lost, reservations that arrive late, processes that are killed and those that only
// seem to be. Every id that anybody ever got is new.
func TestNothingComesTwiceWhateverHappens(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				book := trouble(t, seed, func(hosts []*host) {})
				book.mustBeClean(t)
				if len(book.issued) < 100 {
					t.Errorf("only %d ids were issued: the troubles were too great", len(book.issued))
				}
			})
		})
	}
}

// The same with stores that are broken, to see that the test would notice.
func TestTroubleNoticesBrokenStores(t *testing.T) {
	t.Parallel()
	for name, breakIt := range map[string]func(hosts []*host){
		"horizons are forgotten": func(hosts []*host) {
			for _, h := range hosts {
				h.breaks = true
				h.heal()
			}
		},
		"each host has a store of its own, so two hold one worker id": func(hosts []*host) {
			for _, h := range hosts {
				h.store.FaultStore, h.store.inner = ownStore(h.t)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			twice := 0
			for seed := range uint64(3) {
				synctest.Test(t, func(t *testing.T) { twice += trouble(t, seed, breakIt).twice })
			}
			if twice == 0 {
				t.Error("no id came twice; the test does not see what it is for")
			}
		})
	}
}

// trouble returns all ids that were issued under the troubles of a seed.
func trouble(t *testing.T, seed uint64, prepare func([]*host)) *ledger {
	r := rand.New(rand.NewPCG(seed, 1))
	book, store := &ledger{}, newStore(t)
	var hosts []*host
	for _, name := range []string{"a", "b", "c"} {
		hosts = append(hosts, newHost(t, book, store, name, two))
	}
	prepare(hosts)
	for range 300 {
		hosts[r.IntN(len(hosts))].suffer(r, &hosts)
	}
	for _, h := range hosts {
		h.heal()
		if h.node != nil {
			h.bury()
		}
	}
	return book
}

// suffer does one thing to a host.
func (h *host) suffer(r *rand.Rand, hosts *[]*host) {
	switch r.IntN(20) {
	case 0:
		h.step(time.Duration(r.IntN(8000)-4000) * time.Millisecond)
	case 1:
		h.step(time.Duration(r.IntN(200)-100) * time.Millisecond)
	case 2:
		h.mu.Lock()
		h.off = 0 // somebody has set it right
		h.mu.Unlock()
	case 3:
		h.store.cut()
	case 4, 5, 6:
		h.heal()
	case 7:
		h.loseReplies(r)
	case 8:
		if h.node != nil {
			h.bury()
			h.node = nil
		}
	case 9:
		h.split(hosts)
	case 10, 11, 12:
		time.Sleep(time.Duration(r.IntN(3000)) * time.Millisecond)
	default:
		h.work(r.IntN(100))
	}
}

// work issues some ids, if it can.
func (h *host) work(n int) {
	if h.node == nil && h.start() != nil {
		h.node = nil
		return
	}
	for range n {
		if _, err := h.next(); err != nil {
			return
		}
	}
}

// split leaves a process behind that everybody takes for dead, and starts anew in its
// place: it is cut off for good, and goes on issuing what it may.
func (h *host) split(hosts *[]*host) {
	if h.node == nil || len(*hosts) > 8 {
		return
	}
	zombie := newHost(h.t, h.book, h.store.inner, h.name+" (left behind)", two)
	zombie.off, zombie.opts, zombie.node, zombie.last, zombie.store = h.off, h.opts, h.node, h.last, h.store
	zombie.store.cut()
	*hosts = append(*hosts, zombie)
	h.node, h.opts.Now, h.store = nil, h.now, newHost(h.t, h.book, h.store.inner, h.name, two).store
	h.heal()
}

// loseReplies makes checkpoints fail at random: unexecuted, executed without a reply, or
// executed later.
func (h *host) loseReplies(r *rand.Rand) {
	kind, late := r.IntN(3), time.Duration(r.IntN(5000))*time.Millisecond
	h.store.onCheckpoint(func(apply func() error) error {
		switch kind {
		case 0:
			return semel.ErrNoReply
		case 1:
			_ = apply()
			return semel.ErrNoReply
		}
		time.AfterFunc(late, func() { _ = apply() })
		return semel.ErrNoReply
	})
}

func ownStore(t *testing.T) (*semeltest.FaultStore, *memstore.Store) {
	store := newStore(t)
	return semeltest.NewFaultStore(store), store
}
