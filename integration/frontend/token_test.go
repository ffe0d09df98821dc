package frontend

import (
	"bytes"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/onetime"
	"github.com/semel-go/semel/semelhttp"
)

// openForms is a street whose shop guards itself with form tokens. The page gets one,
// the same at each load, as a page that the browser kept.
func openForms(t *testing.T, action, options string) *street {
	t.Helper()
	need(t)
	t.Parallel()
	issuer, err := onetime.NewIssuer([][]byte{bytes.Repeat([]byte("k"), 32)}, nil)
	must(t, err)
	forms, err := semelhttp.NewForms(issuer, semelhttp.Global, nil)
	must(t, err)
	field, err := forms.Field(httptest.NewRequest("GET", "/", nil), "order")
	must(t, err)
	store, err := memstore.New(nil)
	must(t, err)
	engine, err := semel.New(store, nil)
	must(t, err)
	guard, err := semelhttp.New(engine, semelhttp.Global, &semelhttp.Options{
		Keys: []semelhttp.KeySource{forms.Key("order")}, Wait: 10 * time.Second,
	})
	must(t, err)
	s := &street{t: t, shop: newShop(form(action, string(field), options))}
	s.behind(serve(t, guard(s.handler())))
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A mistake gives the token back: the corrected form passes. What it was for is done
// then: the same form again gets the first answer, another one is told so.
func TestFormToken(t *testing.T) {
	s := openForms(t, "/api", shows)
	b := s.tab()
	for _, step := range []struct{ amount, title, status string }{
		{"ten", "The amount is no number.", "Refused."},
		{"12", `{"text":"Order 1"}`, "Done."},
		{"12", `{"text":"Order 1"}`, "Done."},
	} {
		b.run(`document.title = ""; document.querySelector("input").value = "` + step.amount + `"`)
		b.click(1)
		b.await("document.title === '" + step.title + "'")
		b.enabled()
		b.check(step.amount, false, "", step.status)
	}
	b.run(`document.querySelector("input").value = "13"`)
	b.click(1)
	b.await(`document.querySelector("[role=status]").textContent.startsWith("The form was sent before")`)
	s.has(t, "12")
}

// The browser submits, and the answer of the last click is what the user sees.
func TestFormTokenNative(t *testing.T) {
	s := openForms(t, "/orders", "native: true")
	b := s.tab()
	for range 2 {
		b.click(2)
		b.on("/orders/1")
		b.run(`history.back()`)
		b.on("/")
		b.enabled()
	}
	s.has(t, "10")
}

// Two tabs with one token, at once: both see the one order.
func TestFormTokenInTwoTabs(t *testing.T) {
	s := openForms(t, "/orders", "")
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
