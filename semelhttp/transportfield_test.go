package semelhttp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/semel-go/semel/semelhttp"
)

// The key goes into the body in front of the other members; every other byte
// stays. It is the same in each try, and in no header.
func TestTransportPutsTheKeyIntoTheBody(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"amount":10.00,"amount2":1e2}`:        `{"idempotency_key":"k-1","amount":10.00,"amount2":1e2}`,
		"\n { \"a\" : {\"idempotency_key\":1}}": "\n {\"idempotency_key\":\"k-1\", \"a\" : {\"idempotency_key\":1}}",
		`{}`:                                    `{"idempotency_key":"k-1"}`,
		"{ \n}\n":                               "{\"idempotency_key\":\"k-1\" \n}\n",
		`{"IDEMPOTENCY_KEY":"other"}`:           `{"idempotency_key":"k-1","IDEMPOTENCY_KEY":"other"}`,
		`{"a":1,"idempotency_key":"k-1"}`:       `{"a":1,"idempotency_key":"k-1"}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &link{answer: inTurn(lost, withStatus(200))}
			req := chargeOf(t, in)
			req = req.WithContext(semelhttp.WithKey(req.Context(), "k-1"))
			resp, err := newTransport(t, w, &semelhttp.TransportOptions{Preset: presetOf(t, "square")}).RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range w.sent {
				if s.body != want || s.length != int64(len(want)) || len(s.header) != 0 {
					t.Errorf("%q was sent as %q (length %d, header %v), want %q", in, s.body, s.length, s.header, want)
				}
			}
			if key := semelhttp.SentKey(resp); key != "k-1" {
				t.Errorf("SentKey is %q", key)
			}
		})
	}
}

func TestTransportTakesTheKeyFromTheBody(t *testing.T) {
	t.Parallel()
	w := &link{answer: inTurn(withStatus(200))}
	resp, err := newTransport(t, w, &semelhttp.TransportOptions{Preset: presetOf(t, "square")}).RoundTrip(chargeOf(t, `{"idempotency_key":"mine"}`))
	if err != nil || semelhttp.SentKey(resp) != "mine" || w.sent[0].body != `{"idempotency_key":"mine"}` {
		t.Errorf("sent %v, %v", w.sent, err)
	}
}

func TestTransportRefusesBodiesWithoutRoomForAKey(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, header string }{
		"no body":        {"", ""},
		"array":          {`[1]`, ""},
		"string":         {`"a"`, ""},
		"no JSON":        {`{"a":`, ""},
		"two values":     {`{} {}`, ""},
		"number as key":  {`{"idempotency_key":1}`, ""},
		"null as key":    {`{"idempotency_key":null}`, ""},
		"empty key":      {`{"idempotency_key":""}`, ""},
		"key twice":      {`{"idempotency_key":"a","idempotency_key":"a"}`, ""},
		"escaped twice":  {`{"idempotency_key":"a","idempotency_ke\u0079":"b"}`, ""},
		"too long a key": {`{"idempotency_key":"` + strings.Repeat("k", 46) + `"}`, ""},
		"other key":      {`{"idempotency_key":"k-2"}`, ""},
		"digest":         {`{}`, "Content-Digest"},
		"coding":         {`{}`, "Content-Encoding"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &link{answer: inTurn(withStatus(200))}
			req := chargeOf(t, c.body)
			if name == "other key" {
				req = req.WithContext(semelhttp.WithKey(req.Context(), "k-1"))
			}
			if c.header != "" {
				req.Header.Set(c.header, "x")
			}
			if _, err := newTransport(t, w, &semelhttp.TransportOptions{Preset: presetOf(t, "square")}).RoundTrip(req); err == nil || len(w.sent) != 0 {
				t.Errorf("got %v and sent %v, want a refusal", err, w.sent)
			}
		})
	}
}

// Whatever body is accepted: it decodes as before, but for the key.
func FuzzKeyInBody(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,{"idempotency_key":2}]}`, " {\"a\" :1 } ", `{"idempotency_key":"x"}`, `[]`, `{"\u0061":1}`} {
		f.Add(seed)
	}
	opts := &semelhttp.TransportOptions{SingleTry: true}
	opts.Preset, _ = semelhttp.FindPreset("square")
	f.Fuzz(func(t *testing.T, body string) {
		w := &link{answer: inTurn(withStatus(200))}
		tr := newTransport(t, w, opts)
		req, _ := http.NewRequest("POST", "http://pay.test/", strings.NewReader(body))
		resp, err := tr.RoundTrip(req)
		if err != nil {
			return
		}
		var before, after map[string]json.RawMessage
		if json.Unmarshal([]byte(body), &before) != nil || json.Unmarshal([]byte(w.sent[0].body), &after) != nil {
			t.Fatalf("%q was sent as %q", body, w.sent[0].body)
		}
		var key string
		if json.Unmarshal(after["idempotency_key"], &key); key != semelhttp.SentKey(resp) {
			t.Errorf("%q was sent as %q, the key is %q", body, w.sent[0].body, semelhttp.SentKey(resp))
		}
		delete(before, "idempotency_key")
		delete(after, "idempotency_key")
		if len(before) != len(after) {
			t.Errorf("%q was sent as %q", body, w.sent[0].body)
		}
		if pad := len(w.sent[0].body) - len(body); pad > 0 && !strings.HasSuffix(w.sent[0].body, body[strings.IndexByte(body, '{')+1:]) {
			t.Errorf("%q was sent as %q: other bytes changed", body, w.sent[0].body)
		}
	})
}
