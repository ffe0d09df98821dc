package semelhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/onetime"
	"github.com/semel-go/semel/semelhttp"
	"github.com/semel-go/semel/semeltest"
)

// Field fault: token consumed by a submit that failed validation, user locked out. Not
// by a limit of attempts either.
func TestRefusedFormGetsItsTokenBack(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, &setup{engine: semel.Options{MaxAttempts: 2}}, placed)
	token := f.token()
	for range 5 {
		f.submit(token, "").is(t, 422, "choose a tea\n")
	}
	first, again := f.submit(token, "green"), f.submit(token, "green")
	replays(t, first, again)
	if first.StatusCode != 303 {
		t.Errorf("the corrected form got %d %s", first.StatusCode, first.body)
	}
	f.ran(6)
}

// A page that shows its mistakes with 200 says itself that nothing was done.
func TestHandlerGivesTheTokenBack(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, nil, func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("tea") == "" {
			semelhttp.Decide(r.Context(), semel.Retryable(errors.New("no tea")))
			io.WriteString(w, "choose a tea")
			return
		}
		placed(w, r)
	})
	token := f.token()
	f.submit(token, "").is(t, 200, "choose a tea")
	if a := f.submit(token, "green"); a.StatusCode != 303 || a.replayed() {
		t.Errorf("the corrected form got %d %s", a.StatusCode, a.body)
	}
}

// A refusal that is meant for good is recorded like a success.
func TestHandlerKeepsARefusal(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, nil, func(w http.ResponseWriter, r *http.Request) {
		semelhttp.Decide(r.Context(), semel.Final(errors.New("sold out")))
		http.Error(w, "sold out", http.StatusConflict)
	})
	token := f.token()
	replays(t, f.submit(token, "green"), f.submit(token, "green"))
	f.submit(token, "black").isProblem(t, 409, "token-used")
	f.ran(1)
}

// Field fault: back button re-sends another form with a used token, silently swallowed.
func TestAnotherFormWithAUsedToken(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, nil, placed)
	token := f.token()
	f.submit(token, "green")
	f.submit(token, "black").isProblem(t, 409, "token-used")
	f.submit(token, "green", header("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")).is(t, 303, "") // the same
	r := f.request("POST", "/other", url.Values{"form_token": {token}, "tea": {"green"}}.Encode(), unkeyed, header("Content-Type", "application/x-www-form-urlencoded"))
	f.do(r).isProblem(t, 409, "token-used") // another address is another form
	f.ran(1)
}

// The same where the answer was too large to be kept.
func TestAnotherFormAfterATombstone(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, &setup{http: semelhttp.Options{MaxResponseBody: 10}}, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.Repeat("leaf", 10))
	})
	token := f.token()
	f.submit(token, "green")
	a := f.submit(token, "green")
	a.isProblem(t, 409, "result-unavailable")
	if !strings.Contains(a.body, `"original_status":200`) {
		t.Errorf("the status is lost: %s", a.body)
	}
	f.submit(token, "black").isProblem(t, 409, "token-used")
	f.ran(1)
}

// Field fault: check then delete in two steps, two submits pass.
func TestManySubmitsAtOnce(t *testing.T) {
	t.Parallel()
	begun, release := make(chan struct{}), make(chan struct{})
	f := newFormWorld(t, &setup{http: semelhttp.Options{Wait: 10 * time.Second}}, func(w http.ResponseWriter, r *http.Request) {
		close(begun) // a second run would panic
		<-release
		placed(w, r)
	})
	token := f.token()
	var first, replayed, busy atomic.Int64
	submit := func() {
		switch a := f.submit(token, "green"); {
		case a.StatusCode == 303 && a.replayed():
			replayed.Add(1)
		case a.StatusCode == 303:
			first.Add(1)
		case strings.Contains(a.body, `"code":"in-progress"`): // more than may wait
			busy.Add(1)
		default:
			t.Errorf("got %d %s", a.StatusCode, a.body)
		}
	}
	var group sync.WaitGroup
	group.Go(submit)
	<-begun
	for range 64 {
		group.Go(submit)
	}
	close(release)
	group.Wait()
	if first.Load() != 1 || replayed.Load()+busy.Load() != 64 || replayed.Load() == 0 {
		t.Errorf("%d first answers, %d replays, %d in progress", first.Load(), replayed.Load(), busy.Load())
	}
	f.ran(1)
}

// No oracle: whatever is wrong with a token, the answer has the same bytes.
func TestRefusedTokensGetTheSameAnswer(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, nil, placed)
	token, used := f.token(), f.token()
	f.submit(used, "green")
	elsewhere, _, err := issuerOf(t, 2, f.clock).Issue("order", alice)
	if err != nil {
		t.Fatal(err)
	}
	refund, _, err := f.issuer.Issue("refund", alice)
	if err != nil {
		t.Fatal(err)
	}
	expired := f.token()
	want := f.submit("forged", "green")
	want.isProblem(t, 403, "token-refused")
	plain := func(a reply) string {
		h := a.Header.Clone()
		h.Del("Date")
		return fmt.Sprint(a.StatusCode, h, a.body)
	}
	check := func(what string, a reply) {
		t.Helper()
		if plain(a) != plain(want) {
			t.Errorf("%s: got %s, want %s", what, plain(a), plain(want))
		}
	}
	check("another user", f.submit(token, "green", as(bob)))
	check("another purpose", f.submit(refund, "green"))
	check("another secret", f.submit(elsewhere, "green"))
	check("used, another user", f.submit(used, "green", as(bob)))
	check("empty", f.submit("", "green"))
	check("too long", f.submit(strings.Repeat("A", 10_000), "green"))
	check("two fields", f.urlencoded("tea=green&form_token="+token+"&form_token="+token))
	check("two lines", f.submit(token, "green", header("Form-Token", token, token)))
	check("an empty line", f.submit(token, "green", header("Form-Token", "")))
	check("a value that cannot be decoded", f.urlencoded("tea=green&form_token=%zz"))
	check("two parts", f.twoParts(token))
	f.clock.Advance(2 * time.Hour)
	check("expired, another user", f.submit(expired, "green", as(bob)))
	f.ran(1)
}

// twoParts sends the token twice, in parts.
func (f *formWorld) twoParts(token string) reply {
	part := "--b\r\nContent-Disposition: form-data; name=\"form_token\"\r\n\r\n" + token + "\r\n"
	return f.post(part+part+"--b--\r\n", unkeyed, header("Content-Type", "multipart/form-data; boundary=b"))
}

func TestExpiredTokens(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, nil, placed)
	unused, returned, used := f.token(), f.token(), f.token()
	f.submit(returned, "")
	first := f.submit(used, "green")
	f.clock.Advance(time.Hour)
	f.submit(unused, "green").isProblem(t, 403, "token-expired")
	f.submit(returned, "green").isProblem(t, 403, "token-expired")
	// A user whose answer got lost is not told that nothing was done.
	replays(t, first, f.submit(used, "green"))
	f.submit(used, "black").isProblem(t, 409, "token-used")
	f.ran(2)
	f.store.bend(func(s *faultStore) { s.read = semel.ErrStoreUnavailable })
	f.submit(unused, "green").isProblem(t, 503, "store-unavailable")
}

// The record outlives its token, whatever the engine's retention: or the token could be
// used again.
func TestRecordOutlivesItsToken(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, &setup{engine: semel.Options{Retention: time.Minute}}, placed)
	token := f.token()
	first := f.submit(token, "green")
	f.store.ahead.Add(int64(50 * time.Minute))
	replays(t, first, f.submit(token, "green"))
	f.store.ahead.Add(int64(100 * time.Minute))
	replays(t, first, f.submit(token, "green"))
	f.ran(1)
}

func TestFormsWithoutAToken(t *testing.T) {
	t.Parallel()
	required := newFormWorld(t, &setup{http: semelhttp.Options{RequireKey: true}}, placed)
	a := required.urlencoded("tea=green")
	a.isProblem(t, 400, "missing-key")
	if !strings.Contains(a.body, "the token of its form") {
		t.Errorf("the problem does not name the fix: %s", a.body)
	}
	required.submit(required.token(), "green", header("X-User")).isProblem(t, 401, "no-principal")
	required.ran(0)
	optional := newFormWorld(t, nil, placed)
	for range 2 {
		optional.urlencoded("tea=green").is(t, 303, "")
	}
	optional.post(`{"tea":1}`, header("Content-Type", "application/json")) // a key is none here
	optional.ran(3)
}

// A form whose token cannot be looked for is refused, also where tokens are optional.
func TestUnreadableForms(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, nil, placed)
	for what, a := range map[string]reply{
		"coded":       f.urlencoded("x", header("Content-Encoding", "gzip")),
		"cut":         f.post("--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n", unkeyed, header("Content-Type", "multipart/form-data; boundary=b")),
		"no boundary": f.post("x", unkeyed, header("Content-Type", "multipart/form-data")),
	} {
		if a.StatusCode != 400 || !strings.Contains(a.body, "invalid-key") {
			t.Errorf("%s: got %d %s", what, a.StatusCode, a.body)
		}
	}
	f.ran(0)
}

// Where both are taken a token counts before a key, and each alone counts as ever.
func TestTokensBesideKeys(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, &setup{http: semelhttp.Options{Keys: []semelhttp.KeySource{semelhttp.KeyHeader("Idempotency-Key"), semelhttp.KeyBody("/id")}, RequireKey: true}}, placed)
	keyed := func(r *http.Request) { r.Header.Set("Idempotency-Key", key1) }
	token := f.token()
	first := f.submit(token, "green", keyed)
	replays(t, first, f.submit(token, "green"))
	f.ran(1)
	alone := f.urlencoded("tea=green", keyed)
	replays(t, alone, f.urlencoded("tea=green", keyed))
	if got := alone.Header.Get("Idempotency-Key"); got != "" {
		t.Errorf("a first answer echoes %q", got)
	}
	f.urlencoded("tea=black", keyed).isProblem(t, 422, "key-reused")
	inBody := func() reply { return f.post(`{"id":"canary-1"}`, unkeyed, header("Content-Type", "application/json")) }
	inBody()
	inBody()
	f.ran(3) // the JSON has no tea; under a key a refusal is recorded
}

// Nothing of a token stays in the memory that the next request uses.
func TestTokenIsForgottenWithItsRequest(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, &setup{http: semelhttp.Options{Keys: []semelhttp.KeySource{semelhttp.KeyHeader("Idempotency-Key")}}}, placed)
	for i := range 20 {
		f.submit(f.token(), "green")
		name := fmt.Sprint("canary-", i)
		f.urlencoded("tea=green", header("Idempotency-Key", name))
		resp, err := semelhttp.DecodeResponse(f.record(alice, "", name).Result)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range resp.Header {
			if pair.Name == "Semel-Content" {
				t.Fatalf("the record under a key has the content of a token: %v", resp.Header)
			}
		}
	}
}

// What a crash leaves, by the policy.
func TestFormAfterACrash(t *testing.T) {
	t.Parallel()
	for policy, want := range map[semel.Policy]string{semel.AtLeastOnce: "", semel.AtMostOnce: "outcome-unknown"} {
		var crashed atomic.Bool
		f := newFormWorld(t, &setup{http: semelhttp.Options{Policy: policy}}, func(w http.ResponseWriter, r *http.Request) {
			if crashed.CompareAndSwap(false, true) {
				panic(http.ErrAbortHandler)
			}
			placed(w, r)
		})
		token := f.token()
		f.breaks(url.Values{"form_token": {token}, "tea": {"green"}}.Encode(), unkeyed, header("Content-Type", "application/x-www-form-urlencoded"))
		a := f.submit(token, "black") // corrected
		if want == "" && a.StatusCode != 303 || want != "" && !strings.Contains(a.body, want) {
			t.Errorf("%v: got %d %s", policy, a.StatusCode, a.body)
		}
	}
}

// A run that lost its record to another content's is told so, and its own answer is not
// sent.
func TestFencedFormIsTold(t *testing.T) {
	t.Parallel()
	var f *formWorld
	var token string
	var runs atomic.Int64
	f = newFormWorld(t, nil, func(w http.ResponseWriter, r *http.Request) {
		if runs.Add(1) == 1 {
			f.store.lapse()
			if a := f.submit(token, "black"); a.StatusCode != 303 {
				t.Errorf("the other got %d %s", a.StatusCode, a.body)
			}
		}
		placed(w, r)
	})
	token = f.token()
	f.submit(token, "green").isProblem(t, 409, "token-used")
}

// Streams are spent tokens, too.
func TestStreamedFormAnswer(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, nil, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "pouring ")
		w.(http.Flusher).Flush()
		io.WriteString(w, r.FormValue("tea"))
	})
	token := f.token()
	replays(t, f.submit(token, "green"), f.submit(token, "green"))
	f.submit(token, "black").isProblem(t, 409, "token-used")
}

// In a transaction: a refused form rolls back and gives the token back.
func TestFormInATransaction(t *testing.T) {
	t.Parallel()
	clock := semeltest.NewClock()
	issuer := issuerOf(t, 1, clock)
	s := newCounter(t, &semelhttp.Options{Keys: []semelhttp.KeySource{formsOf(t, issuer, nil).Key("order")}, RequireKey: true}, func(w http.ResponseWriter, r *http.Request) {
		put(r.Context(), "order of "+r.FormValue("tea"))
		placed(w, r)
	})
	token, _, err := issuer.Issue("order", alice)
	if err != nil {
		t.Fatal(err)
	}
	submit := func(token, tea string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/orders", strings.NewReader(url.Values{"form_token": {token}, "tea": {tea}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("X-User", alice)
		w := httptest.NewRecorder()
		s.whole.ServeHTTP(w, r)
		return w
	}
	for _, step := range []struct {
		tea    string
		status int
	}{{"", 422}, {"", 422}, {"green", 303}, {"green", 303}, {"black", 409}} {
		if w := submit(token, step.tea); w.Code != step.status {
			t.Errorf("%q: got %d %s, want %d", step.tea, w.Code, w.Body, step.status)
		}
	}
	if s.runs != 3 || len(s.rows) != 1 || s.rows[0] != "order of green" {
		t.Errorf("%d runs, rows %q", s.runs, s.rows)
	}
	late, _, err := issuer.Issue("order", alice)
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(2 * time.Hour)
	if w := submit(late, "green"); w.Code != 403 || !strings.Contains(w.Body.String(), "token-expired") {
		t.Errorf("expired: got %d %s", w.Code, w.Body)
	}
}

// Observed forms are refused nothing, and counted as a guard would answer.
func TestObservedForms(t *testing.T) {
	t.Parallel()
	would, finished := make(chan semelhttp.Code, 1), make(chan semel.FinishParams, 1)
	f := newFormWorld(t, &setup{http: semelhttp.Options{RequireKey: true, Observe: true, OnObserved: func(_ string, code semelhttp.Code) { would <- code }}}, placed)
	f.store.bend(func(s *faultStore) { s.finished = finished })
	token, unused := f.token(), f.token()
	f.submit(token, "green").is(t, 303, "")
	<-finished
	for _, step := range []struct {
		token, tea string
		want       semelhttp.Code
	}{
		{"forged", "green", "token-refused"},
		{token, "green", semelhttp.ObservedReplay},
		{token, "black", "token-used"},
	} {
		f.submit(step.token, step.tea).is(t, 303, "")
		if got := <-would; got != step.want {
			t.Errorf("%q with %.6s…: told %s, want %s", step.tea, step.token, got, step.want)
		}
	}
	f.urlencoded("tea=green").is(t, 303, "")
	if got := <-would; got != "missing-key" {
		t.Errorf("told %s, want missing-key", got)
	}
	f.clock.Advance(2 * time.Hour)
	for token, want := range map[string]semelhttp.Code{token: semelhttp.ObservedReplay, unused: "token-expired"} {
		f.submit(token, "green").is(t, 303, "")
		if got := <-would; got != want {
			t.Errorf("expired: told %s, want %s", got, want)
		}
	}
}

// Services that spend tokens themselves answer as the middleware does.
func TestProblemOfTokens(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]semelhttp.Code{
		onetime.ErrRefused:                           "token-refused",
		onetime.ErrExpired:                           "token-expired",
		&onetime.ContentChangedError{}:               "token-used",
		fmt.Errorf("submit: %w", onetime.ErrRefused): "token-refused",
		errors.Join(&onetime.ContentChangedError{}, &semel.FinalError{}): "token-used",
	} {
		if p, ok := semelhttp.ProblemOf(err); !ok || p.Code != want || p.Retry != semelhttp.RetryNewKey || p.RetryAfter != 0 {
			t.Errorf("%v: got %+v, want %s", err, p, want)
		}
	}
}

// An operator's answer to a record in doubt is for whoever sends the form again.
func TestDecidedFormIsReplayed(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, &setup{http: semelhttp.Options{Policy: semel.AtMostOnce}}, func(w http.ResponseWriter, r *http.Request) {
		semelhttp.Decide(r.Context(), semel.InDoubt(errors.New("no answer from the bank")))
		http.Error(w, "later", http.StatusGatewayTimeout)
	})
	token := f.token()
	f.submit(token, "green")
	f.submit(token, "green").isProblem(t, 409, "outcome-unknown")
	v, err := f.issuer.Verify(token, "order", alice)
	if err != nil {
		t.Fatal(err)
	}
	id := v.Key().ID()
	rec, err := f.store.Read(t.Context(), semel.ReadParams{Key: id})
	if err != nil || rec.State != semel.StateInDoubt {
		t.Fatal(rec.State, err)
	}
	_, err = f.store.Resolve(context.WithoutCancel(t.Context()), semel.ResolveParams{
		Key: id, Token: semel.NewToken(), Fence: rec.Fence, Resolution: semel.ResolveDone, Retention: time.Hour,
		Result: semelhttp.EncodeResponse(semelhttp.Response{Status: 200, Body: []byte("booked")}),
	})
	if err != nil {
		t.Fatal(err)
	}
	f.submit(token, "green").is(t, 200, "booked")
}
