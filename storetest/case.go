package storetest

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/semel-go/semel"
)

// caseTimeout bounds a case, so that a store that hangs is found out.
const caseTimeout = 2 * time.Minute

// maxMessages is how many messages of one case are kept.
const maxMessages = 10

// T is one case under way: the store under test and what was found wrong with it.
type T struct {
	ctx     context.Context
	seed    uint64
	subject *Subject
	store   semel.Store // the subject's, seen by the witness

	mu       sync.Mutex
	messages []string
	keys     uint64
}

// run runs the case on a fresh store.
func (c Case) run(ctx context.Context, h Harness) (applies bool, f *Failure) {
	ctx, cancel := context.WithTimeout(ctx, caseTimeout)
	defer cancel()
	t := &T{ctx: ctx, seed: max(h.Seed, 1)}
	ended := make(chan struct{})
	go func() { // fatalf ends it
		defer close(ended)
		applies = t.run(h, c)
	}()
	<-ended
	if len(t.messages) == 0 {
		return applies, nil
	}
	return true, &Failure{Case: c.Name, Why: c.Why, Messages: t.messages}
}

func (t *T) run(h Harness, c Case) (applies bool) {
	if h.New == nil {
		t.fatalf("Harness.New is nil; it has to return a fresh, empty store")
	}
	subject, err := h.New(t.ctx)
	switch {
	case err != nil:
		t.fatalf("Harness.New: %v", err)
	case subject == nil || subject.Store == nil || subject.Advance == nil:
		t.fatalf("Harness.New returned no Store or no Advance; both are required")
	}
	if subject.Close != nil {
		defer func() { t.noError("Subject.Close", subject.Close()) }()
	}
	t.subject = subject
	if !subject.has(c.needs) {
		return false
	}
	w := newWitness(subject.Store)
	t.store = w
	defer w.report(t)
	c.check(t)
	return true
}

func (s *Subject) has(n need) (ok bool) {
	switch n {
	case needsReopen:
		return s.Reopen != nil
	case needsSkewed:
		return s.Skewed != nil
	case needsFormat:
		return s.SetFormat != nil
	case needsPurger:
		_, ok = s.Store.(semel.Purger)
	case needsLister:
		_, ok = s.Store.(semel.Lister)
	case needsWaiter:
		_, ok = s.Store.(semel.ChangeWaiter)
	case needsCheckpoint:
		_, ok = s.Store.(semel.Checkpointer)
	default:
		return true
	}
	return ok
}

// errorf notes something wrong; it may be called from any goroutine.
func (t *T) errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.messages) < maxMessages {
		t.messages = append(t.messages, fmt.Sprintf(format, args...))
	}
}

// fatalf is errorf and ends the case; only for the case's own goroutine.
func (t *T) fatalf(format string, args ...any) {
	t.errorf(format, args...)
	runtime.Goexit()
}

func (t *T) noError(what string, err error) {
	if err != nil {
		t.errorf("%s: %v", what, err)
	}
}

// key returns a key that the case has not used yet, spread as hashed keys are.
func (t *T) key() semel.KeyID {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keys++
	var id semel.KeyID
	binary.BigEndian.PutUint64(id[:8], t.keys*0x9E3779B97F4A7C15)
	binary.BigEndian.PutUint64(id[8:], t.keys)
	return id
}

// advance moves the store's clock.
func (t *T) advance(d time.Duration) {
	if err := t.subject.Advance(t.ctx, d); err != nil {
		t.fatalf("Subject.Advance: %v", err)
	}
}
