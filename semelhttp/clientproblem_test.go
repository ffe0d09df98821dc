package semelhttp_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel/semelhttp"
)

// Each code as the server writes it becomes a ProblemError that says the same,
// matches its sentinel and no other, and leaves the body to be read.
func TestCheckResponseKnowsEachCode(t *testing.T) {
	t.Parallel()
	sentinels := []error{
		semelhttp.ErrInProgress, semelhttp.ErrOutcomeUnknown, semelhttp.ErrKeyReused, semelhttp.ErrResultUnavailable,
		semelhttp.ErrDuplicateContent, semelhttp.ErrErased, semelhttp.ErrNotExecuted,
	}
	for code, sentinel := range map[semelhttp.Code]error{
		semelhttp.CodeMissingKey:          nil,
		semelhttp.CodeInvalidKey:          nil,
		semelhttp.CodeIncompleteBody:      semelhttp.ErrNotExecuted,
		semelhttp.CodeNoPrincipal:         nil,
		semelhttp.CodeReplayForbidden:     nil,
		semelhttp.CodePayloadTooLarge:     nil,
		semelhttp.CodeKeyReused:           semelhttp.ErrKeyReused,
		semelhttp.CodeDuplicateContent:    semelhttp.ErrDuplicateContent,
		semelhttp.CodeInProgress:          semelhttp.ErrInProgress,
		semelhttp.CodeOutcomeUnknown:      semelhttp.ErrOutcomeUnknown,
		semelhttp.CodeResultUnavailable:   semelhttp.ErrResultUnavailable,
		semelhttp.CodeErased:              semelhttp.ErrErased,
		semelhttp.CodeOverloaded:          semelhttp.ErrNotExecuted,
		semelhttp.CodeStoreUnavailable:    semelhttp.ErrNotExecuted,
		semelhttp.CodeUpstreamUnreachable: semelhttp.ErrNotExecuted,
		semelhttp.CodeUpstreamNoAnswer:    semelhttp.ErrOutcomeUnknown,
	} {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			want := semelhttp.NewProblem(code)
			want.RetryAfter, want.OriginalStatus = 3*time.Second, 201
			resp, _ := problemWith(want)()
			err := semelhttp.CheckResponse(resp)
			p, ok := errors.AsType[*semelhttp.ProblemError](err)
			if !ok {
				t.Fatalf("got %v, want a ProblemError", err)
			}
			if p.Code != code || p.Status != want.Status || p.Retry != want.Retry || p.RetryAfter != 3*time.Second ||
				p.Title != want.Title || p.Detail != want.Detail || p.OriginalStatus != 201 {
				t.Errorf("got %+v, want %+v", *p, want)
			}
			for _, s := range sentinels {
				if errors.Is(err, s) != (s == sentinel) {
					t.Errorf("errors.Is(%v, %v) is %v", err, s, s != sentinel)
				}
			}
			if body, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(body), `"code":"`+string(code)+`"`) {
				t.Errorf("the body is %q, %v afterwards", body, err)
			}
		})
	}
}

// An operation's own answer is no problem, however much it looks like one.
func TestCheckResponseLeavesAnswersAlone(t *testing.T) {
	t.Parallel()
	const real = `{"code":"in-progress","retry":"same-key"}`
	const media = "application/problem+json"
	for name, resp := range map[string]*http.Response{
		"200":              answerOf(200, real, "Content-Type", media),
		"plain 409":        answerOf(409, "conflict", "Content-Type", "text/plain"),
		"JSON 409":         answerOf(409, real, "Content-Type", "application/json"),
		"no code":          answerOf(409, `{"retry":"same-key"}`, "Content-Type", media),
		"no retry":         answerOf(409, `{"code":"in-progress"}`, "Content-Type", media),
		"unknown retry":    answerOf(409, `{"code":"in-progress","retry":"at once"}`, "Content-Type", media),
		"other types":      answerOf(409, `{"code":7,"retry":[]}`, "Content-Type", media),
		"no JSON":          answerOf(409, `{"code":`, "Content-Type", media),
		"recorded":         answerOf(409, real, "Content-Type", media, "Idempotent-Replayed", "true"),
		"no media type":    answerOf(409, real),
		"unparseable type": answerOf(409, real, "Content-Type", ";;"),
		"endless":          answerOf(409, `{"code":"in-progress","retry":"same-key","x":"`+strings.Repeat("x", 1<<17)+`"}`, "Content-Type", media),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := semelhttp.CheckResponse(resp); err != nil {
				t.Errorf("got %v", err)
			}
			if body, err := io.ReadAll(resp.Body); err != nil || int64(len(body)) != resp.ContentLength {
				t.Errorf("%d bytes of %d are left, %v", len(body), resp.ContentLength, err)
			}
		})
	}
}

// A body that breaks off is no problem, and breaks off for the caller too.
func TestCheckResponseKeepsTheBodysError(t *testing.T) {
	t.Parallel()
	resp := answerOf(409, "", "Content-Type", "application/problem+json")
	resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"co`), &brokenOnce{err: io.ErrUnexpectedEOF}))
	if err := semelhttp.CheckResponse(resp); err != nil {
		t.Error(err)
	}
	if body, err := io.ReadAll(resp.Body); string(body) != `{"co` || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("read %q, %v", body, err)
	}
}

// brokenOnce tells its error once, and then that it has ended.
type brokenOnce struct{ err error }

func (b *brokenOnce) Read([]byte) (int, error) {
	err := b.err
	b.err = io.EOF
	return 0, err
}

// A client gets an error, with the key, and not the layer's answer.
func TestClientReturnsProblemsAsErrors(t *testing.T) {
	t.Parallel()
	closed := &oneWay{}
	w := &link{answer: func(int, *http.Request) (*http.Response, error) {
		resp, err := problemAnswer(semelhttp.CodeOutcomeUnknown)()
		closed.Reader = resp.Body
		resp.Body = closed
		return resp, err
	}}
	client, err := semelhttp.NewClient(&http.Client{Transport: w}, &semelhttp.TransportOptions{MaxAnswer: 1}) // so that it is not read before
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(chargeOf(t, "ten"))
	p, ok := errors.AsType[*semelhttp.ProblemError](err)
	if resp != nil || !ok || !errors.Is(err, semelhttp.ErrOutcomeUnknown) || p.Key != w.sent[0].key() || !closed.closed {
		t.Errorf("got %v, %v, body closed %v", resp, err, closed.closed)
	}
	if strings.Contains(err.Error(), p.Key) {
		t.Errorf("the error tells the key: %v", err)
	}
}

func TestFindPreset(t *testing.T) {
	t.Parallel()
	if p := presetOf(t, "stripe"); p.Header != "Idempotency-Key" || p.MaxLength != 255 || p.Retention != 24*time.Hour {
		t.Errorf("stripe is %+v", p)
	}
	if _, err := semelhttp.FindPreset("strype"); err == nil || !strings.Contains(err.Error(), "stripe, adyen") {
		t.Errorf("got %v, want an error with the names", err)
	}
}

// Each preset names its source, makes a transport, and takes the keys that are
// made; no two have the same name.
func TestPresets(t *testing.T) {
	t.Parallel()
	var names []string
	for _, p := range semelhttp.Presets() {
		if p.Docs == "" || p.Name == "" || len(p.Methods) == 0 || slices.Contains(names, p.Name) {
			t.Errorf("%+v lacks a name of its own, methods or a source", p)
		}
		names = append(names, p.Name)
		w := &link{answer: inTurn(withStatus(200))}
		if _, err := newTransport(t, w, &semelhttp.TransportOptions{Preset: p}).RoundTrip(chargeOf(t, `{}`)); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		s := w.sent[0]
		if key := s.header.Get(p.Header); p.Header != "" && (strings.HasPrefix(key, `"`) != p.Quoted || key == "") {
			t.Errorf("%s: the key was sent as %q", p.Name, key)
		}
		if p.BodyField != "" && !strings.HasPrefix(s.body, `{"`+p.BodyField+`":"`) {
			t.Errorf("%s: sent %q", p.Name, s.body)
		}
	}
}

func TestPresetsRefuseKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ preset, key string }{
		{"adyen", strings.Repeat("k", 65)},
		{"square", strings.Repeat("k", 46)},
		{"razorpayx", "abc"},
		{"razorpayx", "a.b.c.d"},
		{"mangopay", "order-17"},
		{"mangopay", "order_17_17_17_17"},
		{"wise", "order-17"},
		{"stripe", " k"},
	} {
		w := &link{answer: inTurn(withStatus(200))}
		req := chargeOf(t, `{}`)
		req = req.WithContext(semelhttp.WithKey(req.Context(), c.key))
		_, err := newTransport(t, w, &semelhttp.TransportOptions{Preset: presetOf(t, c.preset)}).RoundTrip(req)
		if err == nil || len(w.sent) != 0 || strings.Contains(err.Error(), c.key+" ") {
			t.Errorf("%s took %q: %v", c.preset, c.key, err)
		}
	}
}
