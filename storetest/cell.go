package storetest

import (
	"cmp"
	"context"
	"fmt"

	"github.com/semel-go/semel"
)

// cell is one method called in one row's situation, with what it must answer.
type cell struct {
	name string
	want answer
	call call
	// becomes is the state that a success leads to.
	becomes semel.State
	// mark: the claim carries Mark. mismatch: it carries another fingerprint.
	mark, mismatch bool
}

// call calls the method. owner and fence are those of the row.
type call func(ctx context.Context, s semel.Store, key semel.KeyID, owner semel.Token, fence semel.Fence) reply

// reply is what any of the methods said.
type reply struct {
	outcome  semel.Outcome
	mine     bool
	resolved bool
	record   semel.Record
	err      error
}

// tableCases makes a case of each row.
func tableCases() (cases []Case) {
	for _, r := range table() {
		cases = append(cases, Case{Name: "table/" + r.name, Why: r.why, check: r.check})
	}
	return cases
}

func (r row) check(t *T) {
	for _, c := range r.cells() {
		c.check(t, r.in)
	}
}

// cells generates every call that makes sense in a row.
func (r row) cells() []cell {
	other := semel.NewToken()
	cells := append(r.claims("another token's", other, r.claim), r.claims("the owner's", semel.Token{}, r.own)...)
	cells = append(cells,
		claimCell("another token's claim with Recovering", r.recovering, other, func(p *semel.ClaimParams) { p.Recovering = true }),
		limitCell(r.limit, other))
	cells = append(cells, r.ownerCells()...)
	cells = append(cells, strangerCells(other)...)
	return append(cells, r.resolveCells()...)
}

// claims are the claims of a token; the zero one stands for the owner's.
func (r row) claims(whose string, token semel.Token, want answer) []cell {
	cells := []cell{claimCell(whose+" claim", want, token, func(*semel.ClaimParams) {})}
	if token != (semel.Token{}) {
		marked := claimCell(whose+" claim with Mark", want, token, func(p *semel.ClaimParams) { p.Mark = true })
		marked.mark = true
		cells = append(cells, marked)
	}
	if want == fresh {
		return cells
	}
	mismatch := claimCell(whose+" claim with another fingerprint", want, token, func(p *semel.ClaimParams) { p.Fingerprint = fingerprint(2) })
	mismatch.mismatch = true
	return append(cells, mismatch)
}

func claimCell(name string, want answer, token semel.Token, set func(*semel.ClaimParams)) cell {
	return cell{name: name, want: want, becomes: semel.StateRunning,
		call: func(ctx context.Context, s semel.Store, key semel.KeyID, owner semel.Token, _ semel.Fence) reply {
			if token != (semel.Token{}) {
				owner = token
			}
			p := claimOf(key, owner)
			set(&p)
			res, err := s.Claim(ctx, p)
			return reply{outcome: res.Outcome, mine: res.Mine, record: res.Record, err: err}
		}}
}

// limitCell is a claim whose MaxAttempts is what rows have behind them: one run.
func limitCell(want answer, token semel.Token) cell {
	return claimCell("another token's claim with MaxAttempts 1", want, token, func(p *semel.ClaimParams) { p.MaxAttempts = 1 })
}

// ownerCells are the owner's renew, finish and checkpoint.
func (r row) ownerCells() []cell {
	return []cell{
		renewCell("the owner's renew", r.renew, semel.Token{}),
		finishCell("the owner's finish", r.done, semel.Token{}, doneOf(semel.KeyID{}, semel.Token{}, "second")),
		finishCell("the owner's finish", r.released, semel.Token{}, releaseOf(semel.KeyID{}, semel.Token{})),
		finishCell("the owner's finish", r.doubt, semel.Token{}, doubtOf(semel.KeyID{}, semel.Token{}, semel.CauseError)),
	}
}

// strangerCells are the same by a token that owns nothing: always fenced.
func strangerCells(other semel.Token) []cell {
	return []cell{
		renewCell("another token's renew", fenced, other),
		finishCell("another token's finish", fenced, other, doneOf(semel.KeyID{}, other, "stolen")),
		finishCell("another token's finish", fenced, other, releaseOf(semel.KeyID{}, other)),
		finishCell("another token's finish", fenced, other, doubtOf(semel.KeyID{}, other, semel.CauseError)),
	}
}

func renewCell(name string, want answer, token semel.Token) cell {
	return cell{name: name, want: want, becomes: semel.StateRunning,
		call: func(ctx context.Context, s semel.Store, key semel.KeyID, owner semel.Token, _ semel.Fence) reply {
			if token != (semel.Token{}) {
				owner = token
			}
			_, err := s.Renew(ctx, semel.RenewParams{Key: key, Token: owner, Lease: lease})
			return reply{err: err}
		}}
}

func finishCell(name string, want answer, token semel.Token, p semel.FinishParams) cell {
	return cell{name: fmt.Sprintf("%s as %v", name, p.State), want: want, becomes: p.State,
		call: func(ctx context.Context, s semel.Store, key semel.KeyID, owner semel.Token, _ semel.Fence) reply {
			if token != (semel.Token{}) {
				owner = token
			}
			p.Key, p.Token = key, owner
			_, err := s.Finish(ctx, p)
			return reply{err: err}
		}}
}

// resolveCells are the decisions, each with the fence of the record and with an
// older one. There is nothing to compare where there is no record.
func (r row) resolveCells() []cell {
	decisions := []cell{
		resolveCell(r.resolveDone, semel.ResolveDone, semel.StateDone, 0),
		resolveCell(r.resolveReleased, semel.ResolveDidNotHappen, semel.StateReleased, 0),
		resolveCell(r.toDelete, semel.ResolveDelete, semel.StateNone, 0),
		resolveCell(refuses, semel.ResolveDone, semel.StateDone, -1),
		resolveCell(refuses, semel.ResolveDidNotHappen, semel.StateReleased, -1),
	}
	if r.toDelete != nothing {
		decisions = append(decisions, resolveCell(refuses, semel.ResolveDelete, semel.StateNone, -1))
	}
	return decisions
}

func resolveCell(want answer, how semel.Resolution, becomes semel.State, older semel.Fence) cell {
	name := fmt.Sprintf("resolve as %v", how)
	if older != 0 {
		name += " with an older fence"
	}
	token := semel.NewToken()
	return cell{name: name, want: want, becomes: becomes,
		call: func(ctx context.Context, s semel.Store, key semel.KeyID, _ semel.Token, fence semel.Fence) reply {
			res, err := s.Resolve(ctx, semel.ResolveParams{
				Key: key, Token: token, Fence: fence + older, Resolution: how, Result: value("resolved"), Retention: retention,
			})
			return reply{resolved: res.Resolved, record: res.Record, err: err}
		}}
}

// check brings a new key into the situation, calls the method and then calls it
// again with the same parameters: replies get lost, and client libraries re-send.
func (c cell) check(t *T, in situation) {
	key := t.key()
	owner := in(t, key)
	before := t.read(key)
	first := c.call(t.ctx, t.store, key, owner, before.Fence)
	middle := t.read(key)
	problem := cmp.Or(c.answered(first), c.shown(first, middle), c.changed(before, middle))
	if problem != "" {
		t.errorf("%s: %s; the record was %s and is %s", c.name, problem, brief(before), brief(middle))
		return
	}
	second := c.call(t.ctx, t.store, key, owner, before.Fence)
	if problem := c.repeated(first, second); problem != "" {
		t.errorf("%s, sent twice: %s; the record was %s", c.name, problem, brief(middle))
		return
	}
	t.wantUnchanged(c.name+", sent twice:", middle, t.read(key))
}
