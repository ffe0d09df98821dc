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
	votes(t, b)
	webhook(t, b)
	b.shots("end")
	breakIt(t, b)
	b.shots("broken")
	allTrials(t, b)
	ownRequest(t, b)
	b.shots("trials")
	startOver(t, b)
	b.do(chromedp.Navigate(d.url + "/?lang=zh"))
	b.click("#double-click-gateway [data-pay]")
	b.settled("double-click-gateway", 1)
	b.click("[data-story=vote-stuffing] [data-both]")
	b.settled("vote-stuffing-library", 8)
	b.click("#trial-other-body [data-try]")
	b.await(answered("other-body"))
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

// Votes carry no key at all: the service makes it of member and tea.
func votes(t *testing.T, b *browser) {
	b.click("[data-story=vote-stuffing] [data-both]")
	eight := slices.Repeat([]string{"201"}, 8)
	check(t, "votes, bare", b.settled("vote-stuffing-plain", 8), "8", eight...)
	guarded := b.settled("vote-stuffing-library", 8)
	check(t, "votes, guarded", guarded, "1", eight...)
	if n := count(guarded.Reasons, "Idempotent-Replayed: true"); n != 7 || !strings.Contains(guarded.Header, "KeyOf(M-") {
		t.Errorf("%d replays are shown, want 7: %+v", n, guarded)
	}
}

func count(all []string, want string) (n int) {
	for _, s := range all {
		if s == want {
			n++
		}
	}
	return n
}

func webhook(t *testing.T, b *browser) {
	b.click("[data-story=webhook-twice] [data-both]")
	check(t, "webhook, bare", b.settled("webhook-twice-plain", 2), "2", "none", "201")
	guarded := b.settled("webhook-twice-library", 2)
	check(t, "webhook, guarded", guarded, "1", "none", "201")
	if guarded.Reasons[1] != "Idempotent-Replayed: true" {
		t.Errorf("the second delivery was not a replay: %+v", guarded)
	}
	b.click("[data-story=webhook-twice] summary")
	if code := b.text("[data-story=webhook-twice] .guard"); !strings.Contains(code, `KeyWebhook("standard")`) {
		t.Errorf("the code is not shown: %s", code)
	}
}

// breakIt sends one trial and reads what the page says of it.
func breakIt(t *testing.T, b *browser) {
	b.click("#trial-two-lines [data-try]")
	b.await(answered("two-lines"))
	said := b.text("#trial-two-lines")
	for _, want := range []string{"400 Bad Request", "invalid-key", "retry: fix-request", "exactly one field line", "Which one counts?", "table: 0"} {
		if !strings.Contains(said, want) {
			t.Errorf("two key lines: %q is not said in:\n%s", want, said)
		}
	}
	if n := strings.Count(said, "\nIdempotency-Key: "); n != 2 {
		t.Errorf("the request is not shown as it was sent:\n%s", said)
	}
}

func answered(trial string) string {
	return `document.querySelector("#trial-` + trial + ` .facts")`
}

func allTrials(t *testing.T, b *browser) {
	b.click("[data-all]")
	b.await(`[...document.querySelectorAll(".trial:not(#trial-own)")].every((trial) => trial.querySelector(".facts"))`)
	said := b.text(".lab")
	for _, want := range []string{"missing-key", "key-reused", "in-progress", "Retry-After: ", "no-principal", "incomplete-body", "payload-too-large", "200 OK"} {
		if !strings.Contains(said, want) {
			t.Errorf("no trial was answered with %s:\n%s", want, said)
		}
	}
	if strings.Contains(said, "Please report it") {
		t.Errorf("an answer is not what it should be:\n%s", said)
	}
}

// What a visitor writes stays in the field, and may be sent twice.
func ownRequest(t *testing.T, b *browser) {
	b.click("#trial-own [data-try]")
	b.await(answered("own"))
	if said := b.text("#trial-own .facts"); !strings.Contains(said, "201 Created") {
		t.Errorf("the visitor's request: %s", said)
	}
	b.click("#trial-own [data-try]")
	b.await(`document.querySelector("#trial-own .facts")?.innerText.includes("Idempotent-Replayed: true")`)
}

func startOver(t *testing.T, b *browser) {
	b.click("#reset")
	b.await(`[...document.querySelectorAll("[data-side] [data-part=number]")].every((n) => n.innerText === "0")`)
	b.click("[data-story=double-click] [data-both]")
	check(t, "begun anew, bare", b.settled("double-click-shop", 2), "2", "201", "201")
	b.await(`!document.querySelector(".lab .facts")`)
	check(t, "begun anew, guarded", b.settled("double-click-gateway", 2), "1", "201", "201")
}

func check(t *testing.T, what string, l lane, charges string, statuses ...string) {
	t.Helper()
	if l.Charges != charges || !slices.Equal(l.Statuses, statuses) {
		t.Errorf("%s: %s charges and answers %v, want %s and %v", what, l.Charges, l.Statuses, charges, statuses)
	}
}
