package frontend

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// patience is for the slowest machine.
const patience = 30 * time.Second

// The browser that all tests share; each has a context of its own in it.
var (
	started sync.Once
	shared  context.Context
	startup error
	closing []func()
)

// browser is the shared browser. Chromium crashes at its start now and then, so it gets
// three.
func browser() (context.Context, error) {
	started.Do(func() {
		for range 3 {
			if startup = start(); startup == nil {
				return
			}
		}
	})
	return shared, startup
}

// start starts Chromium with an empty profile.
func start() error {
	profile, err := os.MkdirTemp("", "semel-chromium-")
	if err != nil {
		return err
	}
	closing = append(closing, func() { remove(profile) })
	ctx, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium()),
		chromedp.UserDataDir(profile),
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
	)...)
	closing = append(closing, stop)
	var end context.CancelFunc
	shared, end = chromedp.NewContext(ctx)
	closing = append(closing, end)
	return chromedp.Do(shared)
}

func closeBrowser() {
	for i := len(closing) - 1; i >= 0; i-- {
		closing[i]()
	}
}

// remove takes a profile away. Chromium's children write into it for a moment after it
// has ended, so what cannot be removed at once is tried again.
func remove(dir string) {
	for range 1000 {
		if os.RemoveAll(dir) == nil {
			return
		}
	}
}

// tab is one tab.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// tab opens the shop's page in a new tab.
func (s *street) tab() *tab {
	s.t.Helper()
	parent, err := browser()
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, end := chromedp.NewContext(parent, chromedp.WithNewBrowserContext())
	s.t.Cleanup(end)
	b := &tab{t: s.t, ctx: ctx}
	// The tab lives as long as the context of its first step.
	if err := chromedp.Do(ctx); err != nil {
		s.t.Fatal(err)
	}
	b.do(chromedp.Navigate(s.url + "/"))
	return b
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// run evaluates JavaScript.
func (b *tab) run(script string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("(() => {"+script+"; return true; })()")); err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
}

// await waits until a condition holds, looking at each change of the page, and again
// on the next page if this one goes.
func (b *tab) await(condition string) {
	b.t.Helper()
	script := fmt.Sprintf(`new Promise((done) => {
		const look = () => { if (%s) { observer.disconnect(); removeEventListener("pageshow", look); done(true); } };
		const observer = new MutationObserver(look);
		observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
		addEventListener("pageshow", look);
		look();
	})`, condition)
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script, chromedp.EvalAwaitPromise))
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			b.t.Fatalf("waiting for %s: %v\nthe page is %+v", condition, err, b.page())
		}
	}
}

// seen is what a user sees, and hears.
type seen struct {
	Path     string
	Text     string // of the page
	Disabled bool   // the button
	Busy     string // the form's aria-busy
	Status   string // the line that is read out
	Focus    string // what has it
}

// page is what the tab shows.
func (b *tab) page() (s seen) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	data, err := chromedp.Run(ctx, chromedp.Evaluate[string](`JSON.stringify({
		Path: location.pathname,
		Text: document.querySelector("main").innerText.trim(),
		Disabled: !!document.querySelector("button")?.disabled,
		Busy: document.querySelector("form")?.getAttribute("aria-busy") ?? "",
		Status: document.querySelector("form [role=status]")?.textContent ?? "",
		Focus: document.activeElement?.tagName ?? "",
	})`))
	if err == nil {
		err = json.Unmarshal([]byte(data), &s)
	}
	if err != nil {
		b.t.Error(err)
	}
	return s
}

// click is the user's mouse on the button, n times without a pause.
func (b *tab) click(n int) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	at, err := chromedp.Run(ctx, chromedp.Evaluate[[]float64](`(() => {
		const r = document.querySelector("button").getBoundingClientRect();
		return [r.x + r.width / 2, r.y + r.height / 2];
	})()`))
	if err != nil {
		b.t.Fatal(err)
	}
	for i := range n {
		b.do(chromedp.MouseClickXY(at[0], at[1], chromedp.ClickCount(i+1)))
	}
}

// enabled waits until the form can be used.
func (b *tab) enabled() {
	b.t.Helper()
	b.await(`!document.querySelector("button").disabled && !document.querySelector("form").ariaBusy`)
}

// arrived waits until the shop has a request, held back.
func (s *street) arrived(g *gate) {
	s.t.Helper()
	select {
	case <-g.arrived:
	case <-time.After(patience):
		s.t.Fatal("nothing reached the shop")
	}
}
