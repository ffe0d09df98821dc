package semelhttp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

func typed(contentType string) change { return header("Content-Type", contentType) }

func keyed(key string) change { return header("Idempotency-Key", key) }

// What a JSON body says counts, and not how it says it.
//
// Field faults: float64 canonicalisation makes 9007199254740993 equal …992 and the
// last duplicate member wins.
func TestJSONFingerprint(t *testing.T) {
	t.Parallel()
	const first = `{"amount": 10, "ids": [1, 2], "big": 9007199254740993, "sent_at": "now", "name": "é"}`
	tests := []struct {
		name, body, contentType string
		same                    bool
	}{
		{"order and space", `{"name":"\u00e9","big":9007199254740993,"ids":[1,2],"amount":1e1,"sent_at":"now"}`, "application/json", true},
		{"ignored member", `{"amount": 10, "ids": [1, 2], "big": 9007199254740993, "sent_at": "later", "name": "é"}`, "application/json", true},
		{"parameter of the type", first, "application/json; charset=utf-8", true},
		{"neighbour of a big integer", strings.Replace(first, "993", "992", 1), "application/json", false},
		{"order of elements", strings.Replace(first, "1, 2", "2, 1", 1), "application/json", false},
		{"number and string", strings.Replace(first, "10", `"10"`, 1), "application/json", false},
		{"another type", first, "application/x+json", false},
		{"invalid", first + "}", "application/json", false},
	}
	w := newWorld(t, &setup{http: semelhttp.Options{JSON: &semelhttp.JSONFingerprint{Ignore: []string{"/sent_at"}}}}, echo)
	original := w.post(first, typed("application/json"))
	for _, tt := range tests {
		again := w.post(tt.body, typed(tt.contentType))
		if tt.same {
			replays(t, original, again)
		} else if again.isProblem(t, 422, "key-reused"); t.Failed() {
			t.Fatal(tt.name)
		}
	}
	w.ran(1)
}

// Threat: payloads that differ but digest alike: duplicate JSON members.
func TestAmbiguousBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &setup{http: semelhttp.Options{JSON: &semelhttp.JSONFingerprint{}}}, echo)
	const twice = `{"a":{"canary":1,"canary":2}}`
	got := whole(w.post(twice, typed("application/json")))
	want := problem(400, "ambiguous-body", "Request body ambiguous", "The JSON body has two members of the same name in one object (case does not count): send each once. Nothing was executed and the key is unused.", "fix-request", "", "", "")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	w.ran(0)
	w.state(semel.StateNone)
	w.post(`{"a":1}`, typed("application/json")).is(t, 201, `{"a":1}`) // the key is unused
	w.post(twice, typed("text/plain"), keyed("text")).is(t, 201, twice)
	w.post(twice, typed("application/json"), func(r *http.Request) { r.Header.Del("Idempotency-Key") }).is(t, 201, twice)
}

// Where JSON is not what it says, or too large, or encoded, the bytes count.
func TestJSONFallsBackToBytes(t *testing.T) {
	t.Parallel()
	large := func(pad string) string {
		return `{"a":` + pad + `"` + strings.Repeat("x", 1<<20) + `"}`
	}
	tests := map[string]struct{ first, other, coding string }{
		"no JSON":   {`{"a":1`, `{"a": 1`, ""},
		"two texts": {`{} {}`, `{}  {}`, ""},
		"not UTF-8": {"\"\xff\"", "\"\xfe\"", ""},
		"large":     {large(""), large(" "), ""},
		"encoded":   {`{"a":1}`, `{"a": 1}`, "br"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &setup{http: semelhttp.Options{JSON: &semelhttp.JSONFingerprint{}}}, func(rw http.ResponseWriter, r *http.Request) { rw.WriteHeader(201) })
			changes := []change{typed("application/json")}
			if tt.coding != "" {
				changes = append(changes, header("Content-Encoding", tt.coding))
			}
			first := w.post(tt.first, changes...)
			first.is(t, 201, "")
			replays(t, first, w.post(tt.first, changes...))
			w.post(tt.other, changes...).isProblem(t, 422, "key-reused")
		})
	}
}

// A body of many blocks is the handler's, byte for byte, after it was digested in
// one piece; one nested 10,000 deep does no harm.
func TestJSONBodyReachesTheHandler(t *testing.T) {
	t.Parallel()
	budget := semelhttp.NewBodyBudget(64 << 20)
	w := newWorld(t, &setup{http: semelhttp.Options{JSON: &semelhttp.JSONFingerprint{}, BodyBudget: budget}}, echo)
	for name, body := range map[string]string{
		"long": `{"a":"` + strings.Repeat("0123456789", 30_000) + `"}`,
		"deep": strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
	} {
		first := w.post(body, typed("application/json"), keyed(name))
		first.is(t, 201, body)
		replays(t, first, w.post(" "+body, typed("application/json"), keyed(name)))
	}
	w.srv.Close()
	if n := budget.InUse(); n != 0 {
		t.Errorf("%d bytes of the budget are lost", n)
	}
}

// Two versions of a service side by side on one store, while the rule changes: the
// old one knows what the new one writes, and the new one what the old one wrote.
//
// Field fault: key format changed by an upgrade orphans everything in flight.
func TestFormerFingerprints(t *testing.T) {
	t.Parallel()
	raw, canonical := (*semelhttp.JSONFingerprint)(nil), &semelhttp.JSONFingerprint{}
	narrow := &semelhttp.JSONFingerprint{Ignore: []string{"/sent_at"}}
	changes := []struct {
		name     string
		old, new *semelhttp.JSONFingerprint
	}{{"to JSON", raw, canonical}, {"to a selection", canonical, narrow}, {"back to bytes", narrow, raw}}
	for _, tt := range changes {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			old := newWorld(t, &setup{http: semelhttp.Options{JSON: tt.old, FormerFingerprints: []*semelhttp.JSONFingerprint{tt.new}}}, echo)
			beside := newWorld(t, &setup{on: old.store, http: semelhttp.Options{JSON: tt.new, FormerFingerprints: []*semelhttp.JSONFingerprint{tt.old}}}, echo)
			for key, order := range map[string][2]*world{"old-first": {old, beside}, "new-first": {beside, old}} {
				body := `{"sent_at":1,"b":"` + key + `"}`
				first := order[0].post(body, typed("application/json"), keyed(key))
				replays(t, first, order[1].post(body, typed("application/json"), keyed(key)))
				order[1].post(`{"b":"other"}`, typed("application/json"), keyed(key)).isProblem(t, 422, "key-reused")
			}
			old.ran(1)
			beside.ran(1)
		})
	}
}

// What a former rule ignores is not compared while it is listed, also where the new
// rule made the record of a request that had none of it; afterwards it is.
func TestFormerRuleIgnoresAsLongAsItIsListed(t *testing.T) {
	t.Parallel()
	all, narrow := &semelhttp.JSONFingerprint{}, &semelhttp.JSONFingerprint{Ignore: []string{"/tip"}}
	listed := newWorld(t, &setup{http: semelhttp.Options{JSON: all, FormerFingerprints: []*semelhttp.JSONFingerprint{narrow}}}, echo)
	dropped := newWorld(t, &setup{on: listed.store, http: semelhttp.Options{JSON: all}}, echo)
	first := listed.post(`{"b":1}`, typed("application/json"))
	replays(t, first, listed.post(`{"b":1,"tip":5}`, typed("application/json")))
	dropped.post(`{"b":1,"tip":5}`, typed("application/json")).isProblem(t, 422, "key-reused")
}

// A body that only the former rule refuses has no record under it.
func TestFormerRuleThatRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &setup{http: semelhttp.Options{FormerFingerprints: []*semelhttp.JSONFingerprint{{}}}}, echo)
	first := w.post(`{"a":1,"a":2}`, typed("application/json"))
	first.is(t, 201, `{"a":1,"a":2}`)
	replays(t, first, w.post(`{"a":1,"a":2}`, typed("application/json")))
}
