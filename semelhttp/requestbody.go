package semelhttp

import (
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"sync"
)

var (
	errTooLarge   = errors.New("semelhttp: the body is over the limit")
	errOverloaded = errors.New("semelhttp: the body budget is used up")
)

// blocks pools the memory of request bodies.
type blocks struct{ first, next sync.Pool }

func newBlocks() *blocks {
	return &blocks{
		first: sync.Pool{New: func() any { return new([firstBlock]byte) }},
		next:  sync.Pool{New: func() any { return new([block]byte) }},
	}
}

func (p *blocks) get(size int) []byte {
	if size == firstBlock {
		return p.first.Get().(*[firstBlock]byte)[:0]
	}
	return p.next.Get().(*[block]byte)[:0]
}

// put takes a block back; one that was made in one piece goes.
func (p *blocks) put(b []byte) {
	switch cap(b) {
	case firstBlock:
		p.first.Put((*[firstBlock]byte)(b[:firstBlock]))
	case block:
		p.next.Put((*[block]byte)(b[:block]))
	}
}

// requestBody is a body that was read whole. Handlers get it as the request's
// Body. Its blocks go back to the pool when the handler is done; a goroutine that
// the handler left behind then gets an error, not another request's bytes.
type requestBody struct {
	pool  *blocks
	purse purse
	size  int64

	mu     sync.Mutex
	blocks [][]byte // all full but the last
	inline [1][]byte
	at     place
	closed bool
	latest *bodyAgain // of several tries of the handler
	rest   io.Reader  // what follows the blocks of a body that was not read whole; may be nil
}

// fill reads src to its end. It returns errTooLarge, errOverloaded or src's error.
func (b *requestBody) fill(src io.Reader, limit int64) error {
	b.blocks = b.inline[:0]
	for empty := 0; empty < 100; {
		space, err := b.space()
		if err != nil {
			return err
		}
		n, err := src.Read(space)
		last := &b.blocks[len(b.blocks)-1]
		*last = (*last)[:len(*last)+n]
		b.size += int64(n)
		switch {
		case b.size > limit:
			return errTooLarge
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case n == 0:
			empty++
		default:
			empty = 0
		}
	}
	return io.ErrNoProgress
}

// space returns room to read into, in a new block if the last one is full.
func (b *requestBody) space() ([]byte, error) {
	size := firstBlock
	if n := len(b.blocks); n > 0 {
		last := b.blocks[n-1]
		if len(last) < cap(last) {
			return last[len(last):cap(last)], nil
		}
		size = block
	}
	if !b.purse.take(int64(size)) {
		return nil, errOverloaded
	}
	fresh := b.pool.get(size)
	b.blocks = append(b.blocks, fresh)
	return fresh[:size], nil
}

// digest is SHA-256 of the bytes as received.
func (b *requestBody) digest() (sum [sha256.Size]byte) {
	switch len(b.blocks) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return sha256.Sum256(b.blocks[0])
	}
	h := sha256.New()
	for _, blk := range b.blocks {
		h.Write(blk)
	}
	h.Sum(sum[:0])
	return sum
}

// flatten returns the body in one piece, which stays its own. It returns
// errOverloaded while the budget has no room for both.
func (b *requestBody) flatten() ([]byte, error) {
	switch len(b.blocks) {
	case 0:
		return nil, nil
	case 1:
		return b.blocks[0], nil
	}
	if !b.purse.take(b.size) {
		return nil, errOverloaded
	}
	whole := make([]byte, 0, b.size)
	for _, blk := range b.blocks {
		whole = append(whole, blk...)
	}
	b.giveBlocks()
	b.inline[0] = whole
	b.blocks = b.inline[:1]
	return whole, nil
}

// touched reports whether anything of the body was read from the client.
func (b *requestBody) touched() bool { return len(b.blocks) > 0 || b.rest != nil }

// Read is [io.Reader].
func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.read(p)
	if err != io.EOF || b.rest == nil {
		return n, err
	}
	return b.rest.Read(p) // without the lock: it may wait for the client
}

func (b *requestBody) read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	return b.at.read(b.blocks, p)
}

// place is where a reader of blocks is.
type place struct{ block, offset int }

func (at *place) read(blocks [][]byte, p []byte) (int, error) {
	for at.block < len(blocks) && at.offset == len(blocks[at.block]) {
		at.block, at.offset = at.block+1, 0
	}
	if at.block == len(blocks) {
		return 0, io.EOF
	}
	n := copy(p, blocks[at.block][at.offset:])
	at.offset += n
	return n, nil
}

// Close makes further reads fail.
func (b *requestBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return nil
}

// again is the body for another try of the handler. What the try before has left behind
// reads nothing any more, so that it takes nothing from this one.
func (b *requestBody) again() io.ReadCloser {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.latest = &bodyAgain{whole: b}
	return b.latest
}

// bodyAgain reads a body from its start, until the next one does or it is closed.
type bodyAgain struct {
	whole *requestBody // whose lock guards the place, too
	at    place
}

// Read is [io.Reader].
func (a *bodyAgain) Read(p []byte) (int, error) {
	a.whole.mu.Lock()
	defer a.whole.mu.Unlock()
	if a.whole.latest != a {
		return 0, http.ErrBodyReadAfterClose
	}
	return a.at.read(a.whole.blocks, p)
}

// Close makes further reads fail.
func (a *bodyAgain) Close() error {
	a.whole.mu.Lock()
	defer a.whole.mu.Unlock()
	if a.whole.latest == a {
		a.whole.latest = nil
	}
	return nil
}

// rewind makes the body readable from its start again.
func (b *requestBody) rewind() { b.at = place{} }

// release closes the body and gives its memory back.
func (b *requestBody) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.latest = true, nil
	b.giveBlocks()
}

func (b *requestBody) giveBlocks() {
	for _, blk := range b.blocks {
		b.purse.give(int64(cap(blk)))
		b.pool.put(blk)
	}
	b.blocks = nil
}
