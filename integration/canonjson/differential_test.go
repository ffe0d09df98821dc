package canonjson_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/semel-go/semel/internal/canonjson"
)

// Two texts have the same digest exactly if RFC 8785 gives them the same form,
// for the numbers that float64 holds exactly.
func TestAgreesWithRFC8785(t *testing.T) {
	t.Parallel()
	const seed = 2026
	r := rand.New(rand.NewPCG(seed, seed))
	byForm := map[string][32]byte{}
	byDigest := map[[32]byte]string{}
	spellings := 0
	for range 20_000 {
		v := value(r, 3)
		for range 2 { // the same value, spelled in two ways
			text := spell(r, v)
			form := jsontext.Value(text)
			if err := form.Canonicalize(); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			sum, err := canonjson.Digest([]byte(text), nil)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if other, known := byForm[string(form)]; known && other != sum {
				t.Fatalf("seed %d: %s has the form of another text and not its digest", seed, text)
			} else if known {
				spellings++
			}
			if other, known := byDigest[sum]; known && other != string(form) {
				t.Fatalf("seed %d: %s has the digest of %s", seed, text, other)
			}
			byForm[string(form)], byDigest[sum] = sum, string(form)
		}
	}
	if spellings < 20_000 || len(byForm) < 5_000 {
		t.Errorf("the texts show little: %d repeated, %d different", spellings, len(byForm))
	}
}

// value is a random value with numbers that float64 holds exactly.
func value(r *rand.Rand, depth int) any {
	kind := r.IntN(7)
	if depth == 0 {
		kind = r.IntN(5)
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return float64(r.IntN(2001)-1000) / float64(int(1)<<r.IntN(4))
	case 3:
		return float64(r.Int64N(1<<53)) * float64(1-2*r.IntN(2))
	case 4:
		return text(r)
	case 5:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = value(r, depth-1)
		}
		return list
	}
	object := map[string]any{}
	for range r.IntN(4) {
		object[text(r)] = value(r, depth-1)
	}
	return object
}

func text(r *rand.Rand) string {
	letters := []rune("ab/\"\\\n\u0001é€😀\u2028")
	s := make([]rune, r.IntN(4))
	for i := range s {
		s[i] = letters[r.IntN(len(letters))]
	}
	return string(s)
}

// spell writes a value in one of the ways that mean the same.
func spell(r *rand.Rand, v any) string {
	space := strings.Repeat(" ", r.IntN(2))
	switch v := v.(type) {
	case float64:
		return space + number(r, v) + space
	case string:
		return quote(r, v)
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = spell(r, item)
		}
		return "[" + space + strings.Join(items, ","+space) + "]"
	case map[string]any:
		var members []string
		for name, item := range v {
			members = append(members, quote(r, name)+space+":"+spell(r, item))
		}
		slices.Sort(members)
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return "{" + strings.Join(members, space+",") + space + "}"
	}
	b, _ := json.Marshal(v) // null and booleans always encode
	return string(b)
}

func number(r *rand.Rand, f float64) string {
	switch r.IntN(3) {
	case 0:
		return fmt.Sprintf("%.20e", f)
	case 1:
		return fmt.Sprintf("%.4f", f)
	}
	b, _ := json.Marshal(f) // finite numbers always encode
	return string(b)
}

func quote(r *rand.Rand, s string) string {
	if r.IntN(2) == 0 {
		b, _ := json.Marshal(s) // valid text always encodes
		return string(b)
	}
	b, _ := jsontext.AppendQuote(nil, s)
	return string(b)
}
