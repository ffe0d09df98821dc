package semelhttp

import (
	"strconv"
	"testing"
	"time"
)

// Memory has a bound, and a principal that stays active is not forgotten.
func TestQuotasForget(t *testing.T) {
	t.Parallel()
	q := newQuotas(&Quota{NewKeysPerMinute: 1, Records: 1000}, nil)
	q.capacity = 8
	if _, _, ok := q.take("active", time.Hour); !ok {
		t.Fatal("refused the first")
	}
	for i := range 10 * q.capacity {
		q.take(strconv.Itoa(i), time.Hour)
		if _, _, ok := q.take("active", time.Hour); ok {
			t.Fatalf("forgot an active principal at %d", i)
		}
	}
	if n := len(q.young) + len(q.old); n > 2*q.capacity {
		t.Errorf("%d principals are remembered", n)
	}
	if _, _, ok := q.take("0", time.Hour); !ok {
		t.Error("an idle principal is remembered")
	}
}

// However many records there are, their count takes the memory of some steps.
func TestExpiringIsSmall(t *testing.T) {
	t.Parallel()
	var e expiring
	now := time.Unix(1_750_000_000, 0)
	for i := range 100_000 {
		e.add(now, time.Hour)
		if i%10 == 0 {
			now = now.Add(time.Second)
			e.count(now)
		}
	}
	if n := len(e.steps); n > stepsPerRetention+2 {
		t.Errorf("%d steps", n)
	}
	// 10 records a second for an hour, and at most a sixteenth more.
	if n := e.count(now); n < 36_000 || n > 36_000+36_000/stepsPerRetention+10 {
		t.Errorf("%d records are counted", n)
	}
}
