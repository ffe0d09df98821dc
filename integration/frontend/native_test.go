package frontend

import (
	"os"
	"path/filepath"
	"testing"
)

// openNative is a street whose gateway takes keys out of forms, too: a native submission
// cannot set a header.
func openNative(t *testing.T, page string) *street {
	t.Helper()
	config := filepath.Join(t.TempDir(), "semel.yaml")
	must(t, os.WriteFile(config, []byte("routes:\n  - {path: /, key: [header:Idempotency-Key, form:idempotency_key]}\n"), 0o600))
	return open(t, page, "--config", config)
}

// tells lets the page say what it shows during the submission: while Chromium waits for
// a new document, it does not answer for the old one.
const tells = `<script>document.querySelector("form").addEventListener("submit", ({ target }) => setTimeout(() => {
	const shown = [target.querySelector("button").disabled, target.ariaBusy, target.querySelector("[role=status]").textContent];
	navigator.sendBeacon("/told", shown.join(" "));
}, 50), { once: true });</script>`

// Native submission: one request however often the user clicks, with the button's own
// value, though the button is disabled.
func TestNativeDoubleClick(t *testing.T) {
	s := openNative(t, form("/orders", "", "native: true")+tells)
	g := s.hold(t)
	b := s.tab()
	b.run(`document.querySelector("button").value = "!"`)
	b.run(`for (let i = 0; i < 4; i++) setTimeout(() => document.querySelector("button").click(), 10 * i)`)
	s.arrived(g)
	if told, want := <-s.told, "true true Sending..."; told != want {
		t.Errorf("while it is sent the form is %q, want %q", told, want)
	}
	g.release()
	b.on("/orders/1")
	s.has(t, "10!")
	if keys := s.keys(); len(keys) != 1 {
		t.Errorf("%d orders were sent, want one", len(keys))
	}
}

// The key goes along also if somebody else looks at the form in between: a listener
// for statistics, say. Nor does it become content then.
func TestNativeBesideOthers(t *testing.T) {
	s := openNative(t, form("/orders", "", "native: true")+`<script>
		document.addEventListener("submit", (e) => {
			new FormData(e.target);
			if (!sessionStorage.asked) e.preventDefault();
			sessionStorage.asked = document.title = "yes";
		});
		</script>`)
	b := s.tab()
	b.click(1)
	b.await(`document.title === "yes"`)
	b.enabled()
	for range 2 {
		b.click(1)
		b.on("/orders/1")
		b.run(`history.back()`)
		b.on("/")
		b.enabled()
	}
	s.has(t, "10")
}

// Back from the answer the form is usable again. The script could not see that there
// was an answer, so the same content is still the same intent, and is replayed; other
// content is another one.
func TestNativeBack(t *testing.T) {
	s := openNative(t, form("/orders", "", "native: true"))
	b := s.tab()
	for _, step := range []struct{ amount, path string }{{"10", "/orders/1"}, {"10", "/orders/1"}, {"11", "/orders/2"}} {
		b.run(`document.querySelector("input").value = "` + step.amount + `"`)
		b.click(1)
		b.on(step.path)
		b.run(`history.back()`)
		b.on("/")
		b.await(`window.kept`)
		b.enabled()
		b.check("back", false, "", "")
	}
	s.has(t, "10", "11")
}

// The page of the answer says that it is one: then the same content is meant again.
func TestNativeAnswered(t *testing.T) {
	s := openNative(t, form("/settled", "", "native: true"))
	b := s.tab()
	for _, path := range []string{"/settled/1", "/settled/2"} {
		b.click(1)
		b.on(path)
		b.await(`Object.keys(sessionStorage).length === 0`)
		b.run(`history.back()`)
		b.on("/")
		b.enabled()
	}
	s.has(t, "10", "10")
}

// The user does not wait for the answer and reloads, submits again, and has one order.
func TestNativeReload(t *testing.T) {
	s := openNative(t, form("/orders", "", "native: true"))
	g := s.hold(t)
	b := s.tab()
	b.run(`document.querySelector("form").addEventListener("submit", () => setTimeout(() => location.reload(), 300))`)
	b.click(1)
	s.arrived(g)
	b.await(`document.querySelector("form") && !document.querySelector("form").ariaBusy`)
	g.release()
	b.click(1)
	b.on("/orders/1")
	s.has(t, "10")
}

// Who asks whether the user means it, and hears no, leaves the form usable.
func TestNativeCancelled(t *testing.T) {
	s := openNative(t, form("/orders", "", "native: true")+
		`<script>document.querySelector("form").addEventListener("submit", (e) => {
			if (window.sure) return;
			e.preventDefault();
			setTimeout(() => { document.title = "free"; }, 100);
		});</script>`)
	b := s.tab()
	b.click(1)
	b.await(`document.title === "free"`)
	b.enabled()
	b.run(`window.sure = true`)
	b.click(1)
	b.on("/orders/1")
	s.has(t, "10")
}
