package optimistic

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

func request(method, match, noneMatch string) *http.Request {
	r := httptest.NewRequest(method, "/doc", nil)
	if match != "" {
		r.Header.Set("If-Match", match)
	}
	if noneMatch != "" {
		r.Header.Set("If-None-Match", noneMatch)
	}
	return r
}

func TestCheck(t *testing.T) {
	t.Parallel()
	strong, weak := ETagOf(3), ETag{Tag: "3", Weak: true}
	for _, c := range []struct {
		name, method, match, none string
		current                   ETag
		exists                    bool
		want                      error
	}{
		{"nothing asked", "PUT", "", "", strong, true, nil},
		{"the same", "PUT", `"3"`, "", strong, true, nil},
		{"one of several", "PUT", `"2", "3"`, "", strong, true, nil},
		{"another one", "PUT", `"2"`, "", strong, true, ErrPreconditionFailed},
		{"a weak one of the client", "PUT", `W/"3"`, "", strong, true, ErrPreconditionFailed},
		{"a weak one of the server", "PUT", `"3"`, "", weak, true, ErrPreconditionFailed},
		{"both weak", "PUT", `W/"3"`, "", weak, true, ErrPreconditionFailed},
		{"any", "PUT", "*", "", strong, true, nil},
		{"any, but there is none", "PUT", "*", "", ETag{}, false, ErrPreconditionFailed},
		{"a tag, but there is none", "PUT", `"3"`, "", ETag{}, false, ErrPreconditionFailed},
		{"an empty tag, but there is none", "PUT", `""`, "", ETag{}, false, ErrPreconditionFailed},
		{"also for a read", "GET", `"2"`, "", strong, true, ErrPreconditionFailed},
		{"an empty list", "PUT", ",", "", strong, true, ErrPreconditionFailed},
		{"create", "PUT", "", "*", ETag{}, false, nil},
		{"create what is there", "PUT", "", "*", strong, true, ErrPreconditionFailed},
		{"the client has it", "GET", "", `"3"`, strong, true, ErrNotModified},
		{"the client has it, HEAD", "HEAD", "", `"3"`, strong, true, ErrNotModified},
		{"weak is enough here", "GET", "", `W/"3"`, strong, true, ErrNotModified},
		{"the client has any", "GET", "", "*", strong, true, ErrNotModified},
		{"the client has an older one", "GET", "", `"2"`, strong, true, nil},
		{"not this one", "DELETE", "", `"3"`, strong, true, ErrPreconditionFailed},
		{"If-Match goes first", "GET", `"2"`, `"3"`, strong, true, ErrPreconditionFailed},
		{"both hold", "GET", `"3"`, `"2"`, strong, true, nil},
		{"both, the second fails", "GET", `"3"`, `"3"`, strong, true, ErrNotModified},
	} {
		p, err := PreconditionsOf(request(c.method, c.match, c.none).Header)
		if err == nil {
			err = p.Check(c.method, c.current, c.exists)
		}
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v; want %v", c.name, err, c.want)
		}
	}
	for _, r := range []*http.Request{request("PUT", "3", ""), request("PUT", "", "3"), request("PUT", `"3"`, `*, "3"`)} {
		if p, err := PreconditionsOf(r.Header); !errors.Is(err, ErrInvalidPrecondition) || p.Match.Present {
			t.Errorf("%v: %+v, %v; want it refused", r.Header, p, err)
		}
	}
}

func TestRequired(t *testing.T) {
	t.Parallel()
	h := Required(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for _, c := range []struct {
		method, match, none string
		want                int
	}{
		{"GET", "", "", 204}, {"POST", "", "", 204}, {"GET", "broken", "", 204},
		{"PUT", "", "", 428}, {"PATCH", "", "", 428}, {"DELETE", "", "", 428},
		{"PUT", `"3"`, "", 204}, {"PUT", "*", "", 204}, {"PUT", "", "*", 204},
		{"PUT", "", `"3"`, 428}, // says what it has not seen
		{"PUT", "3", "", 400}, {"PUT", "", "3", 400},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request(c.method, c.match, c.none))
		if w.Code != c.want {
			t.Errorf("%s %q %q: %d; want %d", c.method, c.match, c.none, w.Code, c.want)
		}
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, match string
		err         error
		status      int // 0: not answered
		code, retry string
	}{
		{"nil", "", nil, 0, "", ""},
		{"another error", `"3"`, errors.New("no"), 0, "", ""},
		{"conflict", `"3"`, &ConflictError{Seen: 3, Current: 4}, 412, "precondition-failed", "new-key"},
		{"failed", `"3"`, ErrPreconditionFailed, 412, "precondition-failed", "new-key"},
		{"deleted meanwhile", `"3"`, ErrMissing, 412, "precondition-failed", "new-key"},
		{"missing", "", ErrMissing, 0, "", ""},
		{"required", "", ErrPreconditionRequired, 428, "precondition-required", "fix-request"},
		{"invalid", "3", ErrInvalidPrecondition, 400, "invalid-precondition", "fix-request"},
		{"not modified", "", ErrNotModified, 304, "", ""},
	} {
		w := httptest.NewRecorder()
		w.Header().Set("ETag", `"3"`)
		if got := Answer(w, request("PUT", c.match, ""), c.err); got != (c.status != 0) {
			t.Errorf("%s: answered %v", c.name, got)
		}
		if c.status == 0 {
			if w.Body.Len() != 0 {
				t.Errorf("%s: wrote %q", c.name, w.Body)
			}
			continue
		}
		if w.Code != c.status {
			t.Errorf("%s: %d; want %d", c.name, w.Code, c.status)
		}
		if c.status == http.StatusNotModified {
			if w.Body.Len() != 0 || w.Header().Get("ETag") != `"3"` {
				t.Errorf("%s: body %q, ETag %q", c.name, w.Body, w.Header().Get("ETag"))
			}
			continue
		}
		var body struct {
			Type, Code, Retry, Title, Detail string
			Status                           int
		}
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		if body.Type != ProblemBase+"#"+c.code || body.Code != c.code || body.Retry != c.retry || body.Status != c.status || body.Title == "" || body.Detail == "" ||
			w.Header().Get("Content-Type") != "application/problem+json" || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Retry-After") != "" {
			t.Errorf("%s: %+v %v", c.name, body, w.Header())
		}
	}
}
