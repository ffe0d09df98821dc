package semelhttp

import (
	"hash/maphash"
	"sync"

	"github.com/semel-go/semel"
)

// BodyBudget bounds the memory that request bodies take while they are read and
// handled. It is taken in blocks as bytes arrive, so a client that announces
// much and sends little holds little. One budget may serve several middlewares.
//
// A principal gets a quarter of it at most, but as much as one body needs, so that
// no caller's uploads are at the expense of all others; [Global] gets all of it.
// The last sixteenth is for small bodies of principals that hold little.
type BodyBudget struct {
	limit int64
	seed  maphash.Seed

	mu   sync.Mutex
	used int64
	held map[uint64]int64 // by principal, of those that hold something
}

// NewBodyBudget returns a budget of limit bytes.
func NewBodyBudget(limit int64) *BodyBudget {
	return &BodyBudget{limit: limit, seed: maphash.MakeSeed(), held: make(map[uint64]int64)}
}

// InUse returns the bytes taken at the moment.
func (b *BodyBudget) InUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// shares are what the bodies of one middleware may take of its budget.
type shares struct {
	budget *BodyBudget
	each   int64 // the most that one principal may hold
	common int64 // what is taken up to here may be a block of any size
}

func newShares(o *Options) shares {
	limit := o.BodyBudget.limit
	return shares{o.BodyBudget, max(limit/4, o.oneBody()), max(limit-limit/16, o.oneBody())}
}

// holdsLittle is what a principal may hold to get a first block of the reserve.
const holdsLittle = block

// purse is what takes from a budget for a principal.
type purse struct {
	shares
	owner uint64
}

func (s shares) purseOf(principal string) purse {
	if principal == semel.Global { // all callers
		s.each = s.budget.limit
	}
	return purse{s, maphash.String(s.budget.seed, principal)}
}

// take reports whether n more bytes fit, and takes them.
func (p *purse) take(n int64) bool {
	b := p.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	held, limit := b.held[p.owner], p.common
	if n <= firstBlock && held < holdsLittle {
		limit = b.limit
	}
	if held+n > p.each || b.used+n > limit {
		return false
	}
	b.used += n
	b.held[p.owner] = held + n
	return true
}

func (p *purse) give(n int64) {
	b := p.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	if b.held[p.owner] -= n; b.held[p.owner] == 0 {
		delete(b.held, p.owner)
	}
}
