package semelhttp

import "sync/atomic"

// BodyBudget bounds the memory that request bodies take while they are read and
// handled. It is taken in blocks as bytes arrive, so a client that announces
// much and sends little holds little. One budget may serve several middlewares.
type BodyBudget struct {
	limit int64
	used  atomic.Int64
}

// NewBodyBudget returns a budget of limit bytes.
func NewBodyBudget(limit int64) *BodyBudget { return &BodyBudget{limit: limit} }

// InUse returns the bytes taken at the moment.
func (b *BodyBudget) InUse() int64 { return b.used.Load() }

// take reports whether n more bytes fit, and takes them.
func (b *BodyBudget) take(n int64) bool {
	if b.used.Add(n) <= b.limit {
		return true
	}
	b.used.Add(-n)
	return false
}

func (b *BodyBudget) give(n int64) { b.used.Add(-n) }
