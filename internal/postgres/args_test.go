package postgres

import (
	"testing"
	"time"

	"github.com/semel-go/semel"
)

func TestArrays(t *testing.T) {
	t.Parallel()
	ids, numbers, bools, texts := newArray(2, 32), newArray(2, 3), newArray(2, 1), newArray(2, 4)
	ids.uuid([16]byte{0xab, 15: 1})
	ids.uuid([16]byte{})
	numbers.int(-1)
	numbers.int(1 << 62)
	bools.bool(true)
	bools.bool(false)
	texts.bytes("")
	texts.bytes("a\x00\"")
	for _, c := range []struct {
		got  *array
		want string
	}{
		{ids, "{ab000000000000000000000000000001,00000000000000000000000000000000}"},
		{numbers, "{-1,4611686018427387904}"},
		{bools, "{t,f}"},
		{texts, `{"","\\x610022"}`},
		{newArray(0, 0), "{}"},
	} {
		if c.got.arg() != c.want {
			t.Errorf("%s; want %s", c.got.arg(), c.want)
		}
	}
}

// Field fault: empty results are not stored, or come back as none.
func TestPiecesTellNoneFromEmpty(t *testing.T) {
	t.Parallel()
	p := newPieces(4)
	for _, b := range [][]byte{[]byte("ab"), nil, {}, []byte("c")} {
		p.add(b)
	}
	if string(p.arg()) != "abc" || p.starts.arg() != "{1,3,3,3}" || p.sizes.arg() != "{2,-1,0,1}" {
		t.Errorf("%q, from %s, sizes %s", p.arg(), p.starts.arg(), p.sizes.arg())
	}
	if newPieces(0).arg() == nil {
		t.Error("no pieces are NULL")
	}
}

func TestDurationsAsParameters(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]int64{semel.Forever: -1, time.Second: 1e6, time.Microsecond + 1: 2} {
		if got := micros(d); got != want {
			t.Errorf("%v: %d; want %d", d, got, want)
		}
	}
}
