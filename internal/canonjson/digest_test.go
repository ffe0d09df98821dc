package canonjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"runtime"
	"strings"
	"testing"
)

func digest(t *testing.T, text string, sel *Selection) [32]byte {
	t.Helper()
	sum, err := Digest([]byte(text), sel)
	if err != nil {
		t.Fatalf("%.60q: %v", text, err)
	}
	return sum
}

func TestSameMeaningSameDigest(t *testing.T) {
	t.Parallel()
	for _, group := range [][]string{
		{`{"a":1,"b":[true,null]}`, ` { "b" : [ true , null ] , "a" : 1.0 } `, "{\n\"\\u0061\":10e-1,\"b\":[true,null]}"},
		{`1`, `1.0`, `1e0`, `1E+0`, `10e-1`, `0.1e1`, `1000e-3`},
		{`9007199254740993`, `9007199254740993.0`, `9.007199254740993e15`, `9007199254740993e0`},
		{`0`, `-0`, `0.0`, `0e5`, `-0.000e-7`, `0e99999999999999999999`},
		{`-1.5`, `-15e-1`, `-0.15e1`},
		{`"é/😀"`, `"\u00e9\/\ud83d\ude00"`, `"\u00E9/\uD83D\uDE00"`},
		{`1e400`, `10e399`},
	} {
		for _, text := range group[1:] {
			if digest(t, text, nil) != digest(t, group[0], nil) {
				t.Errorf("%s differs from %s", text, group[0])
			}
		}
	}
}

// Field fault: float64 canonicalisation makes 9007199254740993 equal …992.
func TestOtherMeaningOtherDigest(t *testing.T) {
	t.Parallel()
	texts := []string{
		`null`, `true`, `false`, `0`, `""`, `"0"`, `"null"`, `[]`, `{}`, `[[]]`, `[{}]`, `{"":{}}`, `{"":[]}`, `[null]`, `{"a":null}`, `1`, `-1`, `10`, `1e-1`,
		`9007199254740992`, `9007199254740993`, `9007199254740993e1`, `1e400`, `1e401`, `1e9999999999999999999`, `1e9999999999999999998`, `-1e9999999999999999999`,
		`0.2`, `0.20000000000000000001`, `["a","bc"]`, `["ab","c"]`, `["abc"]`, `[1,2]`, `[2,1]`, `[[1],2]`, `[1,[2]]`, `{"a":"b"}`, `{"b":"a"}`, `{"a":{"b":1}}`,
		`{"a":1,"b":2}`, `{"a":2,"b":1}`, `"e\u0301"`, `"\u00e9"`, `"A"`, `"a"`, `"a "`, `"\u0000"`, `["a",null]`, `["a"]`,
	}
	seen := map[[32]byte]string{}
	for _, text := range texts {
		sum := digest(t, text, nil)
		if other, dup := seen[sum]; dup {
			t.Errorf("%s and %s have the same digest", text, other)
		}
		seen[sum] = text
	}
}

func TestWhatIsNotJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "{", `{"a":1`, `{"a":1}}`, `1 2`, `[1,]`, `{a:1}`, `'a'`, `01`, `1.`, `.5`, `+1`, `NaN`, "\xff", "\"\xff\"", `"\ud800"`, `"\udc00"`, `"\ud800\ud800"`,
		`"\ud800x"`, `"\ud800\n"`, "\"\n\"", `"\x"`, "\ufeff{}", strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	} {
		if _, err := Digest([]byte(text), nil); !errors.Is(err, ErrSyntax) {
			t.Errorf("%.30q: %v", text, err)
		}
	}
	if _, err := Digest([]byte(`"\\ud800 \\\\ud800"`), nil); err != nil {
		t.Errorf("an escaped backslash before ud800: %v", err)
	}
}

// Field fault: the last duplicate member wins.
func TestDuplicateMembersAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a":1,"a":1}`, `{"a":1,"b":2,"\u0061":3}`, `[{"x":{"":1,"":2}}]`, `{"amount":1,"Amount":2}`, `{"k":1,"\u212a":2}`} {
		if _, err := Digest([]byte(text), nil); !errors.Is(err, ErrDuplicate) {
			t.Errorf("%s: %v", text, err)
		}
	}
	sel, err := NewSelection(nil, []string{"/a"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Digest([]byte(`{"a":1,"a":2}`), sel); !errors.Is(err, ErrDuplicate) {
		t.Errorf("ignored twice: %v", err)
	}
}

// 10,000 levels of a long text do no harm: work is linear in the text.
func TestDeepNesting(t *testing.T) {
	t.Parallel()
	filler := `"` + strings.Repeat("x", 1<<20) + `"`
	deep := strings.Repeat(`{"a":[`, 4_999) + filler + strings.Repeat(`]}`, 4_999)
	other := strings.Repeat(`{"a":[`, 4_999) + strings.Replace(filler, "x", "y", 1) + strings.Repeat(`]}`, 4_999)
	if digest(t, deep, nil) == digest(t, other, nil) {
		t.Error("a difference at the bottom is lost")
	}
}

// A long array needs little more memory than its text.
func TestLongArrayIsNotKept(t *testing.T) {
	text := []byte("[" + strings.Repeat("1,", 1<<19) + "1]")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w := walk{dec: json.NewDecoder(bytes.NewReader(text))}
	w.top = &w.root
	w.root.view = (*Selection)(nil).view()
	for range 1 << 19 {
		tok, err := w.dec.Token()
		if err != nil || w.token(tok) != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 1<<20 {
		t.Errorf("%d bytes are kept for half a million elements", kept)
	}
	runtime.KeepAlive(&w)
}

func TestSelection(t *testing.T) {
	t.Parallel()
	base := `{"amount":10,"at":"10:00","who":{"id":1,"ua":"x"},"items":[{"sku":"a","t":1},{"sku":"b","t":2}],"a/b":{"~":1}}`
	tests := []struct {
		name            string
		include, ignore []string
		same, other     []string
	}{
		{"ignore", nil, []string{"/at", "/who/ua", "/items/1/t"},
			[]string{
				`{"amount":10,"who":{"id":1},"items":[{"sku":"a","t":1},{"sku":"b"}],"a/b":{"~":1}}`,
				`{"amount":10,"at":[{"x":null}],"who":{"id":1,"ua":null},"items":[{"sku":"a","t":1},{"sku":"b","t":9}],"a/b":{"~":1}}`,
			},
			[]string{
				`{"amount":11,"at":"10:00","who":{"id":1,"ua":"x"},"items":[{"sku":"a","t":1},{"sku":"b","t":2}],"a/b":{"~":1}}`,
				`{"amount":10,"at":"10:00","who":{"id":1,"ua":"x"},"items":[{"sku":"a","t":9},{"sku":"b","t":2}],"a/b":{"~":1}}`,
				`{"amount":10,"who":{"id":1},"items":[{"sku":"a","t":1},{"sku":"b"},{}],"a/b":{"~":1}}`,
			}},
		{"include", []string{"/amount", "/who/id"}, nil,
			[]string{`{"amount":1e1,"who":{"id":1}}`, `{"who":{"id":1,"more":[]},"amount":10,"items":7}`},
			[]string{`{"amount":10,"who":{"id":2}}`, `{"amount":10,"who":{}}`, `{"amount":10}`, `{"amount":null,"who":{"id":1}}`}},
		{"escaped", []string{"/a~1b/~0"}, nil, []string{`{"a/b":{"~":1,"x":2}}`}, []string{`{"a/b":{"~":2}}`, `{"a":{"b":{"~":1}}}`}},
		{"include, ignore inside", []string{"/who"}, []string{"/who/ua"}, []string{`{"who":{"id":1}}`}, []string{`{"who":{"id":1,"x":1}}`}},
		{"root", []string{""}, []string{"/at"}, nil, []string{`{"amount":10}`}},
	}
	for _, tt := range tests {
		sel, err := NewSelection(tt.include, tt.ignore)
		if err != nil {
			t.Fatal(tt.name, err)
		}
		want := digest(t, base, sel)
		for _, text := range tt.same {
			if digest(t, text, sel) != want {
				t.Errorf("%s: %s should count as the same", tt.name, text)
			}
		}
		for _, text := range tt.other {
			if digest(t, text, sel) == want {
				t.Errorf("%s: %s should differ", tt.name, text)
			}
		}
	}
}

// An ignored array element keeps its place.
func TestIgnoredElementKeepsItsPlace(t *testing.T) {
	t.Parallel()
	sel, err := NewSelection(nil, []string{"/0"})
	if err != nil {
		t.Fatal(err)
	}
	if digest(t, `[1,2]`, sel) != digest(t, `[9,2]`, sel) || digest(t, `[1,2]`, sel) == digest(t, `[2]`, sel) {
		t.Error("places shifted")
	}
}

func TestPointersAreChecked(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"a", "/~", "/~2", "/a/b~"} {
		if _, err := NewSelection([]string{p}, nil); err == nil || !strings.Contains(err.Error(), "JSON pointer") {
			t.Errorf("%q: %v", p, err)
		}
	}
	if _, err := NewSelection(nil, []string{""}); err == nil {
		t.Error("ignoring everything was taken")
	}
}

func FuzzDigest(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.50e3,"x\u00e9",null,true]}`, `{"a":1,"a":2}`, `"\ud800"`, `[[[[]]]]`, `-0.0`, `{"b":1,"a":{"c":[]}}`} {
		f.Add([]byte(s))
	}
	sel, err := NewSelection([]string{"/a"}, []string{"/a/0"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		sum, err := Digest(text, nil)
		if _, selErr := Digest(text, sel); (err == nil) != (selErr == nil) {
			t.Fatalf("a selection changed what is JSON: %v, %v", err, selErr)
		}
		if err != nil {
			return
		}
		// Rewritten by another program, with members in another order, it means the same.
		var v any // what two members of one name would have lost was refused above
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatalf("%v, but encoding/json reads none of it", err)
		}
		again, err := json.MarshalIndent(v, " ", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Digest(again, nil); err != nil || got != sum {
			t.Fatalf("%q and %q differ: %v", text, again, err)
		}
	})
}

func FuzzNumber(f *testing.F) {
	f.Add("1.50", "15e-1")
	f.Add("-0", "0")
	f.Add("9007199254740993", "9007199254740992")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !isNumber(a) || !isNumber(b) || len(a) > 40 || len(b) > 40 {
			return
		}
		x, y := rat(a), rat(b)
		if x == nil || y == nil {
			return
		}
		if same := canonicalNumber(a) == canonicalNumber(b); same != (x.Cmp(y) == 0) {
			t.Fatalf("%s and %s: %q, %q", a, b, canonicalNumber(a), canonicalNumber(b))
		}
	})
}

func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}

// rat is the number as math/big has it; nil if its exponent is too large to compute.
func rat(s string) *big.Rat {
	if _, exp, found := strings.Cut(strings.ToLower(s), "e"); found && len(strings.TrimLeft(exp, "+-0")) > 3 {
		return nil
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil
	}
	return r
}
