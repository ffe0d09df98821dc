package intx

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel"
)

// The errors of the scripted database.
var (
	errConflict = errors.New("conflict")
	errLocked   = errors.New("locked")
	errLost     = errors.New("lost")
	errOther    = errors.New("other")
)

// script is a database whose transactions go as written, one entry for each Begin; the
// last one stands for all that follow.
type script struct {
	conns int
	plan  []entry

	mu     sync.Mutex
	begins []begun
	log    []string // what happened to transactions
}

type begun struct {
	claim semel.ClaimParams
	wait  time.Duration
}

// entry is one transaction.
type entry struct {
	res                    semel.ClaimResult // default acquired
	begin                  error
	undo, commit, rollback error
	hold                   <-chan struct{} // Begin waits for it
	during                 func()          // happens in the commit
}

func (s *script) Conns() int { return s.conns }

func (s *script) Class(err error) Class {
	switch {
	case errors.Is(err, errConflict):
		return ClassConflict
	case errors.Is(err, errLocked):
		return ClassLocked
	case errors.Is(err, errLost):
		return ClassLost
	}
	return ClassOther
}

func (s *script) Begin(ctx context.Context, p *semel.ClaimParams, wait time.Duration) (Tx[*script], semel.ClaimResult, error) {
	s.mu.Lock()
	e := s.plan[min(len(s.begins), len(s.plan)-1)]
	s.begins = append(s.begins, begun{*p, wait})
	s.mu.Unlock()
	if e.hold != nil {
		select {
		case <-e.hold:
		case <-ctx.Done():
			return nil, semel.ClaimResult{}, context.Cause(ctx)
		}
	}
	if e.begin != nil {
		return nil, semel.ClaimResult{}, e.begin
	}
	if e.res.Outcome == 0 {
		e.res = semel.ClaimResult{Outcome: semel.ClaimAcquired, Mine: true, Record: semel.Record{Fence: 7, Attempt: 1}}
	}
	return &scripted{s, e}, e.res, nil
}

func (s *script) Mark(ctx context.Context, _ *script, p *semel.ClaimParams, wait time.Duration) (semel.ClaimResult, error) {
	_, res, err := s.Begin(ctx, p, wait)
	return res, err
}

func (s *script) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, what)
}

type scripted struct {
	s *script
	e entry
}

func (t *scripted) Handle() *script { return t.s }

func (t *scripted) Undo(context.Context) error { t.s.note("undo"); return t.e.undo }

func (t *scripted) Commit(ctx context.Context, p *semel.FinishParams) error {
	t.s.note("commit " + string(p.Result.Data))
	if t.e.during != nil {
		t.e.during()
	}
	if ctx.Err() != nil {
		return errors.Join(errOther, ctx.Err()) // what was sent must not depend on its caller
	}
	return t.e.commit
}

func (t *scripted) Rollback() error { t.s.note("rollback"); return t.e.rollback }

// newFlow returns a flow on a script.
func newFlow(t *testing.T, s *script, set Settings) *Flow[*script] {
	t.Helper()
	f, err := New[*script](s, nil, set)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func op() semel.Op {
	return semel.Op{Key: semel.KeyOf(semel.Scope{Principal: "p", Operation: "o"}, "k"), Input: semel.NoInput}
}

// lost is a commit without a reply.
func lostCommit() entry { return entry{commit: errors.Join(semel.ErrNoReply, errLost)} }

// answering is a Begin that finds a record.
func answering(outcome semel.Outcome, mine bool) entry {
	return entry{res: semel.ClaimResult{Outcome: outcome, Mine: mine, Record: semel.Record{
		State: semel.StateDone, Fence: 9, Attempt: 2, Result: semel.StoredResult{Kind: semel.ResultValue, Data: []byte(`"theirs"`)},
	}}}
}
