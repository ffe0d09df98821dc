package semelhttp

import "sync"

// scratch is memory that requests use one after the other. Nothing in it is ever
// handed out: a recorded answer is encoded into bytes of its own. What few requests have
// is here as well, so that the others do not pay for it.
type scratch struct {
	identity identity
	body     []byte
	entry    snapshot // the header before the handler
	sent     snapshot // the header as it goes out
	trailer  snapshot
	pairs    []HeaderPair
	encoder  responseEncoder
	token    *heldToken // of the request; nil for none
}

// keepBody is the largest response body whose memory is kept for reuse.
const keepBody = 64 << 10

// release gives the memory back without what requests have put there.
func (s *scratch) release(pool *sync.Pool) {
	s.identity.reset()
	if cap(s.body) > keepBody {
		s.body = nil
	}
	s.entry.reset()
	s.sent.reset()
	s.trailer.reset()
	clear(s.pairs)
	s.pairs = s.pairs[:0]
	s.token = nil
	pool.Put(s)
}
