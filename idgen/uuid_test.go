package idgen_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/idgen"
)

// The example of RFC 9562, appendix A.6.
func TestUUIDOfTheRFC(t *testing.T) {
	t.Parallel()
	u, err := idgen.ParseUUID("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
	if err != nil {
		t.Fatal(err)
	}
	at, ok := u.Time()
	if want := time.Date(2022, 2, 22, 19, 22, 22, 0, time.UTC); !ok || !at.Equal(want) {
		t.Errorf("time %v, %v; want %v", at, ok, want)
	}
	if u.Version() != 7 {
		t.Errorf("version %d", u.Version())
	}
}

// clockOf is a clock that a test sets.
type clockOf struct {
	mu sync.Mutex
	at time.Time
}

func (c *clockOf) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clockOf) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

var someday = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// Each is greater than the last one: with a clock that stands, goes, and is set back.
// Field fault: ids by the clock repeat or turn back when it does.
func TestUUIDsRise(t *testing.T) {
	t.Parallel()
	clock := &clockOf{at: someday}
	uuids := idgen.UUIDs{Now: clock.now}
	var last idgen.UUID
	for _, step := range []time.Duration{0, time.Millisecond, -time.Hour, time.Microsecond, -100 * 365 * 24 * time.Hour, 0} {
		clock.add(step)
		for range 300_000 { // more than a millisecond has room for
			u := uuids.New()
			if bytes.Compare(u[:], last[:]) <= 0 {
				t.Fatalf("%v after %v", u, last)
			}
			if u.Version() != 7 || u[8]>>6 != 2 {
				t.Fatalf("%v has version %d, variant %d", u, u.Version(), u[8]>>6)
			}
			last = u
		}
	}
	if at, _ := last.Time(); at.Before(someday) || at.After(someday.Add(20*time.Millisecond)) {
		t.Errorf("the last one bears %v, the clock was at %v at most", at, someday)
	}
}

// The time of the clock is in the first id of each millisecond.
func TestUUIDTime(t *testing.T) {
	t.Parallel()
	clock := &clockOf{at: someday}
	uuids := idgen.UUIDs{Now: clock.now}
	for range 1000 {
		clock.add(time.Millisecond)
		if at, ok := uuids.New().Time(); !ok || !at.Equal(clock.now()) {
			t.Fatalf("time %v, want %v", at, clock.now())
		}
	}
}

func TestUUIDsAreForAllCallers(t *testing.T) {
	t.Parallel()
	var uuids idgen.UUIDs
	all := together(8, 10_000, func() idgen.UUID { return uuids.New() })
	for _, own := range all {
		if !slices.IsSortedFunc(own, func(a, b idgen.UUID) int { return bytes.Compare(a[:], b[:]) }) {
			t.Error("a caller got a smaller one after a greater one")
		}
	}
	mustDiffer(t, slices.Concat(all...))
}

// together makes n ids by each of some callers at once.
func together[T any](callers, n int, next func() T) [][]T {
	all := make([][]T, callers)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			for range n {
				all[i] = append(all[i], next())
			}
		})
	}
	wg.Wait()
	return all
}

func mustDiffer[T comparable](t *testing.T, ids []T) {
	t.Helper()
	seen := make(map[T]bool, len(ids))
	for _, id := range ids {
		if seen[id] {
			t.Fatalf("%v came twice", id)
		}
		seen[id] = true
	}
}

// All bits that say nothing are random: each is 0 in some and 1 in other ids.
func TestUUIDsAreRandom(t *testing.T) {
	t.Parallel()
	clock := &clockOf{at: someday}
	var ones, zeros idgen.UUID
	for range 200 {
		clock.add(time.Millisecond)
		uuids := idgen.UUIDs{Now: clock.now}
		for i, b := range uuids.New() {
			ones[i] |= b
			zeros[i] |= ^b
		}
	}
	want := idgen.UUID{6: 0x07, 7: 0xff, 8: 0x3f} // the highest bit of the counter begins as 0
	for i := 9; i < len(want); i++ {
		want[i] = 0xff
	}
	for i := 6; i < len(want); i++ {
		if got := ones[i] & zeros[i]; got&want[i] != want[i] {
			t.Errorf("byte %d: the bits %08b took both values, want %08b", i, got, want[i])
		}
	}
}

func TestParseUUIDTakesCanonicalTextOnly(t *testing.T) {
	t.Parallel()
	good := "01997f0e-5a20-7cc3-98c4-dc0c0c07398f"
	if u, err := idgen.ParseUUID(good); err != nil || u.String() != good {
		t.Errorf("%v, %v", u, err)
	}
	for _, bad := range []string{
		"", good[1:], good + "0", strings.ToUpper(good), "{" + good + "}", "urn:uuid:" + good, strings.ReplaceAll(good, "-", ""),
		strings.Replace(good, "-", "_", 1), strings.Replace(good, "f", "g", 1), " " + good[1:], strings.Replace(good, "01", "é", 1),
	} {
		if u, err := idgen.ParseUUID(bad); err == nil || !u.IsZero() {
			t.Errorf("%q was read as %v", bad, u)
		}
	}
}

func FuzzParseUUID(f *testing.F) {
	f.Add("01997f0e-5a20-7cc3-98c4-dc0c0c07398f")
	f.Add("01997F0E-5A20-7CC3-98C4-DC0C0C07398F")
	f.Fuzz(func(t *testing.T, s string) { parsesOnlyItsOwnText(t, s, idgen.ParseUUID) })
}

// parsesOnlyItsOwnText: whatever is read is written the same way.
func parsesOnlyItsOwnText[T interface{ String() string }](t *testing.T, s string, parse func(string) (T, error)) {
	t.Helper()
	if id, err := parse(s); err == nil && id.String() != s {
		t.Errorf("%q was read as %v", s, id)
	}
}

// Golden vectors: the derivation is public, and others may have written it down.
func TestDeriveIsForEver(t *testing.T) {
	t.Parallel()
	scope := semel.Scope{Principal: "shop-1", Operation: "invoice"}
	for _, c := range []struct {
		scope semel.Scope
		parts []string
		want  string
	}{
		{scope, []string{"order-7"}, "17b6a8f3-147a-8e24-aa5b-cc7ba838e3a0"},
		{scope, []string{"order-7", ""}, "f1b25d4d-2743-831f-8cb4-9f67fbec4ebd"},
		{semel.Scope{Principal: semel.Global}, []string{"ab", "c"}, "0779e9e0-434f-858a-b07e-7db0eedbd621"},
		{semel.Scope{Principal: semel.Global}, []string{"a", "bc"}, "5c1d5e15-c45b-873d-ba75-27df4afcccb1"},
	} {
		u, err := idgen.Derive(c.scope, c.parts...)
		if err != nil || u.String() != c.want {
			t.Errorf("Derive(%q, %q) = %v, %v; want %v", c.scope, c.parts, u, err, c.want)
		}
		if u.Version() != 8 || u[8]>>6 != 2 {
			t.Errorf("%v has version %d, variant %d", u, u.Version(), u[8]>>6)
		}
	}
}

// Field fault: separator confusion; a missing part hashed as a shared constant.
func TestDeriveTellsApart(t *testing.T) {
	t.Parallel()
	var all []idgen.UUID
	for _, scope := range []semel.Scope{{Principal: "a"}, {Principal: "A"}, {Principal: "a", Operation: "x"}, {Principal: "ax"}} {
		for _, parts := range [][]string{{"1"}, {"1", ""}, {"", "1"}, {"1", "2"}, {"12"}, {"1\x002"}} {
			u, err := idgen.Derive(scope, parts...)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, u)
			key := semel.KeyOf(scope, parts...)
			if u == idgen.UUID(key.ID()) || u.String() == key.Derive("") {
				t.Errorf("%v is the record's key, or a downstream one", u)
			}
		}
	}
	mustDiffer(t, all)
	for _, parts := range [][]string{nil, {""}, {"", ""}} {
		if u, err := idgen.Derive(semel.Scope{Principal: "a"}, parts...); err == nil {
			t.Errorf("%q made %v", parts, u)
		}
	}
	if u, err := idgen.Derive(semel.Scope{}, "1"); err == nil {
		t.Errorf("no principal made %v", u)
	}
}

func TestIDsInJSON(t *testing.T) {
	t.Parallel()
	type row struct {
		U idgen.UUID
		L idgen.ULID
		S idgen.Snowflake
		M map[idgen.Snowflake]bool
	}
	const text = `{"U":"017f22e2-79b0-7cc3-98c4-dc0c0c07398f","L":"01ARZ3NDEKTSV4RRFFQ69G5FAV","S":"9007199254740993","M":{"5":true}}`
	var r row
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if out, err := json.Marshal(r); err != nil || string(out) != text {
		t.Errorf("%s, %v", out, err)
	}
	for _, bad := range []string{`{"S":9007199254740993}`, `{"S":"-1"}`, `{"U":"x"}`, `{"L":"x"}`, `{"U":7}`} {
		r := r
		if err := json.Unmarshal([]byte(bad), &r); err == nil {
			t.Errorf("%s was read as %+v", bad, r)
		}
	}
}
