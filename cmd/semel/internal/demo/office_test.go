package demo

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel"
)

// vote votes as the page does.
func (w *world) vote(l lane) answer {
	return w.send("POST", "/"+l.side+"/votes", `{"tea":"`+tea+`"}`, "Authorization", "Bearer "+l.key, "Content-Type", "application/json")
}

// deliver lets the provider deliver a lane's event.
func (w *world) deliver(l lane, header ...string) answer {
	form := url.Values{"side": {l.side}, "event": {l.key}, "order": {l.order}}
	return w.send("POST", "/provider/deliver", form.Encode(), append(header, "Content-Type", "application/x-www-form-urlencoded")...)
}

func (w *world) post(path, body string) answer { return w.send("POST", path, body) }

// checkOffice compares a lane with the office's tables.
func (w *world) checkOffice(l lane, count int, at stage) {
	w.t.Helper()
	if now := w.lane(l.story, l.side); now.charges != count || now.stage != at {
		w.t.Errorf("%s: %d, stage %s; want %d, stage %s", l.id(), now.charges, now.stage, count, at)
	}
	path := "/votes?member="
	if l.story == storyWebhook {
		path = "/parcels?order="
	}
	if a := w.send("GET", "/"+l.side+path+l.order, ""); a.body != fmt.Sprintf(`{"count":%d}`, count) {
		w.t.Errorf("%s: the table says %s, want %d", l.id(), a.body, count)
	}
}

// Field fault: votes are stuffed by a client that sends no key, many at once.
func TestVoteStuffing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const votes = 8
	for side, want := range map[string]struct {
		votes, replays int
		stage          stage
	}{
		sidePlain:   {votes, 0, stageAgain},
		sideLibrary: {1, votes - 1, stageReplayed},
	} {
		l := w.lane(storyVotes, side)
		answers := make([]answer, votes)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = w.vote(l) })
		}
		all.Wait()
		replays := 0
		for _, a := range answers {
			if a.status != http.StatusCreated || !strings.Contains(a.body, l.key) {
				t.Errorf("%s: answered %+v", side, a)
			}
			if a.replayed {
				replays++
			}
		}
		if replays != want.replays {
			t.Errorf("%s: %d replays, want %d", side, replays, want.replays)
		}
		w.checkOffice(l, want.votes, want.stage)
	}
}

// Members and teas are told apart, and the record never expires.
func TestVoteKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ member, tea string }{{"M-A", tea}, {"M-B", tea}, {"M-A", "Longjing"}} {
		if res, err := w.office.countOnce(t.Context(), c.member, c.tea); err != nil || res.Replayed {
			t.Errorf("%v: %+v, %v", c, res, err)
		}
	}
	rec, err := w.office.engine.Store().Read(t.Context(), semel.ReadParams{Key: semel.KeyOf(semel.Scope{Principal: "M-A", Operation: "vote"}, tea).ID()})
	if err != nil || rec.State != semel.StateDone || rec.ExpiresIn != semel.Forever {
		t.Errorf("the record is %+v (%v), want one that is done and stays", rec, err)
	}
	if a := w.send("POST", "/library/votes", `{"tea":"x"}`); a.status != http.StatusUnauthorized {
		t.Errorf("a stranger voted: %+v", a)
	}
}

// Field fault: a webhook comes again because its acknowledgement was lost.
func TestWebhookTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for side, want := range map[string]struct {
		parcels int
		stage   stage
	}{sidePlain: {2, stageAgain}, sideLibrary: {1, stageReplayed}} {
		l := w.lane(storyWebhook, side)
		if a := w.deliver(l, faultHeader, faultLoseAnswer, attemptHeader, side); a.status != http.StatusBadGateway {
			t.Errorf("%s: the provider heard the lost answer: %+v", side, a)
		}
		w.checkOffice(l, 1, stageLost)
		if a := w.deliver(l); a.status != http.StatusNoContent {
			t.Errorf("%s: the second delivery: %+v", side, a)
		}
		w.checkOffice(l, want.parcels, want.stage)
	}
}

// Who knows the id of an event cannot occupy it: both sides ask for the signature.
func TestForgedWebhook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"type":"payment.succeeded","data":{"order":"A-1","amount":29900}}`
	forged := http.Header{}
	newWebhookSecret().sign(forged, "evt_1", time.Now(), []byte(body))
	late := http.Header{}
	w.office.secret.sign(late, "evt_1", time.Now().Add(-tolerance-time.Second), []byte(body))
	for name, h := range map[string]http.Header{"forged": forged, "late": late, "unsigned": {"Webhook-Id": {"evt_1"}}} {
		for _, side := range sidesOf(storyWebhook) {
			var fields []string
			for field := range h {
				fields = append(fields, field, h.Get(field))
			}
			if a := w.send("POST", "/"+side+"/webhooks", body, fields...); a.status != http.StatusUnauthorized {
				t.Errorf("%s, %s: %+v", side, name, a)
			}
		}
	}
	if a := w.send("GET", "/plain/parcels?order=A-1", ""); a.body != `{"count":0}` {
		t.Errorf("parcels were sent: %s", a.body)
	}
}

// The page shows the code that runs.
func TestGuardCode(t *testing.T) {
	t.Parallel()
	for story, want := range map[string]string{storyVotes: "semel.Forever", storyWebhook: `KeyWebhook("standard")`} {
		code := guardCode(story)
		if !strings.HasPrefix(code, "// ") || !strings.Contains(code, want) || strings.Count(code, "\nfunc ") != 1 || !strings.HasSuffix(code, "\n}\n") {
			t.Errorf("%s: the code is %q", story, code)
		}
	}
	if code := guardCode(storyDoubleClick); code != "" {
		t.Errorf("a story of the gateway shows %q", code)
	}
}
