package intx

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
)

// played is what came of an operation on a script.
type played struct {
	res  semel.Result[string]
	err  error
	runs int
	s    *script
}

// play runs work that returns these, in time that is not real.
func play(t *testing.T, set Settings, returns error, plan ...entry) (p played) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p.s = &script{plan: plan}
		p.res, p.err = Do(t.Context(), newFlow(t, p.s, set), op(), func(context.Context, *script) (string, error) {
			p.runs++
			return "mine", returns
		})
	})
	return p
}

func (p *played) want(t *testing.T, value string, replayed bool, runs int, log ...string) {
	t.Helper()
	if p.err != nil || p.res.Value != value || p.res.Replayed != replayed || p.runs != runs || !slices.Equal(p.s.log, log) {
		t.Errorf("%+v, %v after %d runs: %q; want %q (replayed: %v) after %d: %q", p.res, p.err, p.runs, p.s.log, value, replayed, runs, log)
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	conflict, lost := entry{commit: errConflict}, entry{commit: errLost}
	for _, c := range []struct {
		name string
		plan []entry
		runs int
		log  []string
	}{
		{"a conflict of the claim", []entry{{begin: errConflict}, {}}, 1, []string{`commit "mine"`}},
		{"a lost claim", []entry{{begin: errLost}, {begin: errLost}, {}}, 1, []string{`commit "mine"`}},
		{"a conflict of the commit", []entry{conflict, {}}, 2, []string{`commit "mine"`, `commit "mine"`}},
		{"a connection lost before the commit", []entry{lost, {}}, 2, []string{`commit "mine"`, `commit "mine"`}},
	} {
		p := play(t, Settings{}, nil, c.plan...)
		t.Log(c.name)
		p.want(t, "mine", false, c.runs, c.log...)
	}
}

func TestRetriesEnd(t *testing.T) {
	t.Parallel()
	p := play(t, Settings{Retries: 2}, nil, entry{commit: errConflict})
	if p.runs != 3 || !errors.Is(p.err, semel.ErrStoreUnavailable) || !errors.Is(p.err, errConflict) || errors.Is(p.err, semel.ErrNoReply) {
		t.Errorf("%v after %d runs; want the store unavailable after 3", p.err, p.runs)
	}
	p = play(t, Settings{Retries: -1}, nil, entry{commit: errConflict})
	if p.runs != 1 {
		t.Errorf("%d runs without retries", p.runs)
	}
	p = play(t, Settings{Retries: 2}, errConflict, entry{})
	if p.runs != 3 || p.err != errConflict {
		t.Errorf("%v after %d runs; want what the work returned, after 3", p.err, p.runs)
	}
}

// A database that cannot be reached is not asked for longer than the timeout.
func TestUnreachableDatabase(t *testing.T) {
	t.Parallel()
	p := play(t, Settings{Retries: 1_000_000, Timeout: time.Second}, nil, entry{begin: errLost})
	if p.runs != 0 || !errors.Is(p.err, semel.ErrStoreUnavailable) || len(p.s.begins) > 30 {
		t.Errorf("%v after %d claims", p.err, len(p.s.begins))
	}
}

func TestFailuresOfTheWork(t *testing.T) {
	t.Parallel()
	business := errors.New("business")
	p := play(t, Settings{}, business, entry{})
	if p.err != business || p.runs != 1 || !slices.Equal(p.s.log, []string{"rollback"}) {
		t.Errorf("%v after %d runs: %q; want the failure, rolled back once", p.err, p.runs, p.s.log)
	}
	p = play(t, Settings{}, business, entry{rollback: errLost}, entry{})
	if p.err != business || p.runs != 2 {
		t.Errorf("%v after %d runs; want the failure after the connection was lost and the work repeated", p.err, p.runs)
	}
	p = play(t, Settings{}, business, entry{rollback: ErrEnded})
	if !errors.Is(p.err, business) || !errors.Is(p.err, ErrEnded) || p.runs != 1 {
		t.Errorf("%v after %d runs; want both errors, and no second run of what may be committed", p.err, p.runs)
	}
	p = play(t, Settings{}, semel.Final(business), entry{})
	if !errors.Is(p.err, business) || !slices.Equal(p.s.log, []string{"undo", `commit {"message":"business"}`}) {
		t.Errorf("%v: %q; want the failure committed, after the savepoint", p.err, p.s.log)
	}
	p = play(t, Settings{}, semel.Final(business), entry{undo: errConflict}, entry{})
	if !errors.Is(p.err, business) || p.runs != 2 {
		t.Errorf("%v after %d runs; want the failure after a conflict at the savepoint", p.err, p.runs)
	}
}

// What the database refuses would be refused again.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, e := range []entry{{commit: errOther}, {begin: errOther}} {
		p := play(t, Settings{}, nil, e)
		if !errors.Is(p.err, errOther) || len(p.s.begins) != 1 || errors.Is(p.err, semel.ErrStoreUnavailable) {
			t.Errorf("%v after %d transactions; want the refusal, once", p.err, len(p.s.begins))
		}
	}
	p := play(t, Settings{}, nil, entry{commit: ErrEnded})
	if !errors.Is(p.err, ErrEnded) || p.runs != 1 {
		t.Errorf("%v after %d runs", p.err, p.runs)
	}
}

func TestSettlesACommitWithoutAReply(t *testing.T) {
	t.Parallel()
	committed := play(t, Settings{}, nil, lostCommit(), answering(semel.ClaimDone, true))
	committed.want(t, "mine", false, 1, `commit "mine"`)
	if committed.res.Fence != 9 || committed.s.begins[0].claim.Token != committed.s.begins[1].claim.Token {
		t.Errorf("%+v; want the record's fence, asked for with the same token", committed.res)
	}
	rolledBack := play(t, Settings{}, nil, lostCommit(), entry{}, entry{})
	rolledBack.want(t, "mine", false, 2, `commit "mine"`, "rollback", `commit "mine"`)
	faster := play(t, Settings{}, nil, lostCommit(), answering(semel.ClaimDone, false))
	faster.want(t, "theirs", true, 1, `commit "mine"`)
	slow := play(t, Settings{}, nil, lostCommit(), entry{begin: errLocked}, entry{begin: errLost}, answering(semel.ClaimDone, true))
	slow.want(t, "mine", false, 1, `commit "mine"`)
}

func TestCommitThatCannotBeSettled(t *testing.T) {
	t.Parallel()
	for _, why := range []error{errLocked, errLost} {
		p := play(t, Settings{}, nil, lostCommit(), entry{begin: why})
		if !errors.Is(p.err, semel.ErrNoReply) || p.runs != 1 {
			t.Errorf("%v after %d runs; want no reply, and no second run", p.err, p.runs)
		}
	}
	p := play(t, Settings{}, nil, lostCommit(), answering(semel.ClaimMismatch, false))
	if _, ok := errors.AsType[*semel.MismatchError](p.err); !ok {
		t.Errorf("%v; want a mismatch: the key is another one's now", p.err)
	}
}

// The record of a commit without a reply may have expired before anybody could ask for
// it: that there is none does not say that the work had no effect.
func TestCommitThatIsSettledTooLate(t *testing.T) {
	t.Parallel()
	late := lostCommit()
	late.during = func() { <-time.After(time.Second) }
	p := play(t, Settings{Retention: 2 * time.Second, Wait: -1}, nil, late, entry{})
	if !errors.Is(p.err, semel.ErrNoReply) || p.runs != 1 || !slices.Equal(p.s.log, []string{`commit "mine"`, "rollback"}) {
		t.Errorf("%v after %d runs: %q; want no reply, and no second run", p.err, p.runs, p.s.log)
	}
}

// The caller's context ends during the commit: its outcome counts, and nothing is
// begun any more.
func TestCallerWhoGoes(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	for _, c := range []struct {
		commit error
		next   entry
		want   error
	}{
		{nil, entry{}, nil},
		{lostCommit().commit, answering(semel.ClaimDone, true), nil},
		{errConflict, entry{}, errConflict},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		s := &script{plan: []entry{{commit: c.commit, during: func() { cancel(gone) }}, c.next}}
		f := newFlow(t, s, Settings{})
		runs := 0
		_, err := Do(ctx, f, op(), func(context.Context, *script) (string, error) { runs++; return "mine", nil })
		if !errors.Is(err, c.want) || runs != 1 {
			t.Errorf("%v after %d runs; want %v after one", err, runs, c.want)
		}
		before := len(s.begins)
		_, err = Do(ctx, f, op(), nothing)
		if !errors.Is(err, gone) || len(s.begins) != before {
			t.Errorf("a call after that: %v; want the cause, and no transaction", err)
		}
	}
}

func TestPanicRollsBackOnce(t *testing.T) {
	t.Parallel()
	s := &script{plan: []entry{{}}}
	defer func() {
		if p := recover(); p != "boom" || !slices.Equal(s.log, []string{"rollback"}) {
			t.Errorf("recovered %v, %q", p, s.log)
		}
	}()
	_, _ = Do(t.Context(), newFlow(t, s, Settings{}), op(), func(context.Context, *script) (string, error) { panic("boom") })
}

// panicky is an observer that panics at one event.
type panicky struct {
	kind semel.EventKind
	call string
}

func (p panicky) Observe(ev semel.Event) {
	if ev.Kind == p.kind && ev.Call == p.call {
		panic(p)
	}
}

// An open transaction holds its key, and where there is one writer all keys.
func TestObserverWhoPanicsLeavesNoTransactionOpen(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]panicky{
		"when the claim is there": {semel.EventStoreCall, "claim"},
		"when work begins":        {semel.EventClaim, ""},
		"when work has failed":    {semel.EventFinish, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &script{plan: []entry{{}}}
			f := newFlow(t, s, Settings{Observer: at})
			func() {
				defer func() {
					if recover() != at {
						t.Error("the panic is not the observer's")
					}
				}()
				_, _ = Do(t.Context(), f, op(), func(context.Context, *script) (string, error) { return "", errOther })
			}()
			if !slices.Equal(s.log, []string{"rollback"}) {
				t.Errorf("the transaction: %q; want it rolled back", s.log)
			}
		})
	}
}
