package idgen

import (
	"bytes"
	"errors"
	"testing"
	"time"
)

// A millisecond without a greater ULID is an error, never a smaller one; the next one
// has some again.
func TestULIDOverflow(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	ulids := ULIDs{Now: func() time.Time { return now }}
	u, err := ulids.New()
	if err != nil {
		t.Fatal(err)
	}
	copy(ulids.last[6:], bytes.Repeat([]byte{0xff}, 9))
	ulids.last[15] = 0xfe
	if u, err = ulids.New(); err != nil || !bytes.Equal(u[6:], bytes.Repeat([]byte{0xff}, 10)) {
		t.Fatalf("%x, %v", u, err)
	}
	for range 2 {
		if u, err := ulids.New(); !errors.Is(err, ErrOverflow) || !u.IsZero() {
			t.Errorf("%v, %v; want ErrOverflow", u, err)
		}
	}
	now = now.Add(time.Millisecond)
	if next, err := ulids.New(); err != nil || bytes.Compare(next[:], u[:]) <= 0 {
		t.Errorf("%v after %v: %v", next, u, err)
	}
}

func FuzzParseHorizon(f *testing.F) {
	f.Add([]byte("idgen/1 until 2026-05-04T03:02:01.000Z"))
	f.Add([]byte("idgen/1 until 2026-05-04T03:02:01Z"))
	f.Add([]byte("idgen/2 until 2026-05-04T03:02:01.000Z"))
	f.Fuzz(func(t *testing.T, text []byte) {
		at, err := parseHorizon(text)
		if err == nil && len(text) > 0 && !bytes.Equal(horizonText(at), text) {
			t.Errorf("%q was read as %v", text, at)
		}
	})
}

func TestHorizonText(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_777_863_721_045)
	const want = "idgen/1 until 2026-05-04T03:02:01.045Z"
	if got := horizonText(at.In(time.FixedZone("", 7200))); string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, err := parseHorizon([]byte(want)); err != nil || !got.Equal(at) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := parseHorizon(nil); err != nil || !got.IsZero() {
		t.Errorf("%v, %v", got, err)
	}
	if at, err := parseHorizon([]byte("idgen/2 until never")); err == nil {
		t.Errorf("a newer version's was read as %v", at)
	}
}
