package optimistic

import (
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestParseETag(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]ETag{
		`"42"`: {Tag: "42"}, `W/"42"`: {Tag: "42", Weak: true}, `""`: {}, `W/""`: {Weak: true}, `"a,b"`: {Tag: "a,b"},
		`"a\b"`: {Tag: `a\b`}, `"!#~"`: {Tag: "!#~"}, "\"\x80\xff\"": {Tag: "\x80\xff"}, `"W/"`: {Tag: "W/"},
	} {
		if got, err := ParseETag(s); got != want || err != nil || got.String() != s {
			t.Errorf("%q: %+v, %v; want %+v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "42", `"`, `"42`, `42"`, `w/"42"`, `W/ "42"`, `W/42`, `"4 2"`, "\"4\t2\"", "\"\x7f\"", "\"\x00\"", `"a"b`, `"a" `, ` "a"`, `"a""b"`, "*", `'a'`} {
		if got, err := ParseETag(s); err == nil {
			t.Errorf("%q: %+v; want an error", s, got)
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for _, v := range []int64{0, 1, 42, -1, math.MaxInt64, math.MinInt64} {
		if got, ok := ETagOf(v).Version(); got != v || !ok {
			t.Errorf("%d: %d, %v", v, got, ok)
		}
	}
	for _, tag := range []ETag{{}, {Tag: "042"}, {Tag: "+1"}, {Tag: "1", Weak: true}, {Tag: "1-gzip"}, {Tag: "9223372036854775808"}} {
		if got, ok := tag.Version(); ok {
			t.Errorf("%v: %d", tag, got)
		}
	}
}

// The table of RFC 9110, section 8.8.3.2.
func TestMatches(t *testing.T) {
	t.Parallel()
	weak1, weak2, strong1 := ETag{"1", true}, ETag{"2", true}, ETag{"1", false}
	for _, c := range []struct {
		a, b         ETag
		strong, weak bool
	}{
		{weak1, weak1, false, true}, {weak1, weak2, false, false}, {weak1, strong1, false, true}, {strong1, weak1, false, true}, {strong1, strong1, true, true},
	} {
		if StrongMatch(c.a, c.b) != c.strong || WeakMatch(c.a, c.b) != c.weak {
			t.Errorf("%v and %v: strong %v, weak %v", c.a, c.b, !c.strong, !c.weak)
		}
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	a, b, weak := ETag{Tag: "a"}, ETag{Tag: "b"}, ETag{Tag: "w", Weak: true}
	for _, c := range []struct {
		lines []string
		want  Condition
	}{
		{nil, Condition{}},
		{[]string{"*"}, Condition{Present: true, Any: true}},
		{[]string{" * "}, Condition{Present: true, Any: true}},
		{[]string{`"a"`}, Condition{Present: true, Tags: []ETag{a}}},
		{[]string{`"a", "b",W/"w"`}, Condition{Present: true, Tags: []ETag{a, b, weak}}},
		{[]string{`"a"`, `"b"`}, Condition{Present: true, Tags: []ETag{a, b}}},
		{[]string{"\t\"a\" \t,, ,\"b\", "}, Condition{Present: true, Tags: []ETag{a, b}}},
		{[]string{`"a,b"`}, Condition{Present: true, Tags: []ETag{{Tag: "a,b"}}}},
		{[]string{"a\"b"}, Condition{}}, // an error
		{[]string{""}, Condition{Present: true}},
		{[]string{`"*"`}, Condition{Present: true, Tags: []ETag{{Tag: "*"}}}},
	} {
		got, err := conditionOf(http.Header{"If-Match": c.lines}, "If-Match")
		if got.Present != c.want.Present || got.Any != c.want.Any || !slices.Equal(got.Tags, c.want.Tags) {
			t.Errorf("%q: %+v, %v; want %+v", c.lines, got, err, c.want)
		}
	}
	for _, lines := range [][]string{{`*, "a"`}, {`"a", *`}, {"*", "*"}, {"*", ""}, {`"a" "b"`}, {`"a""b"`}, {"a"}, {`"a", b`}, {`"a`}, {`w/"a"`}, {`"a";q=1`}} {
		if got, err := conditionOf(http.Header{"If-Match": lines}, "If-Match"); err == nil || got.Present {
			t.Errorf("%q: %+v; want an error", lines, got)
		}
	}
}

// grammar is the list of RFC 9110 in another form; its bytes are runes there.
var grammar = regexp.MustCompile(`^[ \t]*(\*[ \t]*|((W/)?"[\x21\x23-\x7e\x{80}-\x{ff}]*")?[ \t]*(,[ \t]*((W/)?"[\x21\x23-\x7e\x{80}-\x{ff}]*")?[ \t]*)*)$`)

func FuzzCondition(f *testing.F) {
	for _, seed := range []string{"*", `"a"`, `W/"a", "b"`, `"a,b"`, ` ,, "a" ,`, "\"\xff\"", `"a" "b"`, `*,"a"`, "", `"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c, err := conditionOf(http.Header{"If-Match": {line}}, "If-Match")
		runes := make([]rune, len(line))
		for i := range len(line) {
			runes[i] = rune(line[i])
		}
		if want := grammar.MatchString(string(runes)); want != (err == nil) {
			t.Fatalf("%q: %v; the grammar says %v", line, err, want)
		}
		if err != nil || c.Any {
			return
		}
		texts := make([]string, len(c.Tags))
		for i, tag := range c.Tags {
			texts[i] = tag.String()
			if again, err := ParseETag(texts[i]); again != tag || err != nil {
				t.Errorf("%q: tag %+v reads %+v, %v", line, tag, again, err)
			}
		}
		again, err := conditionOf(http.Header{"If-Match": {strings.Join(texts, ", ")}}, "If-Match")
		if err != nil || !slices.Equal(again.Tags, c.Tags) {
			t.Errorf("%q: %+v, written and read %+v, %v", line, c, again, err)
		}
	})
}
