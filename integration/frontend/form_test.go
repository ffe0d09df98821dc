package frontend

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/semel-go/semel/semeltest"
)

const scriptTag = `<script src="/semel.global.js"></script>`

// form is a page with a form that is submitted once. Its hidden fields have the names
// of properties of forms, which they hide.
func form(action, fields, options string) string {
	return `<form method="post" action="` + action + `">
		<label>Amount <input name="amount" value="10"></label>
		<input type="hidden" name="id" value="7"><input type="hidden" name="method" value="card">
		<input type="hidden" name="action" value="buy">` + fields + `
		<button name="how" value="">Pay</button>
		</form><a href="/orders/0">Elsewhere</a>` + scriptTag + `
		<script>addEventListener("pageshow", (e) => { window.kept = e.persisted; });
		semel.submitOnce(document.querySelector("form"), {` + options + `});</script>`
}

const shows = `onAnswer: async (answer) => { document.title = await answer.text(); }`

func (b *tab) on(path string) {
	b.t.Helper()
	b.await(`location.pathname === "` + path + `"`)
}

func (b *tab) says(status string) {
	b.t.Helper()
	b.await(`document.querySelector("form [role=status]")?.textContent === "` + status + `"`)
}

// check compares what the user sees of the form.
func (b *tab) check(what string, disabled bool, busy, status string) {
	b.t.Helper()
	if p := b.page(); p.Disabled != disabled || p.Busy != busy || p.Status != status {
		b.t.Errorf("%s: the page is %+v; want disabled %v, busy %q, status %q", what, p, disabled, busy, status)
	}
}

// Clicks, the return key and scripts: one submission, one order. Meanwhile the form
// shows that it is busy.
func TestDoubleClick(t *testing.T) {
	s := open(t, form("/orders", "", ""))
	g := s.hold(t)
	b := s.tab()
	b.check("at first", false, "", "")
	b.click(4)
	b.do(chromedp.Click(chromedp.CSS("input[name=amount]")), chromedp.KeyEvent(kb.Enter))
	b.run(`document.querySelector("form").requestSubmit()`)
	s.arrived(g)
	b.check("while it is sent", true, "true", "Sending...")
	g.release()
	b.on("/orders/1")
	s.has(t, "10")
	if keys := s.keys(); len(keys) != 1 || keys[0] == "" {
		t.Errorf("the browser sent the keys %q, want one", keys)
	}
}

// The answer comes between the two clicks of a double click: that is one intent all
// the same. Afterwards the same content is another one.
func TestDoubleClickSlowerThanTheAnswer(t *testing.T) {
	s := open(t, form("/api", "", shows))
	b := s.tab()
	b.click(1)
	b.says("Done.")
	b.run(`document.querySelector("form").requestSubmit()`)
	b.enabled()
	b.check("afterwards", false, "", "Done.")
	if p := b.page(); p.Focus != "BUTTON" {
		t.Errorf("the focus is at %s, want it back at the button", p.Focus)
	}
	s.has(t, "10")
	b.click(1)
	b.await(`document.title.includes("Order 2")`)
	s.has(t, "10", "10")
}

// Whatever the fields are called, all that submits the form is disabled meanwhile,
// wherever it stands, and nothing else.
func TestEachButtonOfTheForm(t *testing.T) {
	var hiding strings.Builder
	for _, name := range []string{"elements", "submit", "requestSubmit", "length", "name", "enctype", "target", "ownerDocument", "children", "parentNode"} {
		hiding.WriteString(`<input type="hidden" name="` + name + `" value="x">`)
	}
	s := open(t, `<button form="f" id="outside">Pay</button>`+strings.Replace(form("/api", hiding.String()+
		`<input type="submit" id="input"><input type="image" id="image" alt="Pay"><button disabled id="never">No</button><button type="button" id="other">Other</button>`, shows),
		"<form", `<form id="f"`, 1)+`<form><button id="neighbour">Pay</button></form>
		<script>const off = () => [...document.querySelectorAll("[id]:disabled")].map((b) => b.id).join(" ");</script>`)
	g := s.hold(t)
	b := s.tab()
	b.click(1)
	s.arrived(g)
	b.await(`off() === "outside input image never"`)
	g.release()
	b.await(`off() === "never"`)
	b.await(`document.title.includes("Order 1")`)
	s.has(t, "10")
}

// Where an answer does not say whether there is an order, the status line does not say
// that there is none.
func TestAnswerThatSaysNothing(t *testing.T) {
	for action, says := range map[string]string{"/fails/500": "No answer yet. Sending again is safe.", "/fails/401": "Refused."} {
		t.Run(action, func(t *testing.T) {
			s := open(t, form(action, "", ""))
			b := s.tab()
			for range 2 {
				b.click(1)
				b.says(says)
				b.enabled()
			}
			s.oneKey(2)
		})
	}
}

// A mistake in the page's own functions leaves no form that cannot be used.
func TestFailingCallback(t *testing.T) {
	s := open(t, form("/away", "", `onError: () => { throw new Error("mistake of the page"); }`))
	s.other = "http://127.0.0.1:1/"
	b := s.tab()
	b.click(1)
	b.await(`document.querySelector("button").disabled`)
	b.enabled()
}

func TestModuleInBrowser(t *testing.T) {
	s := open(t, `<form method="post" action="/orders" enctype="multipart/form-data"><input name="amount" value="10"><button name="how" value="!">Pay</button></form>
		<script type="module">import { submitOnce } from "/semel.min.js"; submitOnce(document.querySelector("form")); document.title = "ready";</script>`)
	b := s.tab()
	b.await(`document.title === "ready"`)
	b.click(2)
	b.on("/orders/1")
	s.has(t, "10!")
}

// The user reloads while the order is under way, and submits the same again: it is the
// same intent, also though the page is another.
func TestReloadDuringFlight(t *testing.T) {
	s := open(t, form("/orders", "", ""))
	g := s.hold(t)
	b := s.tab()
	b.click(1)
	s.arrived(g)
	b.do(chromedp.Reload())
	b.check("after the reload", false, "", "")
	b.click(1)
	b.says("Sending...")
	g.release()
	b.on("/orders/1")
	s.has(t, "10")
	s.oneKey(2)
}

// The same with other content is another order.
func TestReloadAndChange(t *testing.T) {
	s := open(t, form("/orders", "", ""))
	g := s.hold(t)
	b := s.tab()
	b.click(1)
	s.arrived(g)
	b.do(chromedp.Reload())
	b.run(`document.querySelector("input").value = "11"`)
	b.click(1)
	s.arrived(g)
	g.release()
	b.await(`location.pathname.startsWith("/orders/")`)
	if keys := s.keys(); len(keys) != 2 || keys[0] == keys[1] {
		t.Errorf("the keys are %q, want two", keys)
	}
}

// The user goes elsewhere before there is an answer, comes back, and submits again.
func TestBackWithoutAnAnswer(t *testing.T) {
	s := open(t, form("/orders", "", ""))
	g := s.hold(t)
	b := s.tab()
	b.click(1)
	s.arrived(g)
	b.run(`document.querySelector("a").click()`)
	b.on("/orders/0")
	b.run(`history.back()`)
	b.on("/")
	b.await(`document.querySelector("form")`)
	b.run(`document.querySelector("button").click()`)
	b.says("Sending...")
	g.release()
	b.on("/orders/1")
	s.has(t, "10")
	s.oneKey(2)
}

// Back from the answer the form is usable again, and what is submitted then is meant:
// it is another order. The page comes from the back/forward cache, as it was left.
func TestBackAfterTheAnswer(t *testing.T) {
	s := open(t, form("/orders", "", ""))
	b := s.tab()
	b.click(1)
	b.on("/orders/1")
	b.run(`history.back()`)
	b.on("/")
	b.await(`window.kept`)
	b.enabled()
	b.check("back", false, "", "")
	b.click(1)
	b.on("/orders/2")
	s.has(t, "10", "10")
}

// A form with a one-time token is different: what it was for is done.
func TestBackAfterTheAnswerWithToken(t *testing.T) {
	s := open(t, form("/orders", `<input type="hidden" name="form_token" value="token-of-the-server">`, ""))
	b := s.tab()
	for range 2 {
		b.click(1)
		b.on("/orders/1")
		b.run(`history.back()`)
		b.on("/")
		b.enabled()
	}
	s.has(t, "10")
	s.oneKey(2)
	if key := s.keys()[0]; key != "token-of-the-server" {
		t.Errorf("the key is %q, want the token", key)
	}
}

// Each tab has intents of its own. A token makes two tabs one.
func TestTwoTabs(t *testing.T) {
	s := open(t, form("/orders", "", ""))
	for _, path := range []string{"/orders/1", "/orders/2"} {
		b := s.tab()
		b.click(1)
		b.on(path)
	}
	s.has(t, "10", "10")
}

func TestTwoTabsWithOneToken(t *testing.T) {
	s := open(t, form("/orders", `<input type="hidden" name="form_token" value="token-of-the-server">`, ""))
	g := s.hold(t)
	one, two := s.tab(), s.tab()
	one.click(1)
	s.arrived(g)
	two.click(1)
	two.says("Sending...")
	g.release()
	one.on("/orders/1")
	two.on("/orders/1")
	s.has(t, "10")
}

// A user corrects a rejected form; and who submits the rejected one again is judged
// again. Field fault: he meets 422 for ever.
func TestCorrectedForm(t *testing.T) {
	s := open(t, form("/api", "", shows))
	b := s.tab()
	b.run(`document.querySelector("input").value = "ten"`)
	for range 2 {
		b.run(`document.title = ""`)
		b.click(1)
		b.await(`document.title === "The amount is no number."`)
		b.enabled()
		b.check("rejected", false, "", "Refused.")
	}
	if n := s.executed(); n != 2 {
		t.Errorf("the form was judged %d times, want 2", n)
	}
	b.run(`document.querySelector("input").value = "12"`)
	b.click(1)
	b.await(`document.title.includes("Order 1")`)
	s.has(t, "12")
}

// The network loses the request, the answer, or a half of the answer.
func TestLostAnswer(t *testing.T) {
	for name, action := range map[string]string{"redirect": "/orders", "JSON": "/api"} {
		t.Run(name, func(t *testing.T) {
			s := open(t, form(action, "", map[string]string{"/orders": "", "/api": shows}[action]))
			s.cut.Next(semeltest.Drop, semeltest.CutReply, semeltest.CutHalf, semeltest.CutReply)
			b := s.tab()
			b.click(1)
			if action == "/orders" {
				b.on("/orders/1")
			} else {
				b.await(`document.title.includes("Order 1")`)
			}
			s.has(t, "10")
			s.oneKey(4)
		})
	}
}

// There is no answer for as long as the client tries. The user is told that he may try
// again, does so, and has one order.
func TestNoAnswer(t *testing.T) {
	s := open(t, form("/orders", "", "horizon: 1"))
	s.losing.Store(true)
	b := s.tab()
	b.click(1)
	b.says("No answer yet. Sending again is safe.")
	b.enabled()
	s.losing.Store(false)
	b.click(1)
	b.on("/orders/1")
	s.has(t, "10")
	s.oneKey(2)
}

// A redirect to another origin is not followed, and the key does not go there.
func TestRedirectToAnotherOrigin(t *testing.T) {
	s := open(t, form("/away", "", `onError: (error) => { document.title = error.code; }`))
	elsewhere := &street{t: t, shop: newShop("Elsewhere")}
	elsewhere.behind(serve(t, elsewhere.handler()))
	s.other = elsewhere.url + "/api"
	b := s.tab()
	b.click(1)
	b.await(`document.title === "redirected"`)
	s.has(t, "10")
	s.oneKey(2)
	if keys := elsewhere.keys(); len(keys) != 0 {
		t.Errorf("the other origin was sent %q", keys)
	}
}
