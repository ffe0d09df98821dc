package demo

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel/semelhttp"
)

// Every trial ends as it is told: with its status, code and charges, and with a
// Retry-After exactly where sending the same request again helps.
func TestTrials(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, Options{CardTime: 10 * time.Millisecond, Wait: time.Second})
	for _, g := range trialGroups() {
		for _, trial := range g.trials {
			w.post("/trials/"+trial.id, "")
			r, _ := w.lab.last(trial.id)
			if !r.asWanted {
				t.Errorf("%s ended as %+v, want %+v:\n%s", trial.id, r.end(), trial.want, r.last().got)
			}
			if x := r.last(); (x.problem.Retry == semelhttp.RetrySameKey) != (x.retryAfter != "") || x.problem.Code != "" && x.problem.Detail == "" {
				t.Errorf("%s: Retry-After %q beside %+v", trial.id, x.retryAfter, x.problem)
			}
		}
	}
}

// What the gateway sends to the page is shown, and said to be unexpected where it
// is not what the page's sentence is about.
func TestTrialIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.post("/trials/two-lines", "")
	page := w.send("GET", "/?lang=en", "").body
	for _, want := range []string{"invalid-key", "retry: fix-request", "charges in the shop’s table: 0", "Which one counts?", "HTTP/1.1 400 Bad Request"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	w.lab.runs["two-lines"].asWanted = false
	if page := w.send("GET", "/?lang=en", "").body; strings.Contains(page, "Which one counts?") || !strings.Contains(page, "not what the gateway should answer") {
		t.Error("an answer that should not be is explained as if it should")
	}
	if w.post("/reset", ""); strings.Contains(w.send("GET", "/?lang=en", "").body, "HTTP/1.1 400 Bad Request") {
		t.Error("a reset leaves the answer")
	}
	if a := w.post("/trials/nothing", ""); a.status != http.StatusNotFound {
		t.Errorf("an unknown trial: %+v", a)
	}
}

// What a visitor writes goes out as it is, but for the ends of lines and the
// length that they asked for.
func TestOwnRequest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]message{
		ownDraftOf("{length}"):    {text: strings.ReplaceAll(ownDraftOf("4"), "\n", "\r\n")},
		ownDraftOf("9"):           {text: strings.ReplaceAll(ownDraftOf("9"), "\n", "\r\n"), hangUp: true},
		"GET / HTTP/1.1\nHost: a": {text: "GET / HTTP/1.1\r\nHost: a\r\n\r\n"},
	} {
		if got := ownRequest(text).send(names{})[0]; got != want {
			t.Errorf("%q became %+v, want %+v", text, got, want)
		}
	}
	w := newWorld(t)
	draft := ownDraft()
	for i, replayed := range []bool{false, true} {
		w.post("/trials/own", draft)
		if r, _ := w.lab.last(ownTrial); r.last().status != http.StatusCreated || r.last().replayed != replayed {
			t.Errorf("sent %d times: %+v", i+1, r.last())
		}
	}
}

func ownDraftOf(length string) string {
	return "POST /charges HTTP/1.1\nContent-Length: " + length + "\n\nbody"
}

// A gateway that answers otherwise than it should is not explained as if it did, and
// a run that was under way at a reset is not noted.
func TestUnexpectedAnswer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", anyPort)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	none := func(context.Context, string) (int, int64, error) { return 0, 0, nil }
	l := newLab(listener.Addr().String(), none, newBell())
	for _, reset := range []bool{false, true} {
		var done sync.WaitGroup
		done.Go(func() { l.try(t.Context(), l.trials["no-key"]) })
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if reset {
			l.reset()
		}
		conn.Close()
		done.Wait()
		if r, begun := l.last("no-key"); begun == reset || r.asWanted {
			t.Errorf("reset %t: %+v, %t", reset, r, begun)
		}
	}
}

// A server that says nothing, or no HTTP, is no answer.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", anyPort)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for _, said := range []string{"", "SSH-2.0\r\n"} {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Write([]byte(said))
			conn.Close()
		}
	}()
	for range 2 {
		if x := converse(t.Context(), listener.Addr().String(), message{text: "GET / HTTP/1.1\r\n\r\n"}); x.status != 0 {
			t.Errorf("took %q for an answer", x.got)
		}
	}
	listener.Close()
	if x := converse(t.Context(), listener.Addr().String(), message{}); x.status != 0 || x.got != "" {
		t.Errorf("nobody answered %q", x.got)
	}
}
