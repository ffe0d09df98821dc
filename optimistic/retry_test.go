package optimistic

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel/internal/fakesql"
)

var conflict = &ConflictError{Seen: 1, Current: 2}

// busy is an error that is about others only.
type busy struct{}

func (busy) Error() string    { return "serialization failure" }
func (busy) SQLState() string { return "40001" }

func TestRetry(t *testing.T) {
	t.Parallel()
	final := errors.New("final")
	for _, c := range []struct {
		name     string
		errs     []error // of the attempts; the last one stays
		attempts int
		want     error
		calls    int
	}{
		{"at once", []error{nil}, 3, nil, 1},
		{"after a conflict", []error{conflict, nil}, 3, nil, 2},
		{"after a failure of serialization", []error{busy{}, conflict, nil}, 3, nil, 3},
		{"never", []error{conflict}, 3, ErrConflict, 3},
		{"once only", []error{conflict}, 1, ErrConflict, 1},
		{"by default ten times", []error{busy{}}, 0, busy{}, 10},
		{"missing", []error{ErrMissing}, 3, ErrMissing, 1},
		{"another error", []error{conflict, final}, 3, final, 2},
		{"no reply", []error{ErrNoReply}, 3, ErrNoReply, 1},
		{"unmatched", []error{&UnmatchedError{}}, 3, nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				err := Retry(t.Context(), &Options{Attempts: c.attempts}, func(context.Context) error {
					calls++
					return c.errs[min(calls, len(c.errs))-1]
				})
				if calls != c.calls || c.want != nil && !errors.Is(err, c.want) || (err == nil) != (c.errs[len(c.errs)-1] == nil) {
					t.Errorf("%d calls, %v; want %d, %v", calls, err, c.calls, c.want)
				}
			})
		})
	}
}

// Pauses grow, are drawn by lot, and have a bound; the clock is the test's.
func TestPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		longest := map[int]time.Duration{}
		distinct := map[time.Duration]bool{}
		for range 200 {
			calls, last := 0, time.Now()
			_ = Retry(t.Context(), &Options{Attempts: 6, Pause: 10 * time.Millisecond, MaxPause: 40 * time.Millisecond}, func(context.Context) error {
				pause := time.Since(last)
				longest[calls] = max(longest[calls], pause)
				distinct[pause] = true
				calls++
				last = time.Now()
				return conflict
			})
		}
		for attempt, bound := range map[int]time.Duration{0: 0, 1: 10, 2: 20, 3: 40, 4: 40, 5: 40} {
			bound *= time.Millisecond
			if got := longest[attempt]; got > bound || got < bound/2 {
				t.Errorf("before attempt %d: up to %v; want up to %v", attempt+1, got, bound)
			}
		}
		if len(distinct) < 100 {
			t.Errorf("%d different pauses of 1000", len(distinct))
		}
	})
}

func TestPauseAfterManyAttempts(t *testing.T) {
	t.Parallel()
	o := (*Options)(nil).withDefaults()
	for _, attempt := range []int{1, 2, 30, 62, 63, 64, 1000} {
		if p := o.pause(attempt); p < 0 || p > o.MaxPause {
			t.Errorf("after attempt %d: %v", attempt, p)
		}
	}
}

func TestTheContextEndsAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("client gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		began := time.Now()
		err := Retry(ctx, &Options{Pause: time.Hour, MaxPause: time.Hour}, func(context.Context) error {
			cancel(cause)
			return conflict
		})
		if !errors.Is(err, cause) || !errors.Is(err, ErrConflict) || time.Since(began) > time.Minute {
			t.Errorf("%v after %v; want both causes, at once", err, time.Since(began))
		}
	})
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]Options{
		"Attempts is negative": {Attempts: -1}, "Pause is negative": {Pause: -1}, "MaxPause is shorter": {Pause: 2, MaxPause: 1},
	} {
		err := Retry(t.Context(), &o, func(context.Context) error { t.Error("called"); return nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want %q", o, err, want)
		}
	}
	long := Options{Pause: time.Hour}
	if o := long.withDefaults(); o.MaxPause != time.Hour || o.validate() != nil {
		t.Errorf("%+v; want a MaxPause that fits", o)
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &reply{update: []fakesql.Reply{affected(0), affected(0), affected(1)}, current: []fakesql.Reply{version(9)}}
		db := r.database().Open()
		defer db.Close()
		reads := 0
		err := Update(t.Context(), db, nil, func(context.Context) (Change, error) { reads++; return change(), nil })
		if err != nil || reads != 3 {
			t.Errorf("%v after %d reads; want success after 3", err, reads)
		}
		no := errors.New("no")
		if err := Update(t.Context(), db, nil, func(context.Context) (Change, error) { return Change{}, no }); !errors.Is(err, no) {
			t.Errorf("%v; want the function's error", err)
		}
		if err := Update(t.Context(), nil, nil, nil); !errors.Is(err, errNothingToDo) {
			t.Errorf("nil: %v", err)
		}
		if err := Retry(t.Context(), nil, nil); !errors.Is(err, errNothingToDo) {
			t.Errorf("nil: %v", err)
		}
	})
}
