package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is one tab of a headless Chromium.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	mistakes []string
}

// open starts Chromium with an empty profile and opens the page.
func open(t *testing.T, url string) *browser {
	t.Helper()
	path := need(t, "Chromium", "chromium", "chromium-browser", "google-chrome")
	b := &browser{t: t}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.UserDataDir(profile(t)),
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
	)...)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(ctx, chromedp.WithListener(b.listen))
	t.Cleanup(closeTab)
	b.ctx = ctx
	b.do(chromedp.Navigate(url))
	return b
}

// profile is an empty folder. Chromium's children write into it for a moment
// after it has ended, so what cannot be removed at once is tried again.
func profile(t *testing.T) string {
	dir, err := os.MkdirTemp("", "semel-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 1000 {
			if os.RemoveAll(dir) == nil {
				return
			}
		}
	})
	return dir
}

// listen collects what the console shows as an error. That a request got no
// answer, or one that says no, is what the stories are about.
func (b *browser) listen(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.mistake(fmt.Sprintf("exception: %s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		b.mistake(fmt.Sprintf("console.%s", e.Type))
	case *log.EventEntryAdded:
		told := e.Entry.Source == log.EntrySourceNetwork && (strings.HasSuffix(e.Entry.URL, "/charges") || strings.HasSuffix(e.Entry.URL, "/provider/deliver"))
		if !told {
			b.mistake(fmt.Sprintf("%s %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	}
}

func (b *browser) mistake(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mistakes = append(b.mistakes, text)
}

// checkConsole fails the test for all that listen has collected.
func (b *browser) checkConsole() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.mistakes {
		b.t.Errorf("the console shows: %s", m)
	}
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

// patience is for the slowest machine; nothing here takes two seconds.
const patience = 20 * time.Second

// await waits until a JavaScript condition holds, looking at each change of the
// page.
func (b *browser) await(condition string) {
	b.t.Helper()
	script := fmt.Sprintf(`new Promise((done) => {
		const look = () => { if (%s) { observer.disconnect(); done(true); } };
		const observer = new MutationObserver(look);
		observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
		look();
	})`, condition)
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script, chromedp.EvalAwaitPromise)); err != nil {
		b.t.Fatalf("waiting for %s: %v\nthe page shows:\n%s", condition, err, b.text("main"))
	}
}

func (b *browser) text(selector string) string {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](fmt.Sprintf("document.querySelector(%q).innerText", selector)))
	if err != nil {
		b.t.Error(err)
	}
	return text
}

// lane is what one side of a story shows.
type lane struct {
	Charges  string
	Note     string
	Header   string
	Statuses []string
	Reasons  []string
}

func (b *browser) lane(id string) (l lane) {
	b.t.Helper()
	script := fmt.Sprintf(`(() => {
		const lane = document.getElementById(%q);
		const text = (part) => lane.querySelector('[data-part="' + part + '"]').innerText;
		const column = (name) => [...lane.querySelectorAll('tbody .' + name)].map((cell) => cell.innerText);
		return JSON.stringify({ Charges: text("number"), Note: text("note"), Header: text("cause"), Statuses: column("status"), Reasons: column("why") });
	})()`, id)
	data, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](script))
	if err == nil {
		err = json.Unmarshal([]byte(data), &l)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

// settled waits until a lane has n attempts and none of them is under way.
func (b *browser) settled(id string, n int) lane {
	b.t.Helper()
	b.await(fmt.Sprintf(`document.querySelectorAll("#%[1]s tbody .status").length >= %[2]d && !document.querySelector("#%[1]s tbody .pending")`, id, n))
	return b.lane(id)
}

// shot keeps a picture of the whole page, of one size in one colour scheme.
func (b *browser) shot(name string, width int64, scheme string) {
	b.t.Helper()
	dir := os.Getenv("SEMEL_SCREENSHOTS")
	if dir == "" {
		dir = b.t.ArtifactDir()
	}
	b.do(
		chromedp.EmulateViewport(width, 900, chromedp.EmulateScale(2)),
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme},
				{Name: "prefers-reduced-motion", Value: "reduce"},
			}})
			return err
		}),
	)
	if wide, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("document.documentElement.scrollWidth > innerWidth")); err != nil || wide {
		b.t.Errorf("at a width of %d the page scrolls sideways (%v)", width, err)
	}
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	file := filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, scheme))
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) shots(name string) {
	b.t.Helper()
	for _, width := range []int64{390, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			b.shot(name, width, scheme)
		}
	}
}
