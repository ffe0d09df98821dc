package semeltest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/semel-go/semel"
)

// Method names a method of [semel.Store].
type Method string

// The methods that can be bent.
const (
	Claim   Method = "claim"
	Renew   Method = "renew"
	Finish  Method = "finish"
	Read    Method = "read"
	Resolve Method = "resolve"
)

// Fault is what happens to a call. Its fields combine: the call is delayed, then
// applied as often as it says, then answered with Err, if it is set.
type Fault struct {
	Delay time.Duration // before the call; it ends early, unapplied, when the caller's context does
	Skip  bool          // the call is not applied
	Twice bool          // it is applied twice, as a client library's hidden re-send would do
	Err   error         // the answer, whatever the store said
}

// Fail is a call that was not applied and fails with err.
func Fail(err error) Fault { return Fault{Skip: true, Err: err} }

// ApplyThenFail is a call that was applied and whose reply is lost.
func ApplyThenFail(err error) Fault { return Fault{Err: err} }

// Delay is a call that is late by d.
func Delay(d time.Duration) Fault { return Fault{Delay: d} }

// Duplicate is a call that arrives twice.
func Duplicate() Fault { return Fault{Twice: true} }

// Call is one call as [FaultStore] recorded it.
type Call struct {
	Method Method
	Params any   // semel.ClaimParams, semel.RenewParams, …
	Result any   // what the caller was answered
	Err    error // what the caller was answered
	Fault  *Fault
}

// FaultStore is a [semel.Store] before another one: it does to calls what a test
// planned, and records all of them. It has none of the optional capabilities, so
// an engine on it polls and does not purge. All methods may be called concurrently.
type FaultStore struct {
	inner semel.Store

	mu     sync.Mutex
	next   map[Method][]Fault
	always map[Method]Fault
	calls  []Call
}

var _ semel.Store = (*FaultStore)(nil)

// NewFaultStore returns a store that passes every call on to inner until a fault
// is planned.
func NewFaultStore(inner semel.Store) *FaultStore {
	return &FaultStore{inner: inner, next: make(map[Method][]Fault), always: make(map[Method]Fault)}
}

// Next plans what happens to the next calls of m, one fault each, after those that
// are planned already.
func (s *FaultStore) Next(m Method, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next[m] = append(s.next[m], faults...)
}

// Always plans what happens to every call of m for which nothing else is planned.
func (s *FaultStore) Always(m Method, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always[m] = f
}

// Heal forgets all plans.
func (s *FaultStore) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.next)
	clear(s.always)
}

// Calls returns the recorded calls of the given methods, or all, in the order in
// which they were answered.
func (s *FaultStore) Calls(methods ...Method) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := slices.Clone(s.calls)
	if len(methods) == 0 {
		return calls
	}
	return slices.DeleteFunc(calls, func(c Call) bool { return !slices.Contains(methods, c.Method) })
}

// Claim is [semel.Store.Claim].
func (s *FaultStore) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	return bend(ctx, s, Claim, p, s.inner.Claim)
}

// Renew is [semel.Store.Renew].
func (s *FaultStore) Renew(ctx context.Context, p semel.RenewParams) (semel.RenewResult, error) {
	return bend(ctx, s, Renew, p, s.inner.Renew)
}

// Finish is [semel.Store.Finish].
func (s *FaultStore) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	return bend(ctx, s, Finish, p, s.inner.Finish)
}

// Read is [semel.Store.Read].
func (s *FaultStore) Read(ctx context.Context, p semel.ReadParams) (semel.Record, error) {
	return bend(ctx, s, Read, p, s.inner.Read)
}

// Resolve is [semel.Store.Resolve].
func (s *FaultStore) Resolve(ctx context.Context, p semel.ResolveParams) (semel.ResolveResult, error) {
	return bend(ctx, s, Resolve, p, s.inner.Resolve)
}

// Guarantees is the inner store's.
func (s *FaultStore) Guarantees(ctx context.Context, p semel.GuaranteesParams) (semel.Guarantees, error) {
	return s.inner.Guarantees(ctx, p)
}

// bend runs one call under its fault and records it.
func bend[P, R any](ctx context.Context, s *FaultStore, m Method, p P, call func(context.Context, P) (R, error)) (res R, err error) {
	f := s.take(m)
	if f == nil {
		res, err = call(ctx, p)
	} else {
		res, err = apply(ctx, f, p, call)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, Call{Method: m, Params: p, Result: res, Err: err, Fault: f})
	return res, err
}

// take returns the fault of the next call of m, or nil.
func (s *FaultStore) take(m Method) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if planned := s.next[m]; len(planned) > 0 {
		s.next[m] = planned[1:]
		return &planned[0]
	}
	if f, ok := s.always[m]; ok {
		return &f
	}
	return nil
}

func apply[P, R any](ctx context.Context, f *Fault, p P, call func(context.Context, P) (R, error)) (res R, err error) {
	if f.Delay > 0 {
		t := time.NewTimer(f.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return res, ctx.Err()
		}
	}
	if !f.Skip {
		res, err = call(ctx, p)
	}
	if f.Twice {
		res, err = call(ctx, p)
	}
	if f.Err != nil {
		var none R
		return none, f.Err
	}
	return res, err
}
