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
	Schemes     []schemeView
	Groups      []groupView
	Own         trialView
	Credential  string
	Command     string
}

type storyView struct {
	ID     string
	Number int
	Words  words
	Lanes  []laneView
	Code   string // that guards it, where the library does
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
func (l laneView) Says(what string) string { return l.About("side." + l.Side + "." + what) }

// About returns one of the texts that stories may have of their own.
func (l laneView) About(what string) string { return l.Words.about(l.Story, what) }

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
		s := storyView{ID: story, Number: i + 1, Words: v.Words, Code: guardCode(story)}
		for _, l := range all {
			if l.story == story {
				s.Lanes = append(s.Lanes, viewLane(l, v.Words))
			}
		}
		v.Stories = append(v.Stories, s)
	}
	v.Schemes = viewSchemes(p.schemes, len(v.Stories), v.Words)
	v.Groups, v.Own = viewGroups(p.lab, v.Words), viewTrial(p.lab, ownTrial, v.Words)
	return v
}

// piece is a part of the page that changes.
type piece struct {
	id, template string
	view         any
}

func (v view) pieces() []piece {
	var all []piece
	for _, s := range v.Stories {
		for _, l := range s.Lanes {
			all = append(all, piece{l.ID, "lane", l})
		}
	}
	for _, s := range v.Schemes {
		for _, w := range s.Ways {
			all = append(all, piece{w.ElementID(), "way", w})
		}
	}
	for _, g := range v.Groups {
		for _, t := range g.Trials {
			all = append(all, piece{t.ElementID(), "trial", t})
		}
	}
	return append(all, piece{v.Own.ElementID(), "trial", v.Own})
}

func viewLane(l lane, w words) laneView {
	v := laneView{
		ID: l.id(), Story: l.story, Side: l.side, Order: l.order, Key: l.key, Fault: faultOf(l.story), Words: w,
		Charges: l.charges, Caption: w.about(l.story, "charges"), Total: money(l.total), Verdict: verdict(l),
		Note: w.note(l), Header: headerThatDidIt(l, w), Pay: w.about(l.story, "pay"), Held: l.stage == stageHeld,
	}
	if l.charges == 1 {
		v.Caption = w.about(l.story, "charge")
	}
	if len(l.attempts) > 0 {
		v.Pay = w.about(l.story, "pay.again")
	}
	if sidesOf(l.story)[0] == sidePlain {
		v.Total = "" // neither votes nor parcels are money
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
		if l.story == storyVotes {
			return keyShown(l)
		}
		return replayedHeader + ": true"
	case stageBusy:
		return "Retry-After: " + l.last.retryAfter
	}
	if isUnprotected(l) {
		return unguarded(l, w)
	}
	return keyShown(l)
}

func isUnprotected(l lane) bool { return l.side == sideShop || l.side == sidePlain }

// unguarded is what an unprotected service does about a key.
func unguarded(l lane, w words) string {
	if l.story == storyVotes {
		return w["unkeyed"]
	}
	return keyShown(l) + " " + w["ignored"]
}

// keyShown is the key of a lane's requests as the page shows it.
func keyShown(l lane) string {
	switch l.story {
	case storyVotes:
		return "KeyOf(" + l.order + ", " + tea + ")"
	case storyWebhook:
		return "Webhook-Id: " + l.key
	}
	return "Idempotency-Key: " + l.key[:8] + "…"
}

func viewRow(a attempt, l lane, w words) rowView {
	row := rowView{Time: a.at.Format("15:04:05.000"), Status: "···", Kind: "pending", Text: keyShown(l)}
	if isUnprotected(l) && l.story == storyVotes {
		row.Text = unguarded(l, w)
	}
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
		return replayedHeader + ": true"
	case a.code != "" && a.retryAfter != "":
		return string(a.code) + " · Retry-After: " + a.retryAfter
	case a.code != "":
		return string(a.code)
	case isUnprotected(l):
		return unguarded(l, w)
	}
	return keyShown(l) + " " + w["claimed"]
}
