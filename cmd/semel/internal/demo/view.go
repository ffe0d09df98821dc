package demo

import (
	"fmt"
	"net/http"
)

// view is the page in one language at one moment.
type view struct {
	Lang, Other string
	Words       words
	Stories     []storyView
	Credential  string
	Command     string
}

type storyView struct {
	ID     string
	Number int
	Words  words
	Lanes  []laneView
}

// Says returns one of the story's texts.
func (s storyView) Says(what string) string { return s.Words["story."+s.ID+"."+what] }

// laneView is one side of a story as it is shown.
type laneView struct {
	ID, Story, Side string
	Order, Key      string
	Fault           string // for the first request of the order
	Words           words
	Charges         int
	Caption         string
	Total           string
	Verdict         string // none, good or bad
	Note            string
	Header          string // the header that did it
	Pay             string // what the button says
	Held            bool   // the operator can settle it
	Rows            []rowView
}

// Says returns one of the side's texts.
func (l laneView) Says(what string) string { return l.Words["side."+l.Side+"."+what] }

// rowView is one attempt.
type rowView struct {
	Time   string
	Status string
	Kind   string // pending, good, replay, bad or none
	Text   string
}

func (p *page) view(lang string) view {
	v := view{Lang: lang, Other: english, Words: p.words[lang], Credential: credential, Command: p.command}
	if lang == english {
		v.Other = chinese
	}
	all := p.board.snapshot()
	for i, story := range stories() {
		s := storyView{ID: story, Number: i + 1, Words: v.Words}
		for _, l := range all {
			if l.story == story {
				s.Lanes = append(s.Lanes, viewLane(l, v.Words))
			}
		}
		v.Stories = append(v.Stories, s)
	}
	return v
}

func (v view) lanes() []laneView {
	var all []laneView
	for _, s := range v.Stories {
		all = append(all, s.Lanes...)
	}
	return all
}

func viewLane(l lane, w words) laneView {
	v := laneView{
		ID: l.id(), Story: l.story, Side: l.side, Order: l.order, Key: l.key, Fault: faultOf(l.story), Words: w,
		Charges: l.charges, Caption: w["charges"], Total: money(l.total), Verdict: verdict(l),
		Note: w.note(l), Header: headerThatDidIt(l, w), Pay: w["pay"], Held: l.stage == stageHeld,
	}
	if l.charges == 1 {
		v.Caption = w["charge"]
	}
	if len(l.attempts) > 0 {
		v.Pay = w["pay.again"]
	}
	for _, a := range l.attempts {
		v.Rows = append(v.Rows, viewRow(a, l, w))
	}
	return v
}

func money(fen int64) string { return fmt.Sprintf("¥%d.%02d", fen/100, fen%100) }

func verdict(l lane) string {
	switch {
	case l.charges > 1:
		return "bad"
	case l.charges == 1:
		return "good"
	}
	return "none"
}

// headerThatDidIt is the header that decided what happened last.
func headerThatDidIt(l lane, w words) string {
	switch l.stage {
	case stageStart, stageSent, stageLost, stageTooSoon, stageDown, stageReleased, stageOther:
		return ""
	case stageReplayed:
		return "Idempotent-Replayed: true"
	case stageBusy:
		return "Retry-After: " + l.last.retryAfter
	}
	if l.side == sideShop {
		return keyHeader(l) + " " + w["ignored"]
	}
	return keyHeader(l)
}

func keyHeader(l lane) string { return "Idempotency-Key: " + l.key[:8] + "…" }

func viewRow(a attempt, l lane, w words) rowView {
	row := rowView{Time: a.at.Format("15:04:05.000"), Status: "···", Kind: "pending", Text: keyHeader(l)}
	if !a.ended {
		return row
	}
	row.Status, row.Text = w["no-answer"], w["fate."+string(a.fate)]
	switch {
	case a.fate == fateLost, a.fate == fateCut, a.fate == fateLeft:
		row.Kind = "none"
	case a.fate == fateRefused:
		row.Kind, row.Status = "bad", fmt.Sprint(a.status)
	default:
		row.Kind, row.Status, row.Text = kindOf(a), fmt.Sprint(a.status), textOf(a, l, w)
	}
	return row
}

func kindOf(a attempt) string {
	switch {
	case a.replayed:
		return "replay"
	case a.status >= http.StatusBadRequest:
		return "bad"
	}
	return "good"
}

// textOf is what a delivered answer shows of its reason.
func textOf(a attempt, l lane, w words) string {
	switch {
	case a.replayed:
		return "Idempotent-Replayed: true"
	case a.code != "" && a.retryAfter != "":
		return a.code + " · Retry-After: " + a.retryAfter
	case a.code != "":
		return a.code
	case l.side == sideShop:
		return keyHeader(l) + " " + w["ignored"]
	}
	return keyHeader(l) + " " + w["claimed"]
}
