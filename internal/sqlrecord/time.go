package sqlrecord

import (
	"math"
	"time"

	"github.com/semel-go/semel"
)

// Never is the expiry of records that are kept forever.
const Never int64 = math.MaxInt64

// Left is the time from now to at; Forever for never.
func Left(at, now int64) time.Duration {
	if at == Never {
		return semel.Forever
	}
	return time.Duration(at-now) * time.Microsecond
}

// After is now + d, rounded up, since retention is a minimum; never for Forever.
func After(now int64, d time.Duration) int64 {
	if d == semel.Forever {
		return Never
	}
	us := now + int64(d/time.Microsecond)
	if d%time.Microsecond > 0 {
		us++
	}
	return us
}

func timeOf(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// Half is half of a retention in microseconds, rounded up: a finish moves the
// expiry if less than that remains.
func Half(d time.Duration) int64 {
	us := After(0, d)
	return us/2 + us%2
}
