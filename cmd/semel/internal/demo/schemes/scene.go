package schemes

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Tone says how a step bears on what the scheme is about.
type Tone string

// The tones of steps.
const (
	Plain Tone = "plain"
	Good  Tone = "good"
	Bad   Tone = "bad"
	Again Tone = "replay" // answered, and nothing done a second time
)

// Step is one thing that happened.
type Step struct {
	At   time.Time
	Who  string // names the actor
	What string // names a sentence about the scheme
	Tone Tone
	With map[string]string // what {name} in the sentence stands for
}

// scene is one run of a way under way.
type scene struct {
	*stage
	note func(Step)
}

// say tells that something has happened, and lets the audience read it. With holds
// names and values.
func (s *scene) say(ctx context.Context, who, what string, tone Tone, with ...any) {
	step := Step{At: time.Now(), Who: who, What: what, Tone: tone, With: map[string]string{}}
	for i := 0; i < len(with); i += 2 {
		step.With[fmt.Sprint(with[i])] = fmt.Sprint(with[i+1])
	}
	s.note(step)
	pause(ctx, s.pace)
}

// count is the number that a query of the tables answers with.
func (s *scene) count(ctx context.Context, query string, args ...any) (n int, err error) {
	err = s.db.QueryRowContext(ctx, query, args...).Scan(&n)
	return n, err
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// atOnce lets each actor act in a goroutine of its own. The first error ends the
// context of the others, and is returned.
func atOnce(ctx context.Context, actors []string, act func(ctx context.Context, who string) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for _, who := range actors {
		all.Go(func() {
			if err := act(ctx, who); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// meeting returns a function that waits until n callers have come.
func meeting(n int) func(ctx context.Context) error {
	var mu sync.Mutex
	complete := make(chan struct{})
	return func(ctx context.Context) error {
		mu.Lock()
		if n--; n == 0 {
			close(complete)
		}
		mu.Unlock()
		select {
		case <-complete:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// onlyFirst returns a function that answers Good once, and Bad from then on.
func onlyFirst() func() Tone {
	var asked atomic.Int32
	return func() Tone {
		if asked.Add(1) == 1 {
			return Good
		}
		return Bad
	}
}

// newName is a name that no other run has.
func newName(prefix string) string { return prefix + rand.Text()[:6] }
