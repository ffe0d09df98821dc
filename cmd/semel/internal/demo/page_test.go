package demo

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ path, accept, lang, says string }{
		{"/", "", "en", "Pay once, however often you ask."},
		{"/", "fr-CH, zh-Hans-CN;q=0.9, en;q=0.8", "zh", "只付一次"},
		{"/?lang=en", "zh-CN", "en", "Double click on Pay"},
		{"/?lang=xx", "de", "en", "Double click on Pay"},
	} {
		page := w.send("GET", c.path, "", "Accept-Language", c.accept).body
		if !strings.Contains(page, `<html lang="`+c.lang+`">`) || !strings.Contains(page, c.says) {
			t.Errorf("%s in %q is not in %s, or does not say %q", c.path, c.accept, c.lang, c.says)
		}
		if l := w.lane(storyDeadShop, sideGateway); !strings.Contains(page, l.key) || !strings.Contains(page, l.order) {
			t.Errorf("%s does not hold the order and key of the last lane", c.path)
		}
	}
	if a := w.send("GET", "/nothing", ""); a.status != http.StatusNotFound {
		t.Errorf("an unknown path: %+v", a)
	}
}

// What the content policy would refuse must not be in the page: inline scripts,
// styles and handlers, and anything from elsewhere.
func TestPageKeepsItsPolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	res, err := w.client.Get(w.URL())
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if policy := res.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	page := w.send("GET", "/", "").body
	for _, bad := range []string{`<style`, `style=`, `<script>`, `javascript:`, `="//`, `<iframe`} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %s", bad)
		}
	}
	if inline := regexp.MustCompile(`\son[a-z]+=`).FindString(page); inline != "" {
		t.Errorf("the page holds a handler: %s", inline)
	}
	loaded := regexp.MustCompile(`(?:src|href)="([^"#]+)"`).FindAllStringSubmatch(page, -1)
	for _, m := range loaded {
		if a := w.send("GET", m[1], ""); !strings.HasPrefix(m[1], "/") || a.status != http.StatusOK {
			t.Errorf("%s: %d", m[1], a.status)
		}
	}
	if len(loaded) < 4 {
		t.Errorf("found only %d addresses in the page", len(loaded))
	}
}

// Templates are for the server: they are not served.
func TestTemplatesAreNotServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/assets/", "/assets/page.html", "/assets/lane.html"} {
		if a := w.send("GET", path, ""); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

// Each change of a lane is sent once, to each listener in its language.
func TestEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	res, err := w.client.Get(w.URL() + "/events?lang=zh")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	next := eventsOf(t, res.Body)
	for id := ""; id != "trial-own"; { // the last piece
		id, _ = next()
	}
	w.pay(w.lane(storyDoubleClick, sideGateway))
	for {
		id, html := next()
		if id != "double-click-gateway" {
			t.Errorf("an event tells of %s, which did not change", id)
		}
		if strings.Contains(html, "已认领") {
			if !strings.Contains(html, "<span>1</span>") {
				t.Errorf("the answer is shown without its charge: %s", html)
			}
			return
		}
	}
}

func eventsOf(t *testing.T, stream io.Reader) func() (id, html string) {
	lines := bufio.NewScanner(stream)
	return func() (string, string) {
		t.Helper()
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok {
				continue
			}
			var e struct{ ID, HTML string }
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				t.Fatal(err)
			}
			return e.ID, e.HTML
		}
		t.Fatalf("the stream ended: %v", lines.Err())
		return "", ""
	}
}

func TestStrangersAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		method, path string
		header       []string
		want         int
	}{
		"a foreign name for this machine":  {"GET", "/", []string{"Host", "shop.example:8088"}, http.StatusMisdirectedRequest},
		"a name that only begins like one": {"GET", "/", []string{"Host", "localhost.example"}, http.StatusMisdirectedRequest},
		"an address on a network":          {"GET", "/", []string{"Host", "192.0.2.1:8088"}, http.StatusMisdirectedRequest},
		"another site's script":            {"POST", "/reset", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"another site's form":              {"POST", "/operator/resolve", []string{"Origin", "http://shop.example"}, http.StatusForbidden},
		"another port of this machine":     {"POST", "/shop/charges", []string{"Origin", "http://127.0.0.1:1"}, http.StatusForbidden},
		"this page":                        {"POST", "/reset", []string{"Sec-Fetch-Site", "same-origin"}, http.StatusNoContent},
		"localhost":                        {"GET", "/", []string{"Host", "localhost:8088"}, http.StatusOK},
		"IPv6":                             {"GET", "/", []string{"Host", "[::1]"}, http.StatusOK},
	} {
		if a := w.send(c.method, c.path, "", c.header...); a.status != c.want {
			t.Errorf("%s: %d, want %d", name, a.status, c.want)
		}
	}
	if l := w.lane(storyDoubleClick, sideShop); len(l.attempts) != 0 {
		t.Errorf("a refused request was passed on: %+v", l)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	all, err := loadWords()
	if err != nil {
		t.Fatal(err)
	}
	marks := regexp.MustCompile("\\{[a-z]+\\}|`[^`]+`")
	for key, text := range all[english] {
		other, ok := all[chinese][key]
		if !ok {
			t.Errorf("zh has no %q", key)
		}
		if a, b := sorted(marks.FindAllString(text, -1)), sorted(marks.FindAllString(other, -1)); !slices.Equal(a, b) {
			t.Errorf("%q holds %v in English and %v in Chinese", key, a, b)
		}
	}
	if len(all[chinese]) != len(all[english]) {
		t.Errorf("zh has %d texts, en has %d", len(all[chinese]), len(all[english]))
	}
}

func sorted(s []string) []string { return slices.Compact(slices.Sorted(slices.Values(s))) }

// Every stage that a lane can be in has its sentence.
func TestEveryStageIsTold(t *testing.T) {
	t.Parallel()
	all, err := loadWords()
	if err != nil {
		t.Fatal(err)
	}
	both := []stage{stageStart, stageSent, stageFirst, stageAgain, stageLost, stageDied, stageTooSoon, stageDown, stageOther}
	office := []stage{stageStart, stageSent, stageFirst, stageAgain, stageOther}
	stages := map[string][]stage{
		sideShop: both, sideGateway: slices.Concat(both, []stage{stageReplayed, stageBusy, stageHeld, stageSettled, stageReleased}),
		sidePlain: office, sideLibrary: slices.Concat(office, []stage{stageReplayed, stageBusy}),
	}
	for lang, w := range all {
		for _, story := range stories() {
			for _, side := range sidesOf(story) {
				for _, s := range stages[side] {
					note := w.note(lane{story: story, side: side, stage: s})
					if note == "" || s != stageOther && note == w["note."+side+".other"] {
						t.Errorf("%s has no sentence for %s, %s, %s", lang, story, side, s)
					}
				}
			}
		}
	}
}

// Every trial and its answers have their sentences, and no sentence is of a trial
// that is no more.
func TestEveryTrialIsTold(t *testing.T) {
	t.Parallel()
	all, err := loadWords()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"trial.charges", "trial.unexpected"}
	trials := []string{ownTrial}
	for _, g := range trialGroups() {
		want = append(want, "group."+g.id)
		for _, trial := range g.trials {
			trials = append(trials, trial.id)
		}
	}
	for _, id := range trials {
		want = append(want, "trial."+id+".title", "trial."+id+".does", "trial."+id+".tells")
	}
	for lang, w := range all {
		for _, key := range want {
			if w[key] == "" {
				t.Errorf("%s has no %s", lang, key)
			}
		}
		for key := range w {
			if strings.HasPrefix(key, "trial.") && !slices.Contains(want, key) {
				t.Errorf("%s has a %s, of no trial", lang, key)
			}
		}
	}
}

func TestRich(t *testing.T) {
	t.Parallel()
	if got, want := string(rich("a <b> `c & d` e")), "a &lt;b&gt; <code>c &amp; d</code> e"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
