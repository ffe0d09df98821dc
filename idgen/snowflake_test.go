package idgen_test

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/semel-go/semel/idgen"
)

// Golden: where the bits are is part of every stored id.
func TestLayoutIsForEver(t *testing.T) {
	t.Parallel()
	const id = idgen.Snowflake(1234567890123<<22 | 777<<12 | 4095)
	if at := id.Time(); !at.Equal(time.UnixMilli(1735689600000 + 1234567890123)) {
		t.Errorf("time %v", at)
	}
	if id.Worker() != 777 || (idgen.Layout{}).Sequence(id) != 4095 {
		t.Errorf("worker %d, sequence %d", id.Worker(), idgen.Layout{}.Sequence(id))
	}
	other := idgen.Layout{Epoch: time.Unix(1_600_000_000, 0), WorkerBits: 4, SequenceBits: 8}
	if w, s := other.Worker(5<<12|3<<8|9), other.Sequence(5<<12|3<<8|9); w != 3 || s != 9 {
		t.Errorf("worker %d, sequence %d", w, s)
	}
	if at := other.Time(5<<12 | 3<<8 | 9); at.UnixMilli() != 1_600_000_000_005 {
		t.Errorf("time %v", at)
	}
	if got, want := (idgen.Layout{}).String(), "ms since 1735689600000, 10 worker bits, 12 sequence bits"; got != want {
		t.Errorf("%q; what groups keep is %q", got, want)
	}
	for _, wild := range []idgen.Layout{{WorkerBits: -5}, {SequenceBits: -100}, {WorkerBits: 200, SequenceBits: 200}} {
		_, _, _ = wild.Time(id), wild.Worker(id), wild.Sequence(id) // must not panic
	}
}

func TestParseSnowflakeTakesCanonicalTextOnly(t *testing.T) {
	t.Parallel()
	for _, good := range []idgen.Snowflake{0, 1, 1<<53 + 1, math.MaxInt64} {
		if id, err := idgen.ParseSnowflake(good.String()); err != nil || id != good {
			t.Errorf("%v: %v, %v", good, id, err)
		}
	}
	for _, bad := range []string{"", "-1", "+1", "01", "1.0", "1e3", "0x1", "1_000", " 1", "9223372036854775808"} {
		if id, err := idgen.ParseSnowflake(bad); err == nil || id != 0 {
			t.Errorf("%q was read as %v", bad, id)
		}
	}
}

func FuzzParseSnowflake(f *testing.F) {
	f.Add("9007199254740993")
	f.Add("-1")
	f.Fuzz(func(t *testing.T, s string) { parsesOnlyItsOwnText(t, s, idgen.ParseSnowflake) })
}

// What databases give and take.
func TestIDsInDatabases(t *testing.T) {
	t.Parallel()
	u, _ := idgen.ParseUUID("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
	l, _ := idgen.ParseULID("01ARZ3NDEKTSV4RRFFQ69G5FAV")
	s := idgen.Snowflake(1<<53 + 1)
	scanned(t, u, new(idgen.UUID), u.String(), []byte(u.String()), u[:], [16]byte(u))
	scanned(t, l, new(idgen.ULID), l.String(), []byte(l.String()), l[:], [16]byte(l))
	scanned(t, s, new(idgen.Snowflake), int64(s), s.String(), []byte(s.String()))
	for _, id := range []sql.Scanner{&u, &l, &s} {
		before := fmt.Sprint(id)
		for _, bad := range []any{nil, 1.5, true, "x", []byte("x"), int64(-1), time.Time{}} {
			if err := id.Scan(bad); err == nil || fmt.Sprint(id) != before {
				t.Errorf("%T took %v: %v", id, bad, id)
			}
		}
	}
	for id, want := range map[driver.Valuer]driver.Value{u: u.String(), l: l.String(), s: int64(s)} {
		if got, err := id.Value(); err != nil || got != want {
			t.Errorf("%v: %v, %v", id, got, err)
		}
	}
}

func scanned[T comparable](t *testing.T, want T, into interface {
	sql.Scanner
	fmt.Stringer
}, sources ...any) {
	t.Helper()
	for _, src := range sources {
		if err := into.Scan(src); err != nil || into.String() != fmt.Sprint(want) {
			t.Errorf("%T %v: %v, %v", src, src, into, err)
		}
	}
}
