package demo

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Two clicks at once.
func TestDoubleClick(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for side, want := range map[string]struct {
		charges, replays int
		stage            stage
	}{
		sideShop:    {2, 0, stageAgain},
		sideGateway: {1, 1, stageReplayed},
	} {
		l := w.lane(storyDoubleClick, side)
		replays := 0
		for _, a := range w.payTwice(l) {
			if a.status != http.StatusCreated {
				t.Errorf("%s: answered %+v", side, a)
			}
			if a.replayed {
				replays++
			}
		}
		if replays != want.replays {
			t.Errorf("%s: %d replays, want %d", side, replays, want.replays)
		}
		w.check(l, want.charges, want.stage)
	}
}

func (w *world) payTwice(l lane) [2]answer {
	var answers [2]answer
	var both sync.WaitGroup
	for i := range answers {
		both.Go(func() { answers[i] = w.pay(l) })
	}
	both.Wait()
	return answers
}

func TestLostAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, side := range sidesOf(storyLostAnswer) {
		l := w.lane(storyLostAnswer, side)
		if a := w.pay(l, faultHeader, faultLoseAnswer); a.status != 0 {
			t.Errorf("%s: the lost answer arrived: %+v", side, a)
		}
		w.check(l, 1, stageLost)
	}
	bare, guarded := w.lane(storyLostAnswer, sideShop), w.lane(storyLostAnswer, sideGateway)
	if a := w.pay(bare); a.status != http.StatusCreated || a.replayed {
		t.Errorf("bare retry: %+v", a)
	}
	w.check(bare, 2, stageAgain)
	if a := w.pay(guarded); a.status != http.StatusCreated || !a.replayed {
		t.Errorf("guarded retry: %+v", a)
	}
	w.check(guarded, 1, stageReplayed)
}

func TestDeadShopBare(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.lane(storyDeadShop, sideShop)
	if a := w.pay(l, faultHeader, faultDie); a.status != 0 {
		t.Errorf("a dead shop answered: %+v", a)
	}
	if a := w.retry(l); a.status != http.StatusCreated {
		t.Errorf("retry: %+v", a)
	}
	w.check(l, 2, stageAgain)
}

// While the shop is down both sides say so, and nothing is in doubt: nothing was
// sent.
func TestShopIsDown(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, time.Hour)
	w.pay(w.lane(storyDeadShop, sideShop), faultHeader, faultDie)
	for _, side := range sidesOf(storyDoubleClick) {
		l := w.lane(storyDoubleClick, side)
		if a := w.pay(l); a.status != http.StatusBadGateway || a.code != "upstream-unreachable" {
			t.Errorf("%s: %+v", side, a)
		}
		if now := w.lane(l.story, side); now.stage != stageDown {
			t.Errorf("%s: stage %s, want %s", side, now.stage, stageDown)
		}
	}
	if a := w.resolve(w.lane(storyDoubleClick, sideGateway).key); a.status != http.StatusConflict || !strings.Contains(a.body, "released") {
		t.Errorf("a released record was settled: %+v", a)
	}
}

// Field fault: the service dies after the effect. The record stays in doubt until
// the operator has looked; then the retry gets the answer that the shop's books
// give, and the customer was charged once.
func TestDeadShopGuarded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.lane(storyDeadShop, sideGateway)
	if a := w.pay(l, faultHeader, faultDie); a.status != http.StatusGatewayTimeout || a.code != "upstream-no-answer" {
		t.Errorf("first: %+v", a)
	}
	if a := w.pay(l); a.status != http.StatusConflict || a.code != "outcome-unknown" {
		t.Errorf("retry: %+v", a)
	}
	w.awaitShop()
	w.check(l, 1, stageHeld)
	if a := w.resolve(l.key); a.status != http.StatusOK || a.body != `{"happened":true,"charge":1}` {
		t.Errorf("resolve: %+v", a)
	}
	w.check(l, 1, stageSettled)
	a := w.pay(l)
	if a.status != http.StatusCreated || !a.replayed {
		t.Errorf("retry after the decision: %+v", a)
	}
	w.check(l, 1, stageReplayed)
	if again := w.resolve(l.key); again.status != http.StatusConflict || !strings.Contains(again.body, "nothing to settle") {
		t.Errorf("a decided record was decided again: %+v", again)
	}
}

// A doubt behind which the books hold nothing is released, and the retry charges.
func TestNothingInTheBooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.lane(storyDeadShop, sideGateway)
	w.pay(l, faultHeader, faultDie)
	w.awaitShop()
	if _, err := w.ledger.db.Exec("DELETE FROM charges"); err != nil {
		t.Fatal(err)
	}
	if a := w.resolve(l.key); a.body != `{"happened":false}` {
		t.Errorf("resolve: %+v", a)
	}
	if a := w.pay(l); a.status != http.StatusCreated || a.replayed {
		t.Errorf("retry: %+v", a)
	}
	w.check(l, 1, stageFirst)
}

// A browser that sends a cut request again by itself must not charge again: the
// story is about the client's retry.
func TestBrowsersOwnResend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.lane(storyLostAnswer, sideShop)
	for range 3 {
		if a := w.pay(l, faultHeader, faultLoseAnswer, attemptHeader, "1"); a.status != 0 {
			t.Errorf("answered %+v", a)
		}
	}
	w.check(l, 1, stageLost)
	if n := len(w.lane(storyLostAnswer, sideShop).attempts); n != 1 {
		t.Errorf("%d attempts are noted, want 1", n)
	}
}

func TestReset(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.lane(storyDoubleClick, sideGateway)
	w.pay(old)
	if a := w.send("POST", "/reset", ""); a.status != http.StatusNoContent {
		t.Errorf("reset: %+v", a)
	}
	fresh := w.lane(storyDoubleClick, sideGateway)
	if fresh.key == old.key || fresh.order == old.order || fresh.charges != 0 || len(fresh.attempts) != 0 {
		t.Errorf("after a reset: %+v", fresh)
	}
	w.pay(old) // of a tab that was not told yet
	w.check(fresh, 0, stageStart)
}

func (w *world) resolve(key string) answer {
	return w.send("POST", "/operator/resolve", "key="+key, "Content-Type", "application/x-www-form-urlencoded")
}

// awaitShop asks until the shop has come back.
func (w *world) awaitShop() {
	for w.send("GET", "/shop/charges", "").status != http.StatusOK {
	}
}

// A shop that dies for one request cuts the others too, before they charged: the
// page must not say that they did.
func TestStageAfterADeath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a       attempt
		charges int
		want    stage
	}{
		{attempt{fate: fateCut}, 0, stageTooSoon},
		{attempt{fate: fateCut}, 1, stageDied},
		{attempt{fate: fateDelivered, status: 504, code: "upstream-no-answer"}, 0, stageTooSoon},
		{attempt{fate: fateDelivered, status: 504, code: "upstream-no-answer"}, 1, stageDied},
	} {
		if got := stageAfter(c.a, c.charges); got != c.want {
			t.Errorf("%+v after %d charges: %s, want %s", c.a, c.charges, got, c.want)
		}
	}
}

// The answer and its replay, the replay first: the story is at the replay.
func TestReplayOvertakesAnswer(t *testing.T) {
	t.Parallel()
	l := newLane(storyDoubleClick, sideGateway)
	l.attempts, l.charges = make([]attempt, 2), 1
	l.end(1, attempt{fate: fateDelivered, status: 201, replayed: true})
	l.end(0, attempt{fate: fateDelivered, status: 201})
	if l.stage != stageReplayed {
		t.Errorf("stage %s, want %s", l.stage, stageReplayed)
	}
}
