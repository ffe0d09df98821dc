package semelhttp_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semelhttp"
)

func unkeyed(r *http.Request) { r.Header.Del("Idempotency-Key") }

func keys(sources ...semelhttp.KeySource) *setup {
	return &setup{http: semelhttp.Options{Keys: sources}}
}

// keyCase is a body with what may stand at the place of a key.
type keyCase struct {
	name, body, contentType, key string // key "": refused; "-": there is none
}

// check sends the body twice, to a middleware that looks for keys at source.
func (c *keyCase) check(t *testing.T, source semelhttp.KeySource) {
	w := newWorld(t, keys(source), echo)
	send := func() reply { return w.post(c.body, unkeyed, typed(c.contentType)) }
	first := send()
	switch c.key {
	case "":
		first.isProblem(t, 400, "invalid-key")
		w.ran(0)
	case "-":
		first.is(t, 201, c.body)
		send().is(t, 201, c.body)
		w.ran(2)
	default:
		first.is(t, 201, c.body)
		again := send()
		replays(t, first, again)
		if got := w.record(alice, "", c.key).State; got != semel.StateDone {
			t.Errorf("the record of %q is %v", c.key, got)
		}
		if _, echoed := again.Header["Idempotency-Key"]; echoed {
			t.Error("a key of the body was echoed in a header")
		}
	}
}

// What may stand at the place of a key in the body.
//
// Field fault: validation failure of an internal key silently turns dedupe off.
func TestKeyInBody(t *testing.T) {
	t.Parallel()
	tests := []keyCase{
		{"string", `{"event":{"id":"evt_1"}}`, "application/json", "evt_1"},
		{"any text", `{"event":{"id":"\u00e9 \"x\", y"}}`, "application/json", `é "x", y`},
		{"integer", `{"event":{"id":9007199254740993}}`, "application/json", "9007199254740993"},
		{"negative integer", `{"event":{"id":-1}}`, "application/json", "-1"},
		{"no type", `{"event":{"id":"evt_1"}}`, "", "evt_1"},
		{"wrong type", `{"event":{"id":"evt_1"}}`, "text/plain", "evt_1"},
		{"duplicates elsewhere", `{"a":1,"a":2,"event":{"b":1,"b":2,"id":"evt_1"}}`, "application/json", "evt_1"},
		{"deep neighbours", `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `,"event":{"id":"evt_1"}}`, "application/json", "evt_1"},
		{"absent", `{"event":{}}`, "application/json", "-"},
		{"no such parent", `{"event":7}`, "application/json", "-"},
		{"other case", `{"Event":{"id":"evt_1"}}`, "application/json", "-"},
		{"empty body", ``, "application/json", "-"},
		{"form", `event=1`, "application/x-www-form-urlencoded", "-"},
		{"float", `{"event":{"id":1.5}}`, "application/json", ""},
		{"exponent", `{"event":{"id":1e3}}`, "application/json", ""},
		{"minus zero", `{"event":{"id":-0}}`, "application/json", ""},
		{"object", `{"event":{"id":{"id":"evt_1"}}}`, "application/json", ""},
		{"array", `{"event":{"id":["evt_1"]}}`, "application/json", ""},
		{"null", `{"event":{"id":null}}`, "application/json", ""},
		{"true", `{"event":{"id":true}}`, "application/json", ""},
		{"empty", `{"event":{"id":""}}`, "application/json", ""},
		{"blank", `{"event":{"id":" "}}`, "application/json", ""},
		{"half a surrogate pair", `{"event":{"id":"\ud800"}}`, "application/json", ""},
		{"twice", `{"event":{"id":"evt_1","id":"evt_1"}}`, "application/json", ""},
		{"parent twice", `{"event":{"id":"evt_1"},"event":{}}`, "application/json", ""},
		{"parent twice, written otherwise", `{"event":{"id":"evt_1"},"\u0065vent":{}}`, "application/json", ""},
		{"over-long", `{"event":{"id":"` + strings.Repeat("k", 256) + `"}}`, "application/json", ""},
		{"no JSON", `{"event":{"id":"evt_1"}`, "application/json", ""},
		{"no UTF-8", "{\"event\":{\"id\":\"\xff\"}}", "application/json", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.check(t, semelhttp.KeyBody("/event/id"))
		})
	}
}

// A content coding hides the key, which must not mean that there is none.
func TestKeyInEncodedBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, keys(semelhttp.KeyBody("/id")), echo)
	w.post(`{"id":1}`, unkeyed, header("Content-Encoding", "gzip")).isProblem(t, 400, "invalid-key")
	w.ran(0)
}

// Headers count before bodies, bodies in their order; a body without a key, of
// any length, is the handler's as it came.
func TestKeySourcesInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, keys(semelhttp.KeyBody("/items/1/id"), semelhttp.KeyBody("/id"), semelhttp.KeyHeader("X-Key")), echo)
	w.post(`{"id":"second","items":[0,{"id":"first"}]}`)
	w.post(`{"id":"second","items":[0]}`)
	w.post(`{"id":"third"}`, header("X-Key", "header"))
	for _, key := range []string{"first", "second", "header"} {
		if got := w.record(alice, "", key).State; got != semel.StateDone {
			t.Errorf("the record of %q is %v", key, got)
		}
	}
	long := `{"a":"` + strings.Repeat("0123456789", 30_000) + `"}`
	w.post(long).is(t, 201, long)
	w.post("four", header("X-Key", `bad"`)).isProblem(t, 400, "invalid-key")
	required := newWorld(t, &setup{http: semelhttp.Options{RequireKey: true, Keys: []semelhttp.KeySource{semelhttp.KeyBody("/id")}}}, echo)
	required.post(`{}`).isProblem(t, 400, "missing-key")
	required.post(`{"id":1}`, as("")).isProblem(t, 401, "no-principal")
	required.ran(0)
}

// Inbound webhooks: a second delivery gets the first answer.
func TestWebhookSenders(t *testing.T) {
	t.Parallel()
	deliveries := map[string]struct{ header, body string }{
		"standard": {"Webhook-Id", ""}, "svix": {"Svix-Id", ""}, "github": {"X-GitHub-Delivery", ""}, "gitlab": {"Idempotency-Key", ""},
		"gitea": {"X-Gitea-Delivery", ""}, "forgejo": {"X-Forgejo-Delivery", ""}, "jira": {"X-Atlassian-Webhook-Identifier", ""},
		"shopify": {"X-Shopify-Event-Id", ""}, "razorpay": {"X-Razorpay-Event-Id", ""}, "twilio": {"I-Twilio-Idempotency-Token", ""},
		"stripe": {"", `{"id":"evt_1"}`}, "paypal": {"", `{"id":"evt_1"}`}, "square": {"", `{"event_id":"evt_1"}`},
	}
	if n := len(semelhttp.WebhookSenders()); n != len(deliveries) {
		t.Errorf("%d senders, %d deliveries", n, len(deliveries))
	}
	for _, sender := range semelhttp.WebhookSenders() {
		d := deliveries[sender]
		// StrictKeys is about the keys of clients: senders put nothing in quotes.
		w := newWorld(t, &setup{http: semelhttp.Options{StrictKeys: true, Keys: []semelhttp.KeySource{semelhttp.KeyWebhook(sender)}}}, echo)
		changes := []change{unkeyed, typed("application/json")}
		if d.header != "" {
			changes = append(changes, header(d.header, "evt_1"))
		}
		first := w.post(d.body, changes...)
		again := w.post(d.body, changes...)
		replays(t, first, again)
		if d.header != "" && again.Header.Get(d.header) != "" {
			t.Errorf("%s: the id was echoed", sender)
		}
		w.ran(1)
	}
}

// signed is a service whose webhooks are signed with a secret.
func signed(t *testing.T, o semelhttp.Options) (w *world, sign func(body string) change) {
	t.Helper()
	mac := func(body []byte) string {
		m := hmac.New(sha256.New, []byte("canary-secret"))
		m.Write(body)
		return hex.EncodeToString(m.Sum(nil))
	}
	o.Verify = func(r *http.Request, body []byte) error {
		if !hmac.Equal([]byte(r.Header.Get("X-Signature")), []byte(mac(body))) {
			return errors.New("canary: no such signature")
		}
		return nil
	}
	return newWorld(t, &setup{http: o}, echo), func(body string) change { return header("X-Signature", mac([]byte(body))) }
}

// The signature comes before everything else: nothing is stored for a forged
// request, and nothing replayed to it.
//
// Threat: guessing and squatting of keys.
func TestVerify(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 30_000)
	w, sign := signed(t, semelhttp.Options{Keys: []semelhttp.KeySource{semelhttp.KeyWebhook("standard")}, RequireKey: true})
	id := header("Webhook-Id", "evt_1")
	want := problem(401, "invalid-signature", "Signature invalid", "The signature does not belong to the request, or there is none. Nothing was executed and the key is unused.", "fix-request", "", "Www-Authenticate: Bearer\n", "")
	if got := whole(w.post(long, id, sign("other"))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	w.post(long, id).isProblem(t, 401, "invalid-signature")
	w.post(long, header("Webhook-Id", "", "")).isProblem(t, 401, "invalid-signature") // before the key
	w.post(long, as(""), id).isProblem(t, 401, "invalid-signature")                   // and the principal
	if got := w.record(alice, "", "evt_1").State; got != semel.StateNone {
		t.Errorf("the record is %v", got)
	}
	w.ran(0)
	first := w.post(long, id, sign(long))
	first.is(t, 201, long)
	replays(t, first, w.post(long, id, sign(long)))
	w.post(long, id, sign("other")).isProblem(t, 401, "invalid-signature")
	w.post(long, sign(long)).isProblem(t, 400, "missing-key")
	w.post("", id, sign("")).isProblem(t, 422, "key-reused")
	w.ran(1)
}

// Requests without a key are verified too, where keys are optional.
func TestVerifyWithoutKey(t *testing.T) {
	t.Parallel()
	w, sign := signed(t, semelhttp.Options{})
	w.post("b", unkeyed).isProblem(t, 401, "invalid-signature")
	w.post("b", unkeyed, sign("b")).is(t, 201, "b")
	w.do(w.request("GET", "/charges", "")).is(t, 201, "")
	w.ran(2)
}

func TestKeySourcesAreChecked(t *testing.T) {
	t.Parallel()
	store, _ := memstore.New(nil)
	e, _ := semel.New(store, nil)
	_, err := semelhttp.New(e, semelhttp.Global, &semelhttp.Options{
		Headers: []string{"A"},
		Keys: []semelhttp.KeySource{
			semelhttp.KeyHeader("no name"), semelhttp.KeyBody("id"), semelhttp.KeyBody("/a~2"), semelhttp.KeyBody(""), {},
			semelhttp.KeyWebhook("gitlab"), semelhttp.KeyHeader("idempotency-key"), semelhttp.KeyBody("/id"), semelhttp.KeyWebhook("stripe"), semelhttp.KeyWebhook("nobody"),
			semelhttp.KeyPath("{id}"), semelhttp.KeyPath(""), semelhttp.KeyPath("Poll"), semelhttp.KeyPath("Poll"), semelhttp.KeyHeader("poll"),
			semelhttp.KeyForm(""), semelhttp.KeyForm("key"), semelhttp.KeyForm("key"), semelhttp.KeyHeader("key"),
		},
	})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"Headers and Keys both", `"no name" is no header name`, `"id" is no JSON pointer`, `"/a~2" is no JSON pointer`, "names the whole body", "a source is empty",
		`"Idempotency-Key" stands there twice`, `"/id" stands there twice`, `"nobody" is no known sender`, "standard, svix",
		`"{id}" is no name of a wildcard`, `"" is no name of a wildcard`, `"{Poll}" stands there twice`, "set RequireKey", "a field of a form needs a name", `"key=" stands there twice`,
	} {
		if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) {
			t.Errorf("nothing about %q in:\n%v", want, err)
		}
	}
}

// Whatever the body, the search for the key ends, and the handler gets the body as
// it came or not at all.
func FuzzKeyPointer(f *testing.F) {
	for _, body := range []string{`{"a":{"b":"k"}}`, `{"a":[1,{"b":2}]}`, `[[[`, `{"a":1,"a":2}`, `"x"`, `{"a":{"b":"\ud800"}}`, "{\"\xff\":1}"} {
		f.Add(body)
	}
	store, _ := memstore.New(nil)
	e, _ := semel.New(store, nil)
	once, err := semelhttp.New(e, semelhttp.Global, &semelhttp.Options{Keys: []semelhttp.KeySource{semelhttp.KeyBody("/a/b")}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got := ""
		h := once(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			got = string(b)
		}))
		r, _ := http.NewRequest("POST", "/", strings.NewReader(body))
		out := &discard{h: make(http.Header)}
		h.ServeHTTP(out, r)
		if got != "" && got != body {
			t.Errorf("the handler got %q", got)
		}
		refused := slices.Equal(out.h["Content-Type"], []string{"application/problem+json"})
		if refused && got != "" {
			t.Error("refused and run")
		}
	})
}

// A request without a key is told where the key belongs.
func TestMissingKeyNamesItsPlace(t *testing.T) {
	t.Parallel()
	body, form, path := semelhttp.KeyBody("/id"), semelhttp.KeyForm("order_id"), semelhttp.KeyPath("poll")
	tests := []struct {
		keys []semelhttp.KeySource
		want string
	}{
		{[]semelhttp.KeySource{semelhttp.KeyHeader("X-Key"), form}, "in the key header"},
		{[]semelhttp.KeySource{form}, "send it in the form field order_id."},
		{[]semelhttp.KeySource{body, form}, "send it at /id of the JSON body, or in the form field order_id."},
		{[]semelhttp.KeySource{path}, "send it in the path, at {poll}."},
		{[]semelhttp.KeySource{semelhttp.KeyWebhook("github")}, "send it in the header X-Github-Delivery."},
		{[]semelhttp.KeySource{semelhttp.KeyWebhook("stripe")}, "send it at /id of the JSON body."},
	}
	for _, tt := range tests {
		w := newWorld(t, &setup{http: semelhttp.Options{RequireKey: true, Keys: tt.keys}}, echo)
		a := w.post(`{}`)
		a.isProblem(t, 400, "missing-key")
		if !strings.Contains(a.body, tt.want) {
			t.Errorf("got %s, want %q", a.body, tt.want)
		}
		w.ran(0)
	}
}
