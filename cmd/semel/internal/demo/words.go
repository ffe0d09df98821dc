package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"
)

// words is what the page says in one language, by what it is about.
type words map[string]string

// The languages of the page.
const (
	english = "en"
	chinese = "zh"
)

func loadWords() (map[string]words, error) {
	all := map[string]words{}
	for _, lang := range []string{english, chinese} {
		data, err := files.ReadFile("words/" + lang + ".json")
		if err != nil {
			return nil, err
		}
		var w words
		if err := json.Unmarshal(data, &w); err != nil {
			return nil, fmt.Errorf("words/%s.json: %w", lang, err)
		}
		all[lang] = w
	}
	return all, nil
}

// about is a text of a story where that has one of its own, else the common one.
func (w words) about(story, what string) string {
	return cmp.Or(w["story."+story+"."+what], w[what])
}

// note is the sentence about a lane: of its story where that has one of its own,
// else of its side.
func (w words) note(l lane) string {
	stage := string(l.stage)
	text := cmp.Or(w["note."+l.story+"."+l.side+"."+stage], w["note."+l.side+"."+stage], w["note."+l.side+"."+string(stageOther)])
	return strings.NewReplacer(
		"{attempts}", fmt.Sprint(len(l.attempts)),
		"{charges}", fmt.Sprint(l.charges),
		"{charge}", fmt.Sprint(l.settled),
	).Replace(text)
}

// rich is text in which `code` is code.
func rich(text string) template.HTML {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		if part = template.HTMLEscapeString(part); i%2 == 1 {
			part = "<code>" + part + "</code>"
		}
		b.WriteString(part)
	}
	return template.HTML(b.String())
}

// language is what the address asks for, else the first of the browser's
// languages that the page speaks.
func language(r *http.Request) string {
	switch lang := r.FormValue("lang"); lang {
	case english, chinese:
		return lang
	}
	for tag := range strings.SplitSeq(r.Header.Get("Accept-Language"), ",") {
		switch primary, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-"); primary {
		case english, chinese:
			return primary
		}
	}
	return english
}
