package semelhttp

import (
	"time"

	"github.com/semel-go/semel"
)

// expiring counts records by when they expire, in steps of a sixteenth of their
// retention, so that its size does not depend on their number.
type expiring struct{ steps []step }

// step counts the records that expire until a time.
type step struct {
	until   time.Time // zero: never
	records int
}

// stepsPerRetention is how exactly expiry is known.
const stepsPerRetention = 16

// stepOf is the end of the step in which a record expires that is claimed now.
func stepOf(now time.Time, kept time.Duration) time.Time {
	if kept >= semel.Forever {
		return time.Time{}
	}
	width := max(kept/stepsPerRetention, 1)
	end := now.Add(kept)
	return end.Truncate(width).Add(width)
}

// add counts a record and returns the end of its step.
func (e *expiring) add(now time.Time, kept time.Duration) time.Time {
	until := stepOf(now, kept)
	if s := e.find(until); s != nil {
		s.records++
	} else {
		e.steps = append(e.steps, step{until, 1})
	}
	return until
}

// remove uncounts a record by the end of its step.
func (e *expiring) remove(until time.Time) {
	if s := e.find(until); s != nil && s.records > 0 {
		s.records--
	}
}

func (e *expiring) find(until time.Time) *step {
	for i := range e.steps {
		if e.steps[i].until.Equal(until) {
			return &e.steps[i]
		}
	}
	return nil
}

// count forgets what has expired and returns how many records are left.
func (e *expiring) count(now time.Time) int {
	left, n := e.steps[:0], 0
	for _, s := range e.steps {
		if s.records > 0 && (s.until.IsZero() || s.until.After(now)) {
			left = append(left, s)
			n += s.records
		}
	}
	e.steps = left
	return n
}

// next is the time until a record expires; a day if none does within one.
func (e *expiring) next(now time.Time) time.Duration {
	wait := 24 * time.Hour
	for _, s := range e.steps {
		if !s.until.IsZero() {
			wait = min(wait, s.until.Sub(now))
		}
	}
	return wait
}
