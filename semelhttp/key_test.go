package semelhttp_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

func TestParseKey(t *testing.T) {
	t.Parallel()
	const uuid = "8e03978e-40d5-43dd-bc93-6894a57f9324"
	tests := []struct {
		name            string
		lines           []string
		lenient, strict string // "" means refused
	}{
		{"absent", nil, "", ""},
		{"empty is not absent", []string{""}, "", ""},
		{"blank", []string{"  "}, "", ""},
		{"two lines", []string{"a", "a"}, "", ""},
		{"bare", []string{"k"}, "k", ""},
		{"quoted", []string{`"k"`}, "k", "k"},
		{"space around", []string{` "k" `}, "k", "k"},
		{"digit first", []string{uuid}, uuid, ""},
		{"base64", []string{"YWJj+/=="}, "YWJj+/==", ""},
		{"case counts", []string{"Kk"}, "Kk", ""},
		{"comma list", []string{"a,b"}, "", ""},
		{"comma list of strings", []string{`"a", "b"`}, "", ""},
		{"comma inside a string", []string{`"a,b"`}, "a,b", "a,b"},
		{"escapes", []string{`"a\"b\\"`}, `a"b\`, `a"b\`},
		{"bad escape", []string{`"a\n"`}, "", ""},
		{"unbalanced", []string{`"k`}, "", ""},
		{"parameters", []string{`"k";v=1`}, "k", "k"},
		{"bad parameters", []string{`"k";V`}, "", ""},
		{"empty string", []string{`""`}, "", ""},
		{"blank string", []string{`"  "`}, "", ""},
		{"space inside bare", []string{"a b"}, "", ""},
		{"non-ASCII", []string{"clé"}, "", ""},
		{"non-ASCII string", []string{`"clé"`}, "", ""},
		{"control character", []string{"a\tb"}, "", ""},
		{"quote inside bare", []string{`a"b`}, "", ""},
	}
	for _, tt := range tests {
		for strict, want := range map[bool]string{false: tt.lenient, true: tt.strict} {
			if got, err := semelhttp.ParseKey(tt.lines, strict); got != want || (err == nil) != (want != "") {
				t.Errorf("%s, strict %v: got %q, %v, want %q", tt.name, strict, got, err, want)
			}
		}
	}
}

// An unusable key never means "run unprotected", also where keys are optional.
// Field fault: validation failure of an internal key silently turns dedupe off.
func TestUnusableKeysAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &setup{http: semelhttp.Options{Headers: []string{"Idempotency-Key", "X-Idempotency-Key"}}}, echo)
	refused := map[string]change{
		"two lines":           header("Idempotency-Key", "a", "a"),
		"empty":               header("Idempotency-Key", ""),
		"blank":               header("Idempotency-Key", "  "),
		"list":                header("Idempotency-Key", "a, b"),
		"over-long":           header("Idempotency-Key", strings.Repeat("k", 256)),
		"over-long string":    header("Idempotency-Key", `"`+strings.Repeat("k", 256)+`"`),
		"two different names": header("X-Idempotency-Key", "other"),
	}
	for name, c := range refused {
		t.Run(name, func(t *testing.T) { w.post("b", c).isProblem(t, 400, "invalid-key") })
	}
	w.ran(0)
}

// What the refusal of a bare key lists is all that a bare key may have.
func TestRefusalListsWhatIsAllowed(t *testing.T) {
	t.Parallel()
	_, err := semelhttp.ParseKey([]string{"a,b"}, false)
	_, list, _ := strings.Cut(err.Error(), "digits and ")
	list, _, _ = strings.Cut(list, ", or")
	for c := '!'; c <= '~'; c++ {
		_, err := semelhttp.ParseKey([]string{"a" + string(c)}, false)
		alphanumeric := c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if allowed := err == nil; allowed != (alphanumeric || strings.ContainsRune(list, c)) {
			t.Errorf("%q is allowed: %v; the list is %s", c, allowed, list)
		}
	}
}

func TestKeyFormsThatAreTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &setup{http: semelhttp.Options{Headers: []string{"Idempotency-Key", "X-Idempotency-Key"}}}, echo)
	first := w.post("b")
	quoted := `"` + key1 + `"`
	again := w.post("b", header("Idempotency-Key", quoted))
	replays(t, first, again)
	if got := again.Header.Get("Idempotency-Key"); got != quoted {
		t.Errorf("the key is echoed as %q, want %q as it was sent", got, quoted)
	}
	replays(t, first, w.post("b", header("X-Idempotency-Key", key1)))
	other := w.post("b", header("X-Idempotency-Key", key1), func(r *http.Request) { delete(r.Header, "Idempotency-Key") })
	replays(t, first, other)
	if got := other.Header.Get("Idempotency-Key"); got != key1 {
		t.Errorf("the key is echoed as %q", got)
	}
	longest := strings.Repeat("k", 255)
	w.post("b", header("Idempotency-Key", longest)).is(t, 201, "b")
	w.ran(2)
}

// Field fault: key lower-cased.
func TestKeysDifferByCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, echo)
	w.post("b", header("Idempotency-Key", "k"))
	w.post("b", header("Idempotency-Key", "K"))
	w.ran(2)
}

func TestKeyFormats(t *testing.T) {
	t.Parallel()
	pattern := semelhttp.KeyPattern(regexp.MustCompile(`ord|ord-[0-9]+`))
	tests := []struct {
		name   string
		format func(string) error
		good   []string
		bad    []string
	}{
		{"uuid", semelhttp.KeyUUID, []string{"8e03978e-40d5-43dd-bc93-6894a57f9324", "8E03978E-40D5-43DD-BC93-6894A57F9324"},
			[]string{"8e03978e40d543ddbc936894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f932g", "8e03978e-40d5-43dd-bc93-6894a57f93244", "8e03978e-40d5-43dd-bc93+6894a57f9324", ""}},
		{"ulid", semelhttp.KeyULID, []string{"01ARZ3NDEKTSV4RRFFQ69G5FAV", "01arz3ndektsv4rrffq69g5fav"},
			[]string{"81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAU", "01ARZ3NDEKTSILORFFQ69G5FAV"}},
		{"pattern matches the whole key", pattern, []string{"ord", "ord-12"}, []string{"xord-12", "ord-12x", "ord-", "ord-12\n"}},
	}
	for _, tt := range tests {
		for _, key := range tt.good {
			if err := tt.format(key); err != nil {
				t.Errorf("%s refuses %q: %v", tt.name, key, err)
			}
		}
		for _, key := range tt.bad {
			if tt.format(key) == nil {
				t.Errorf("%s accepts %q", tt.name, key)
			}
		}
	}
	uuid := header("Idempotency-Key", "8e03978e-40d5-43dd-bc93-6894a57f9324")
	w := newWorld(t, &setup{http: semelhttp.Options{KeyFormat: semelhttp.KeyUUID}}, echo)
	w.post("b").isProblem(t, 400, "invalid-key")
	w.post("b", uuid).is(t, 201, "b")
	w.ran(1)
	long := newWorld(t, &setup{http: semelhttp.Options{MinKeyLength: 40}}, echo)
	long.post("b", uuid).isProblem(t, 400, "invalid-key")
	long.ran(0)
}

// Golden: an operator finds the record of a request by principal, route and key.
func TestKeyForFindsTheRecord(t *testing.T) {
	t.Parallel()
	route := func(*http.Request) string { return "charge" }
	w := newWorld(t, &setup{http: semelhttp.Options{PerRoute: route}}, echo)
	w.post("b")
	if got := w.record(alice, "charge", key1).State; got != semel.StateDone {
		t.Errorf("the record is %v", got)
	}
	if got := semelhttp.KeyFor("alice", "", "k").ID(); got != semel.KeyOf(semel.Scope{Principal: "alice"}, "k").ID() {
		t.Errorf("KeyFor is %v", got)
	}
}
