package demo

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel/cmd/semel/internal/demo/schemes"
)

// playAll plays every way of every scheme to its end.
func (w *world) playAll() {
	w.t.Helper()
	for _, s := range schemes.All() {
		for _, way := range s.Ways {
			w.play(s.ID, way.ID)
		}
	}
}

// play plays one way to its end, as the page does.
func (w *world) play(scheme, way string) schemes.Run {
	w.t.Helper()
	changes, stop := w.bell.watch()
	defer stop()
	if a := w.post("/schemes/"+scheme+"/"+way, ""); a.status != http.StatusNoContent {
		w.t.Fatalf("%s, %s: %+v", scheme, way, a)
	}
	for range changes {
		if r, _ := w.schemes.Last(scheme, way); r.Ended {
			return r
		}
	}
	return schemes.Run{}
}

// What the schemes come to is shown, and taken back by a reset.
func TestSchemesAreShown(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, Options{Pace: time.Nanosecond})
	w.play("order", schemes.Wrong)
	w.play("order", schemes.Right)
	page := w.send("GET", "/?lang=en", "").body
	for _, want := range []string{
		`<output class="number bad" data-part="number"><span>2</span>`, "orders with one number", "Two orders with one number",
		`<output class="number good" data-part="number"><span>1</span>`, "order with this number", "is there already: gets order no. 1.",
		"dup.InsertOrGet(ctx, db, dup.Statements{",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if w.post("/reset", ""); strings.Contains(w.send("GET", "/?lang=en", "").body, "gets order no. 1.") {
		t.Error("a reset leaves what happened")
	}
	for _, path := range []string{"/schemes/order/best", "/schemes/none/right"} {
		if a := w.post(path, ""); a.status != http.StatusNotFound {
			t.Errorf("%s: %+v", path, a)
		}
	}
}

// A run that does not end as it should is not explained as if it did.
func TestUnexpectedEnd(t *testing.T) {
	t.Parallel()
	all, err := loadWords()
	if err != nil {
		t.Fatal(err)
	}
	w := all[english]
	for _, way := range schemes.All()[0].Ways {
		v := viewWay("order", way, schemes.Run{Ended: true, Count: 7}, true, w)
		if v.Verdict != "bad" || v.Note != w["way.unexpected"] {
			t.Errorf("%s: %+v", way.ID, v)
		}
		v = viewWay("order", way, schemes.Run{}, true, w)
		if v.Verdict != "none" || v.Count != "–" || !v.Playing || v.Note != w["way.playing"] {
			t.Errorf("%s, being played: %+v", way.ID, v)
		}
	}
}

// Every scheme, actor and step has its texts, all that a sentence stands for is filled in,
// and no text is of a step that is no more.
func TestEverySchemeIsTold(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, Options{Pace: time.Nanosecond})
	w.playAll()
	want := []string{"way.again", "way.playing", "way.unexpected", "way.wrong.name", "way.right.name"}
	var told []schemes.Step
	for _, s := range schemes.All() {
		for _, what := range []string{"title", "tale", "play", "count", "count.one"} {
			want = append(want, "scheme."+s.ID+"."+what)
		}
		for _, way := range s.Ways {
			for _, what := range []string{"route", "start", "end"} {
				want = append(want, "scheme."+s.ID+"."+way.ID+"."+what)
			}
			r, _ := w.schemes.Last(s.ID, way.ID)
			for _, step := range r.Steps {
				want = append(want, "who."+step.Who, "step."+s.ID+"."+step.What)
				step.What = s.ID + "." + step.What
				told = append(told, step)
			}
		}
	}
	all, err := loadWords()
	if err != nil {
		t.Fatal(err)
	}
	for lang, words := range all {
		checkTexts(t, lang, words, want)
		for _, step := range told {
			scheme, what, _ := strings.Cut(step.What, ".")
			step.What = what
			if v := viewStep(scheme, step, step.At, words); v.Who == "" || v.Text == "" || strings.ContainsAny(v.Text, "{}") {
				t.Errorf("%s tells %+v as %+v", lang, step, v)
			}
		}
	}
}

// checkTexts compares the texts about schemes with those that there have to be.
func checkTexts(t *testing.T, lang string, w words, want []string) {
	t.Helper()
	for _, key := range want {
		if w[key] == "" {
			t.Errorf("%s has no %s", lang, key)
		}
	}
	for key := range w {
		kind, _, _ := strings.Cut(key, ".")
		if slices.Contains([]string{"scheme", "step", "who", "way"}, kind) && !slices.Contains(want, key) && key != kind {
			t.Errorf("%s has a %s, which nothing shows", lang, key)
		}
	}
}
