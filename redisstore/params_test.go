package redisstore

import (
	"math"
	"testing"
	"time"

	"github.com/semel-go/semel"
)

// Retention is a minimum, and the numbers of a script are exact: what it adds to the
// clock stays below 2⁵³.
func TestSpans(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]int64{
		-1: 1, 0: 1, 1: 1, time.Microsecond: 1, time.Microsecond + 1: 2, time.Second: 1e6,
		longest: longest.Microseconds(), longest + 1: 0, semel.Forever: 0, math.MaxInt64 - 1: 0,
	} {
		if got := microseconds(d); got != want {
			t.Errorf("%v is %d µs; want %d", d, got, want)
		}
	}
	if latest := time.Now().Add(longest).UnixMicro(); latest >= 1<<53 {
		t.Errorf("%d is not exact in a script", latest)
	}
}

// The scripts unpack what is packed here: struct.unpack('<BBBI4i8i8c16c33') and the
// labels, as docs/stores-protocol.md has them.
func TestClaimParams(t *testing.T) {
	t.Parallel()
	p := semel.ClaimParams{
		Policy: semel.AtMostOnce, Mark: true, MaxAttempts: 3, Lease: time.Microsecond, Retention: semel.Forever,
		Token: semel.Token{0: 't'}, Fingerprint: semel.Fingerprint{0: 'f'}, ScopeID: semel.ScopeID{0: 's'}, Operation: "op", KeyText: "key",
	}
	got := claimParams(&p)
	head := "\x02\x01\x00" + "\x03\x00\x00\x00" + "\x01\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00"
	if len(got) != 72+labelsSize(&p) || string(got[:len(head)]) != head || got[23] != 't' || got[39] != 'f' {
		t.Errorf("the head of %q; want %q, token and fingerprint", got, head)
	}
	if labels := string(got[72:]); labels != "s\x00\x00\x00\x00\x00\x00\x00\x02\x00opkey" {
		t.Errorf("the labels are %q", labels)
	}
	if p.MaxAttempts = math.MaxInt; string(claimParams(&p)[3:7]) == "\x00\x00\x00\x00" {
		t.Error("the largest number of attempts is no limit")
	}
	if p.MaxAttempts = math.MaxInt/2 + 1; string(claimParams(&p)[3:7]) == "\x00\x00\x00\x00" { // its last bits are zeros
		t.Error("a huge number of attempts is no limit")
	}
	p.Lease = math.MaxInt64
	if claimParams(&p); microseconds(min(p.Lease, longest)) == 0 {
		t.Error("an endless lease is over at once")
	}
}
