package semeltest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/semel-go/semel/semeltest"
)

// Each accident: how often the target executes, and what the client sees.
func TestAccidents(t *testing.T) {
	t.Parallel()
	var executed atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		executed.Add(1)
		w.Header().Set("X-Seen", r.Header.Get("X-Sent"))
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(append(body, strings.Repeat(".", 10_000)...))
	}))
	defer target.Close()
	proxy, err := semeltest.NewCutProxy(target.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	front := httptest.NewServer(proxy)
	defer front.Close()

	for _, tt := range []struct {
		name     string
		accident semeltest.Accident
		executed int64
		status   int // 0: no answer
		whole    bool
	}{
		{"none", semeltest.None, 1, http.StatusCreated, true},
		{"drop", semeltest.Drop, 0, 0, false},
		{"cut reply", semeltest.CutReply, 1, 0, false},
		{"cut half", semeltest.CutHalf, 1, http.StatusCreated, false},
		{"double", semeltest.Double, 2, http.StatusCreated, true},
	} {
		executed.Store(0)
		proxy.Next(tt.accident)
		status, body, whole := post(t, front.URL)
		if executed.Load() != tt.executed || status != tt.status || whole != tt.whole {
			t.Errorf("%s: executed %d times, answered %d with %d bytes, whole: %t", tt.name, executed.Load(), status, len(body), whole)
		}
		if whole && !strings.HasPrefix(body, "hello") {
			t.Errorf("%s: %.20q", tt.name, body)
		}
	}
	if _, err := semeltest.NewCutProxy("127.0.0.1:1"); err == nil {
		t.Error("a target without a scheme was taken")
	}
}

func post(t *testing.T, url string) (status int, body string, whole bool) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/p?q=1", io.NopCloser(strings.NewReader("hello")))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Sent", "yes")
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return 0, "", false
	}
	defer resp.Body.Close()
	if resp.Header.Get("X-Seen") != "yes" {
		t.Error("headers were lost")
	}
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err == nil
}
