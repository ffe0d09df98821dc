package demo

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"time"

	"github.com/semel-go/semel/semelhttp"
)

// The stories, in the order in which they are told.
const (
	storyDoubleClick = "double-click"
	storyLostAnswer  = "lost-answer"
	storyDeadShop    = "dead-shop"
	storyVotes       = "vote-stuffing"
	storyWebhook     = "webhook-twice"
)

// The sides of a story.
const (
	sideShop    = "shop"    // unprotected
	sideGateway = "gateway" // protected

	sidePlain   = "plain"   // the office's unprotected handlers
	sideLibrary = "library" // its protected ones
)

func stories() []string {
	return []string{storyDoubleClick, storyLostAnswer, storyDeadShop, storyVotes, storyWebhook}
}

func sidesOf(story string) []string {
	if story == storyVotes || story == storyWebhook {
		return []string{sidePlain, sideLibrary}
	}
	return []string{sideShop, sideGateway}
}

// faultOf is the fault that meets the first request of a story.
func faultOf(story string) string {
	switch story {
	case storyLostAnswer, storyWebhook:
		return faultLoseAnswer
	case storyDeadShop:
		return faultDie
	}
	return ""
}

// lane is one side of a story: one order, paid under one key; one member, voting
// for one tea; one event of the payment provider.
type lane struct {
	story, side string
	order       string // what the service counts by; of a vote, the member
	key         string // what its requests carry
	attempts    []attempt
	last        attempt // of those that ended
	charges     int     // in the service's table: charges, votes, parcels
	total       int64   // of them, in fen
	stage       stage
	settled     int64 // the charge that the operator found
}

func (l *lane) id() string { return l.story + "-" + l.side }

func newLane(story, side string) *lane {
	l := &lane{story: story, side: side, order: newOrder(), key: newUUID(), stage: stageStart}
	switch story {
	case storyVotes:
		l.order = "M-" + rand.Text()[:6]
		l.key = l.order
	case storyWebhook:
		l.key = "evt_" + rand.Text()[:12]
	}
	return l
}

func newOrder() string { return "A-" + rand.Text()[:6] }

// end notes how the n-th attempt ended. Of two that ran at once the replay may
// come back before the answer that it repeats.
func (l *lane) end(n int, a attempt) {
	l.attempts[n], l.last = a, a
	next := stageAfter(a, l.charges)
	if l.stage == stageReplayed && next == stageFirst {
		return
	}
	l.stage = next
}

// newUUID is a random UUID (version 4, RFC 9562).
func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// attempt is one request on its way through the hop, and what came back.
type attempt struct {
	at     time.Time
	ended  bool
	fate   fate
	status int // of the answer, lost or not; 0 for none
	// replayed, code and retryAfter are the gateway's headers and problem code.
	replayed   bool
	code       semelhttp.Code
	retryAfter string
}

// fate is what became of an answer.
type fate string

const (
	fateDelivered fate = "delivered"
	fateLost      fate = "lost"    // it came and was dropped on the way
	fateCut       fate = "cut"     // the service died in between
	fateRefused   fate = "refused" // nobody listened
	fateLeft      fate = "left"    // the client went away before it came
)

// stage is where a lane is in its story: what the sentence beside it tells.
type stage string

const (
	stageStart    stage = "start"
	stageSent     stage = "sent"
	stageFirst    stage = "first"    // answered, one charge
	stageAgain    stage = "again"    // answered, charged more than once
	stageReplayed stage = "replayed" // answered from the record
	stageLost     stage = "lost"
	stageDied     stage = "died"
	stageTooSoon  stage = "too-soon" // the shop died for another request, before this charge
	stageDown     stage = "down"
	stageBusy     stage = "busy"     // 409 in-progress
	stageHeld     stage = "held"     // 409 outcome-unknown
	stageSettled  stage = "settled"  // the operator found a charge
	stageReleased stage = "released" // the operator found none
	stageOther    stage = "other"
)

// stageAfter is the stage that an ended attempt leads to.
func stageAfter(a attempt, charges int) stage {
	switch a.fate {
	case fateLost:
		return stageLost
	case fateCut:
		return stageOfDeath(charges)
	case fateRefused:
		return stageDown
	case fateLeft:
		return stageOther
	}
	if a.code != "" {
		return stageOfCode(a.code, charges)
	}
	switch {
	case a.replayed:
		return stageReplayed
	case a.status != http.StatusCreated: // which all services here answer with
		return stageOther
	case charges > 1:
		return stageAgain
	}
	return stageFirst
}

func stageOfDeath(charges int) stage {
	if charges == 0 {
		return stageTooSoon
	}
	return stageDied
}

func stageOfCode(code semelhttp.Code, charges int) stage {
	switch code {
	case semelhttp.CodeUpstreamNoAnswer:
		return stageOfDeath(charges)
	case semelhttp.CodeUpstreamUnreachable:
		return stageDown
	case semelhttp.CodeOutcomeUnknown:
		return stageHeld
	case semelhttp.CodeInProgress:
		return stageBusy
	}
	return stageOther
}
