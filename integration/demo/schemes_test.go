package demo

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Each scheme as a visitor sees it: the tempting way does what it should not, with the
// right one beside it, and the page says how that came.
func TestSchemesInBrowser(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := open(t, d.url+"/?lang=en")
	for _, s := range []struct {
		scheme       string
		wrong, right string // the number
		says         map[string]string
	}{
		{"order", "2", "1", map[string]string{
			"order-wrong": "Two orders with one number", "order-right": "is there already: gets order no. ",
		}},
		{"edit", "1", "0", map[string]string{
			"edit-wrong": "and with it the old price, ¥299.00", "edit-right": "version 1 was opened, the row is at 2",
		}},
		{"form", "2", "1", map[string]string{
			"form-wrong": "Two bookings", "form-right": "as recorded; nothing ran",
		}},
		{"lock", "1", "0", map[string]string{
			"lock-wrong": "The stock forgot B’s parcels", "lock-right": "refused, the row has seen ",
		}},
		{"ids", "", "0", map[string]string{
			"ids-wrong": "ids were given twice, such as ", "ids-right": "both processes get ",
		}},
	} {
		b.click("[data-scheme=" + s.scheme + "] [data-ways]")
		b.played(s.scheme)
		if n := b.number(s.scheme + "-wrong"); n != s.wrong && s.wrong != "" || n == "0" {
			t.Errorf("%s, the tempting way: the number is %s, want %s", s.scheme, n, s.wrong)
		}
		if n := b.number(s.scheme + "-right"); n != s.right {
			t.Errorf("%s, with Semel: the number is %s, want %s", s.scheme, n, s.right)
		}
		for id, want := range s.says {
			if said := b.text("#" + id); !strings.Contains(said, want) || strings.Contains(said, "Please report it") {
				t.Errorf("%s does not say %q:\n%s", id, want, said)
			}
		}
	}
	b.shots("schemes")
	b.do(chromedp.Navigate(d.url + "/?lang=zh"))
	b.shots("schemes-chinese")
	b.click("#reset")
	b.await(`[...document.querySelectorAll("[data-way] [data-part=number]")].every((n) => n.innerText === "–")`)
	b.click("#order-right [data-play]")
	b.await(`document.querySelector("#order-right [data-part=number]").innerText === "1"`)
	if said := b.text("#order-wrong"); !strings.Contains(said, "还什么都没发生") {
		t.Errorf("one side was played, and the other one shows:\n%s", said)
	}
	b.checkConsole()
	d.interrupt()
}

// played waits until both sides of a scheme have ended.
func (b *browser) played(scheme string) {
	b.t.Helper()
	b.await(`[...document.querySelectorAll("[data-scheme=` + scheme + `] [data-part=number]")].every((n) => n.innerText !== "–")`)
}

func (b *browser) number(id string) string {
	b.t.Helper()
	return b.text("#" + id + " [data-part=number]")
}
