package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/backends"
	"github.com/semel-go/semel/integration/internal/soak"
)

const (
	stormCallers    = 12
	stormDuplicates = 3  // of each operation, at once
	stormAccidents  = 25 // at least
	stormStatements = 24 // up to which one meets the next accident: most go well, or nobody gets anywhere
)

// Accidents happen at random, one after the other, to callers who ask until they have an
// answer, several for each operation. Each operation has run once, and all its callers
// have the same answer.
func TestStorm(t *testing.T) {
	t.Parallel()
	for _, b := range append(backends.Servers(), backends.Redis()) {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			s := &storm{line: newLine(t, b), quit: make(chan struct{})}
			s.engine = newEngine(t, s.through.Store)
			var all sync.WaitGroup
			for range stormCallers {
				all.Go(s.callers)
			}
			accidents := s.weather()
			close(s.quit)
			all.Wait()
			if err := s.engine.Close(context.Background()); err != nil {
				t.Error(err)
			}
			fmt.Printf("figures: storm: %s: %d accidents, %d operations of %d callers each: one run of each\n", b.Name, accidents, s.operations.Load(), stormDuplicates)
		})
	}
}

// storm is callers on a connection to which accidents happen.
type storm struct {
	*line
	engine     *semel.Engine
	quit       chan struct{}
	operations atomic.Int64
}

// callers have one operation after the other, each with its duplicates.
func (s *storm) callers() {
	for {
		select {
		case <-s.quit:
			return
		default:
			s.operation()
		}
	}
}

func (s *storm) operation() {
	o := newOperation(s.line, s.engine)
	answers := make([]string, stormDuplicates)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = o.untilAnswered(s.Context()) })
	}
	all.Wait()
	for _, a := range answers {
		if a != "run 1" {
			s.Errorf("%d runs, answered %q", o.runs.Load(), answers)
			return
		}
	}
	s.operations.Add(1)
}

// weather lets accidents happen to statements of whoever is next. What hangs is let go
// after the one that follows.
func (s *storm) weather() (n int) {
	rng := rand.New(rand.NewPCG(1, 2))
	clear := func() {}
	for began := time.Now(); n < stormAccidents || time.Since(began) < soak.Duration(s.T); n++ {
		a := accidents()[rng.IntN(len(accidents()))]
		until := make(chan struct{})
		armed := s.proxy.Arm(number(1+rng.IntN(stormStatements)), a.fault(until))
		select {
		case <-armed.Fired():
		case <-time.After(time.Second): // its connection ended first, or nobody has got so far
			s.proxy.Disarm(armed)
		}
		clear()
		clear = func() {
			close(until)
			if a.lingers {
				s.proxy.Cut()
			}
		}
	}
	clear()
	return n
}
