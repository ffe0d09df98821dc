package demo

import (
	"fmt"
	"net/http"
	"strings"
)

// groupView is a group of trials.
type groupView struct {
	Title  string
	Trials []trialView
}

// trialView is a trial, and how its last run ended.
type trialView struct {
	ID        string
	Words     words
	Draft     string // what a visitor's own request begins as, in a whole page
	Pending   bool
	Ended     bool
	Answer    rowView
	Facts     []fact
	Charges   string
	Detail    string // the gateway's own sentence
	Tells     string
	Exchanges []exchangeView
}

// fact is something on the wire that a program would act on, and what it means.
type fact struct{ Text, Means string }

// exchangeView is what went over the wire.
type exchangeView struct{ Sent, Got string }

// Says returns one of the trial's texts.
func (t trialView) Says(what string) string { return t.Words["trial."+t.ID+"."+what] }

// ElementID is the trial's place in the page.
func (t trialView) ElementID() string { return "trial-" + t.ID }

func viewGroups(l *lab, w words) []groupView {
	var all []groupView
	for _, g := range trialGroups() {
		v := groupView{Title: w["group."+g.id]}
		for _, t := range g.trials {
			v.Trials = append(v.Trials, viewTrial(l, t.id, w))
		}
		all = append(all, v)
	}
	return all
}

func viewTrial(l *lab, id string, w words) trialView {
	r, begun := l.last(id)
	v := trialView{ID: id, Words: w, Pending: begun && !r.ended, Ended: r.ended}
	if !r.ended {
		return v
	}
	x := r.last()
	v.Answer = viewAnswer(x, w)
	v.Facts = factsOf(x, w)
	v.Detail = x.problem.Detail
	if id != ownTrial { // whose order is not known
		v.Charges = strings.ReplaceAll(w["trial.charges"], "{charges}", fmt.Sprint(r.charges))
	}
	v.Tells = w["trial."+id+".tells"]
	if !r.asWanted {
		v.Tells = w["trial.unexpected"]
	}
	for _, x := range r.exchanges {
		v.Exchanges = append(v.Exchanges, exchangeView{Sent: onPaper(x.sent), Got: onPaper(x.got)})
	}
	return v
}

func viewAnswer(x exchange, w words) rowView {
	if x.status == 0 {
		return rowView{Status: w["no-answer"], Kind: "none"}
	}
	return rowView{Status: fmt.Sprint(x.status, " ", http.StatusText(x.status)), Kind: kindOf(attempt{status: x.status, replayed: x.replayed})}
}

func factsOf(x exchange, w words) []fact {
	var facts []fact
	if x.problem.Code != "" {
		facts = append(facts, fact{Text: string(x.problem.Code)})
	}
	if retry := string(x.problem.Retry); retry != "" {
		facts = append(facts, fact{"retry: " + retry, w["retry."+retry]})
	}
	if x.retryAfter != "" {
		facts = append(facts, fact{Text: "Retry-After: " + x.retryAfter})
	}
	if x.replayed {
		facts = append(facts, fact{Text: replayedHeader + ": true"})
	}
	return facts
}

// onPaper is a message as it is shown: very long lines are cut, and say so.
func onPaper(wire string) string {
	lines := strings.Split(strings.ToValidUTF8(wire, "\uFFFD"), "\r\n")
	for i, line := range lines {
		if r := []rune(line); i < len(lines)-1 && len(r) > longestLine {
			lines[i] = fmt.Sprintf("%s… (%d)", string(r[:longestLine/2]), len(r))
		}
	}
	return strings.Join(lines, "\n")
}

// longestLine is the length in characters up to which a header line is shown whole.
const longestLine = 120
