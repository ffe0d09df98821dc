package idgen_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel/idgen"
)

func TestULIDsRise(t *testing.T) {
	t.Parallel()
	clock := &clockOf{at: someday}
	ulids := idgen.ULIDs{Now: clock.now}
	var last idgen.ULID
	for _, step := range []time.Duration{0, time.Millisecond, -time.Hour, 2 * time.Hour, -100 * 365 * 24 * time.Hour} {
		clock.add(step)
		for range 5000 {
			u, err := ulids.New()
			if err != nil || bytes.Compare(u[:], last[:]) <= 0 || u.String() <= last.String() {
				t.Fatalf("%v after %v: %v", u, last, err)
			}
			last = u
		}
	}
	if at := last.Time(); !at.Equal(someday.Add(time.Hour + time.Millisecond)) {
		t.Errorf("the last one bears %v", at)
	}
}

// Within a millisecond the specification's next one is the last one plus 1.
func TestULIDsAddOne(t *testing.T) {
	t.Parallel()
	clock := &clockOf{at: someday}
	ulids := idgen.ULIDs{Now: clock.now}
	a, _ := ulids.New()
	b, _ := ulids.New()
	for i := len(a) - 1; i >= 0; i-- {
		if a[i]++; a[i] != 0 {
			break
		}
	}
	if a != b {
		t.Errorf("%v + 1 is not %v", a, b)
	}
}

func TestULIDsAreForAllCallers(t *testing.T) {
	t.Parallel()
	var ulids idgen.ULIDs
	all := together(8, 5000, func() idgen.ULID {
		u, err := ulids.New()
		if err != nil {
			t.Error(err)
		}
		return u
	})
	mustDiffer(t, slices.Concat(all...))
}

// Texts of the specification, and the greatest one.
func TestULIDTexts(t *testing.T) {
	t.Parallel()
	for text, at := range map[string]int64{
		"01ARZ3NDEKTSV4RRFFQ69G5FAV": 1469922850259,
		"01ARYZ6S41TSV4RRFFQ69G5FAV": 1469918176385,
		"00000000000000000000000000": 0,
		"7ZZZZZZZZZZZZZZZZZZZZZZZZZ": 1<<48 - 1,
	} {
		u, err := idgen.ParseULID(text)
		if err != nil || u.String() != text || u.Time().UnixMilli() != at {
			t.Errorf("%s: %v at %d, %v; want %d", text, u, u.Time().UnixMilli(), err, at)
		}
	}
	greatest, err := idgen.ParseULID("7ZZZZZZZZZZZZZZZZZZZZZZZZZ")
	if want := idgen.ULID(bytes.Repeat([]byte{0xff}, 16)); err != nil || greatest != want {
		t.Errorf("%x", greatest)
	}
}

func TestParseULIDTakesCanonicalTextOnly(t *testing.T) {
	t.Parallel()
	good := "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	for _, bad := range []string{
		"", good[1:], good + "0", strings.ToLower(good), "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", strings.Replace(good, "A", "U", 1),
		strings.Replace(good, "0", "O", 1), strings.Replace(good, "1", "I", 1), strings.Replace(good, "1", "L", 1), strings.Replace(good, "AR", "é", 1),
	} {
		if u, err := idgen.ParseULID(bad); err == nil || !u.IsZero() {
			t.Errorf("%q was read as %v", bad, u)
		}
	}
}

func FuzzParseULID(f *testing.F) {
	f.Add("01ARZ3NDEKTSV4RRFFQ69G5FAV")
	f.Add("8ZZZZZZZZZZZZZZZZZZZZZZZZZ")
	f.Fuzz(func(t *testing.T, s string) { parsesOnlyItsOwnText(t, s, idgen.ParseULID) })
}

// Each symbol is as likely as the others, and none looks like another one.
func TestShortIsUnbiased(t *testing.T) {
	t.Parallel()
	counts := make(map[rune]int)
	for range 2000 {
		id, err := idgen.Short(64)
		if err != nil || len(id) != 64 {
			t.Fatal(id, err)
		}
		for _, c := range id {
			counts[c]++
		}
	}
	if len(counts) != 32 {
		t.Errorf("%d symbols", len(counts))
	}
	for c, n := range counts { // 4,000 are expected; the standard deviation is 62
		if n < 3500 || n > 4500 {
			t.Errorf("%c came %d times of 128,000", c, n)
		}
		if strings.ContainsRune("ilouABCDEFGHIJKLMNOPQRSTUVWXYZ", c) {
			t.Errorf("%c occurs", c)
		}
	}
}

func TestShortLengths(t *testing.T) {
	t.Parallel()
	for _, n := range []int{-1, 0, 7, 65, 1 << 40} {
		if id, err := idgen.Short(n); err == nil {
			t.Errorf("%d symbols: %q", n, id)
		}
	}
}

func TestParseShortCorrectsWhatWasTyped(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"abcd2345": "abcd2345", "ABCD-2345": "abcd2345", " o0O1 iIlL ": "00011111", "abcd23456789jkmn": "abcd23456789jkmn",
		"": "", "abcd234": "", "abcdu345": "", "abcd234é": "", strings.Repeat("a", 65): "", strings.Repeat("-", 100) + "aaaaaaaa": "aaaaaaaa",
	} {
		if id, err := idgen.ParseShort(typed); id != want || (err == nil) != (want != "") {
			t.Errorf("%q was read as %q, %v; want %q", typed, id, err, want)
		}
	}
}

func FuzzParseShort(f *testing.F) {
	f.Add("abcd2345")
	f.Add("ABCD-oil5 ")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := idgen.ParseShort(s)
		if err != nil {
			return
		}
		if again, err := idgen.ParseShort(id); err != nil || again != id || len(id) < 8 || len(id) > 64 {
			t.Errorf("%q was read as %q, and that as %q, %v", s, id, again, err)
		}
	})
}
