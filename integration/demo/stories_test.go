package demo

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The demo as a visitor sees it: the bare shop charges each click and each
// retry; behind the gateway the customer is charged once.
func TestStoriesInBrowser(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := open(t, d.url+"/?lang=en")
	b.shots("start")
	doubleClick(t, b)
	lostAnswer(t, b)
	deadShop(t, b)
	b.shots("end")
	startOver(t, b)
	b.do(chromedp.Navigate(d.url + "/?lang=zh"))
	b.click("#double-click-gateway [data-pay]")
	b.settled("double-click-gateway", 1)
	b.shots("chinese")
	b.checkConsole()
	d.interrupt()
}

func doubleClick(t *testing.T, b *browser) {
	for _, side := range []string{"shop", "gateway"} {
		b.click("#double-click-" + side + " [data-pay]")
		b.click("#double-click-" + side + " [data-pay]")
	}
	bare := b.settled("double-click-shop", 2)
	check(t, "double click, bare", bare, "2", "201", "201")
	guarded := b.settled("double-click-gateway", 2)
	check(t, "double click, guarded", guarded, "1", "201", "201")
	if !slices.Contains(guarded.Reasons, "Idempotent-Replayed: true") || !strings.Contains(guarded.Header, "Idempotent-Replayed: true") {
		t.Errorf("no replay is shown: %+v", guarded)
	}
}

// A cut answer must reach the client as a cut, once: a browser that resends by
// itself would add an attempt.
func lostAnswer(t *testing.T, b *browser) {
	b.click("[data-story=lost-answer] [data-both]")
	check(t, "lost answer, bare", b.settled("lost-answer-shop", 2), "2", "none", "201")
	guarded := b.settled("lost-answer-gateway", 2)
	check(t, "lost answer, guarded", guarded, "1", "none", "201")
	if guarded.Reasons[1] != "Idempotent-Replayed: true" {
		t.Errorf("the retry was not a replay: %+v", guarded)
	}
}

func deadShop(t *testing.T, b *browser) {
	b.click("[data-story=dead-shop] [data-both]")
	check(t, "dead shop, bare", b.settled("dead-shop-shop", 2), "2", "none", "201")
	held := b.settled("dead-shop-gateway", 2)
	check(t, "dead shop, guarded", held, "1", "504", "409")
	if !slices.Equal(held.Reasons, []string{"upstream-no-answer", "outcome-unknown"}) {
		t.Errorf("the doubt is not shown: %+v", held)
	}
	b.shots("doubt")
	b.click("#dead-shop-gateway [data-resolve]")
	b.await(`document.querySelector("#dead-shop-gateway [data-resolve]").hidden`)
	if settled := b.lane("dead-shop-gateway"); !strings.Contains(settled.Note, "The operator found charge no.") {
		t.Errorf("the decision is not told: %+v", settled)
	}
	b.click("#dead-shop-gateway [data-pay]")
	replayed := b.settled("dead-shop-gateway", 3)
	check(t, "dead shop, settled", replayed, "1", "504", "409", "201")
	if replayed.Reasons[2] != "Idempotent-Replayed: true" {
		t.Errorf("the settled answer was not replayed: %+v", replayed)
	}
}

func startOver(t *testing.T, b *browser) {
	b.click("#reset")
	b.await(`[...document.querySelectorAll("[data-part=number]")].every((n) => n.innerText === "0")`)
	b.click("[data-story=double-click] [data-both]")
	check(t, "begun anew, bare", b.settled("double-click-shop", 2), "2", "201", "201")
	check(t, "begun anew, guarded", b.settled("double-click-gateway", 2), "1", "201", "201")
}

func check(t *testing.T, what string, l lane, charges string, statuses ...string) {
	t.Helper()
	if l.Charges != charges || !slices.Equal(l.Statuses, statuses) {
		t.Errorf("%s: %s charges and answers %v, want %s and %v", what, l.Charges, l.Statuses, charges, statuses)
	}
}
