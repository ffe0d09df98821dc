package semelhttp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// A new key after every answer; the same one while there is none, or the outcome is
// not known.
func TestIntentKeepsTheKeyUntilThereIsAnAnswer(t *testing.T) {
	t.Parallel()
	keep := map[string]func() (*http.Response, error){
		"no answer":            lost,
		"401":                  withStatus(401),
		"429":                  withStatus(429),
		"500":                  withStatus(500),
		"501":                  withStatus(501),
		"503":                  withStatus(503),
		"502":                  withStatus(502),
		"504":                  withStatus(504),
		"in-progress":          problemAnswer(semelhttp.CodeInProgress),
		"no-principal":         problemAnswer(semelhttp.CodeNoPrincipal),
		"store-unavailable":    problemAnswer(semelhttp.CodeStoreUnavailable),
		"upstream-unreachable": problemAnswer(semelhttp.CodeUpstreamUnreachable),
		"outcome-unknown":      problemAnswer(semelhttp.CodeOutcomeUnknown),
		"upstream-no-answer":   problemAnswer(semelhttp.CodeUpstreamNoAnswer),
		"an unknown 500":       problemAnswer("unknown"),
	}
	renew := map[string]func() (*http.Response, error){
		"200":                withStatus(200),
		"303":                withStatus(303),
		"400":                withStatus(400),
		"402":                withStatus(402),
		"409":                withStatus(409),
		"422":                withStatus(422),
		"recorded 500":       withStatus(500, "Idempotent-Replayed", "true"),
		"recorded 502":       withStatus(502, "Idempotent-Replayed", "true"),
		"recorded 503":       withStatus(503, "Idempotent-Replayed", "true"),
		"key-reused":         problemAnswer(semelhttp.CodeKeyReused),
		"invalid-key":        problemAnswer(semelhttp.CodeInvalidKey),
		"result-unavailable": problemAnswer(semelhttp.CodeResultUnavailable),
	}
	check := func(name string, what func() (*http.Response, error), same bool) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client, w := intentClient(t, what)
				var intent semelhttp.Intent
				for range 2 {
					resp, err := intent.Do(client, chargeOf(t, "ten"))
					if err == nil {
						resp.Body.Close()
					}
				}
				if first, second := w.sent[0].key(), w.sent[1].key(); first == "" || (first == second) != same {
					t.Errorf("keys %q and %q, want the same: %v", first, second, same)
				}
				resp, err := what() // told by hand
				var byHand semelhttp.Intent
				key := byHand.Key([]byte("ten"))
				byHand.Settle(key, resp, err)
				if again := byHand.Key([]byte("ten")); (key == again) != same {
					t.Errorf("settled by hand: keys %q and %q, want the same: %v", key, again, same)
				}
			})
		})
	}
	for name, what := range keep {
		check(name, what, true)
	}
	for name, what := range renew {
		check(name, what, false)
	}
}

// A handler panics after its effect, under AtMostOnce, and a layer outside makes a 500
// of that. Whoever presses the button again has no second effect, and is told.
func TestIntentDoesNotRepeatWhatIsInDoubt(t *testing.T) {
	t.Parallel()
	var rc recoverer
	w := newWorld(t, &setup{outer: rc.wrap, http: semelhttp.Options{Policy: semel.AtMostOnce}}, func(http.ResponseWriter, *http.Request) { panic("after the effect") })
	client, err := semelhttp.NewClient(w.srv.Client(), fastRetries())
	if err != nil {
		t.Fatal(err)
	}
	var intent semelhttp.Intent
	for i := range 3 {
		resp, err := intent.Do(client, w.toward(w.srv.URL, "ten"))
		switch {
		case i == 0 && err == nil:
			read(resp).is(t, 500, "recovered")
		case i == 0 || !errors.Is(err, semelhttp.ErrOutcomeUnknown):
			t.Errorf("submit %d: got %v", i, err)
		}
	}
	w.ran(1)
}

// intentClient sends each request once, so that the test repeats it.
func intentClient(t *testing.T, what func() (*http.Response, error)) (*semelhttp.Client, *link) {
	t.Helper()
	w := &link{answer: inTurn(what)}
	client, err := semelhttp.NewClient(&http.Client{Transport: w}, &semelhttp.TransportOptions{SingleTry: true})
	if err != nil {
		t.Fatal(err)
	}
	return client, w
}

// Field fault: a user corrects a rejected form and meets 422 for ever. Other
// content, another address or another method is another operation.
func TestIntentRenewsTheKeyWhenTheContentChanges(t *testing.T) {
	t.Parallel()
	client, w := intentClient(t, lost)
	var intent semelhttp.Intent
	send := func(method, url, body string) string {
		req, _ := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if _, err := intent.Do(client, req); err == nil {
			t.Fatal("got an answer")
		}
		return w.sent[len(w.sent)-1].key()
	}
	first := send("POST", "http://pay.test/charges", "ten")
	if again := send("POST", "http://pay.test/charges", "ten"); again != first {
		t.Error("the same content has another key")
	}
	seen := map[string]bool{first: true}
	for _, r := range [][3]string{{"POST", "http://pay.test/charges", "eleven"}, {"POST", "http://pay.test/charges?x=1", "eleven"}, {"PUT", "http://pay.test/charges?x=1", "eleven"}} {
		key := send(r[0], r[1], r[2])
		if seen[key] {
			t.Errorf("%v was sent with a key that had been used", r)
		}
		seen[key] = true
	}
}

// A late answer to what the user has changed since does not touch the new key.
func TestIntentIgnoresLateAnswers(t *testing.T) {
	t.Parallel()
	var intent semelhttp.Intent
	old := intent.Key([]byte("ten"))
	current := intent.Key([]byte("eleven"))
	intent.Settle(old, answerOf(201, ""), nil)
	if got := intent.Key([]byte("eleven")); got != current {
		t.Error("the late answer ended the key of the new content")
	}
}

// A double click is one operation.
func TestIntentIsOneKeyForAll(t *testing.T) {
	t.Parallel()
	var intent semelhttp.Intent
	var keys sync.Map
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { keys.Store(intent.Key([]byte("ten")), true) })
	}
	all.Wait()
	n := 0
	keys.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("50 clicks had %d keys", n)
	}
}

func TestIntentRefusesASecondKey(t *testing.T) {
	t.Parallel()
	client, w := intentClient(t, lost)
	var intent semelhttp.Intent
	req := chargeOf(t, "ten")
	req.Header.Set("Idempotency-Key", "mine")
	if _, err := intent.Do(client, req); err == nil || len(w.sent) != 0 {
		t.Errorf("got %v, sent %v", err, w.sent)
	}
}

// A cancelled request is one without an answer.
func TestIntentAfterCancel(t *testing.T) {
	t.Parallel()
	var intent semelhttp.Intent
	key := intent.Key(nil)
	intent.Settle(key, nil, fmt.Errorf("post: %w", context.Canceled))
	if intent.Key(nil) != key {
		t.Error("the key changed")
	}
	intent.Settle(key, nil, errors.Join(&semelhttp.ProblemError{Code: semelhttp.CodeKeyReused, Status: 422, Retry: semelhttp.RetryFixRequest}))
	if intent.Key(nil) == key {
		t.Error("the key stayed after key-reused")
	}
}
