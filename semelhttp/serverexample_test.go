package semelhttp_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semelhttp"
)

// counted is a handler that says how often it ran, guarded as o says.
func counted(o *semelhttp.Options) http.Handler {
	runs := 0
	store, err := memstore.New(nil)
	if err != nil {
		return failed(err)
	}
	engine, err := semel.New(store, nil)
	if err != nil {
		return failed(err)
	}
	once, err := semelhttp.New(engine, semelhttp.Global, o)
	if err != nil {
		return failed(err)
	}
	return once(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		runs++
		fmt.Fprintf(w, "run %d", runs)
	}))
}

func failed(err error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	})
}

// send prints what a JSON request is answered with.
func send(h http.Handler, body string, headers ...string) {
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	out := httptest.NewRecorder()
	h.ServeHTTP(out, r)
	text := out.Body.String()
	var problem struct{ Code string }
	if json.Unmarshal(out.Body.Bytes(), &problem) == nil {
		text = problem.Code
	}
	fmt.Println(out.Code, text)
}

func ExampleKeyWebhook() {
	sign := func(body []byte) string {
		mac := hmac.New(sha256.New, []byte("whsec"))
		mac.Write(body)
		return hex.EncodeToString(mac.Sum(nil))
	}
	verifySignature := func(r *http.Request, body []byte) error {
		if !hmac.Equal([]byte(r.Header.Get("X-Signature")), []byte(sign(body))) {
			return errors.New("no such signature")
		}
		return nil
	}
	o := &semelhttp.Options{
		Keys:       []semelhttp.KeySource{semelhttp.KeyWebhook("stripe")}, // the event's id, in the body
		RequireKey: true,
		Verify:     verifySignature,
		// What the sender changes between two attempts is not the event.
		JSON: &semelhttp.JSONFingerprint{Ignore: []string{"/pending_webhooks"}},
	}
	h := counted(o)

	first, second := `{"id":"evt_1","pending_webhooks":2}`, `{"id":"evt_1","pending_webhooks":1}`
	send(h, first, "X-Signature", "forged")
	send(h, first, "X-Signature", sign([]byte(first)))
	send(h, second, "X-Signature", sign([]byte(second)))
	// Output:
	// 401 invalid-signature
	// 200 run 1
	// 200 run 1
}

func ExampleKeyBody() {
	h := counted(&semelhttp.Options{Keys: []semelhttp.KeySource{semelhttp.KeyBody("/payment/reference")}})
	send(h, `{"payment":{"reference":"A-17","amount":10}}`)
	send(h, `{"payment":{"reference":"A-17","amount":10}}`)
	send(h, `{"payment":{"reference":"A-17","amount":20}}`)
	// Output:
	// 200 run 1
	// 200 run 1
	// 422 key-reused
}

func ExampleJSONFingerprint() {
	h := counted(&semelhttp.Options{JSON: &semelhttp.JSONFingerprint{}})
	send(h, `{"amount":10,"to":"bob"}`, "Idempotency-Key", "k")
	send(h, `{"to": "bob", "amount": 10.0}`, "Idempotency-Key", "k")
	send(h, `{"to":"bob","amount":10,"amount":99}`, "Idempotency-Key", "k")
	// Output:
	// 200 run 1
	// 200 run 1
	// 400 ambiguous-body
}

func ExampleDerivedKey() {
	h := counted(&semelhttp.Options{Derived: &semelhttp.DerivedKey{Window: 10 * time.Second, Reject: true}})
	send(h, `{"vote":"yes"}`)
	send(h, `{"vote":"yes"}`)
	send(h, `{"vote":"no"}`)
	send(h, `{"vote":"yes"}`, "Idempotency-Key", "meant") // an intent of its own
	// Output:
	// 200 run 1
	// 409 duplicate-content
	// 200 run 2
	// 200 run 3
}

func ExampleOptions_observe() {
	h := counted(&semelhttp.Options{
		Observe:    true,
		OnObserved: func(route string, would semelhttp.Code) { fmt.Println("a guard would answer", route, "with", would) },
	})
	send(h, `{}`, "Idempotency-Key", "two words")
	// Output:
	// a guard would answer POST with invalid-key
	// 200 run 1
}

func ExampleNewCORS() {
	cors, err := semelhttp.NewCORS(semelhttp.CORSOptions{Origins: []string{"https://shop.example"}, Credentials: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	h := cors(counted(nil))
	r := httptest.NewRequest("OPTIONS", "/charges", nil)
	r.Header.Set("Origin", "https://shop.example")
	r.Header.Set("Access-Control-Request-Method", "POST")
	out := httptest.NewRecorder()
	h.ServeHTTP(out, r)
	fmt.Println(out.Code, out.Header().Get("Access-Control-Allow-Origin"), out.Header().Get("Access-Control-Allow-Headers"))
	// Output: 204 https://shop.example Idempotency-Key
}

func ExampleOpenAPIFragment() {
	fragment, err := semelhttp.OpenAPIFragment(semelhttp.OpenAPIRoute{
		Method: "POST", Path: "/charges", Options: &semelhttp.Options{RequireKey: true, Retention: 72 * time.Hour},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(string(fragment)) {
		if strings.Contains(line, `"description": "Names`) {
			fmt.Print(strings.TrimSpace(line))
		}
	}
	// Output: "description": "Names the operation: a new value, such as a UUID, for each one, and the same in every retry; 1 to 255 characters, bare or in double quotes (a String of RFC 9651). The answer is kept for at least 3 days and sent again for the same key.",
}
