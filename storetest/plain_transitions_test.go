package storetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

func (s *plainStore) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, now, err := s.find(ctx, p.Key)
	if err != nil {
		return semel.ClaimResult{}, err
	}
	if e == nil {
		if s.flaw == claimReadsThenWrites {
			s.pause()
		}
		return s.acquire(s.fresh(&p), now, &p, p.Policy), nil
	}
	if e.rec.Fingerprint != p.Fingerprint && !s.skipsFingerprint(e, now) {
		return semel.ClaimResult{Outcome: semel.ClaimMismatch}, nil
	}
	own := e.rec.State == semel.StateRunning && e.token == p.Token
	switch {
	case own && s.flaw != ownClaimRuns:
		e.lease = now.Add(p.Lease)
		if s.flaw == ownClaimRaisesFence {
			e.rec.Fence++
		}
		return s.answer(semel.ClaimAcquired, e, now, &p), nil
	case e.rec.State == semel.StateRunning && !e.lapsed(now):
		return s.answer(semel.ClaimRunning, e, now, &p), nil
	case e.rec.State == semel.StateDone:
		return s.answer(semel.ClaimDone, e, now, &p), nil
	}
	return s.next(e, now, &p), nil
}

// skipsFingerprint is for flaws only.
func (s *plainStore) skipsFingerprint(e *entry, now time.Time) bool {
	return s.flaw == runningBeatsMismatch && e.rec.State == semel.StateRunning && !e.lapsed(now) ||
		s.flaw == doneBeatsMismatch && e.rec.State == semel.StateDone
}

// next claims a record that is lapsed, released or in doubt.
func (s *plainStore) next(e *entry, now time.Time, p *semel.ClaimParams) semel.ClaimResult {
	policy := e.rec.Policy
	if s.flaw == callersPolicy {
		policy = p.Policy
	}
	held := e.lapsed(now) && policy == semel.AtMostOnce && s.flaw != lapseClaimable
	switch {
	case (held || e.rec.State == semel.StateInDoubt) && !p.Recovering:
		return s.answer(semel.ClaimInDoubt, e, now, p)
	case held || e.rec.State == semel.StateInDoubt:
		if e.rec.Cause == semel.CauseNone {
			e.rec.Cause, e.rec.Since = semel.CauseLapse, e.lease
		}
		return s.acquire(e, now, p, semel.AtMostOnce)
	case p.MaxAttempts > 0 && e.rec.Attempt >= p.MaxAttempts && s.flaw != attemptsUnlimited:
		if e.rec.State == semel.StateReleased {
			e.token = s.nobody()
		}
		e.rec.State, e.rec.Cause, e.rec.Since = semel.StateInDoubt, semel.CauseAttempts, now
		return s.answer(semel.ClaimInDoubt, e, now, p)
	}
	if s.flaw == takeoverReadsThenWrites {
		s.pause()
	}
	e.rec.Cause, e.rec.Since = semel.CauseNone, time.Time{}
	e.rec.StartedAt = now
	if s.flaw == labelsFollow {
		e.rec.ScopeID, e.rec.Operation, e.rec.KeyText = p.ScopeID, p.Operation, p.KeyText
	}
	return s.acquire(e, now, p, p.Policy)
}

// nobody is a token that no caller has.
func (s *plainStore) nobody() semel.Token {
	if s.flaw == zeroOwns {
		return semel.Token{}
	}
	return semel.NewToken()
}

// fresh puts a new record in place of whatever there was.
func (s *plainStore) fresh(p *semel.ClaimParams) *entry {
	s.remove(p.Key)
	e := &entry{format: semel.RecordFormat, rec: semel.Record{
		Key: p.Key, Fence: s.forgotten, Fingerprint: p.Fingerprint, StartedAt: s.clock(),
		ScopeID: p.ScopeID, Operation: p.Operation, KeyText: p.KeyText,
	}}
	s.entries[s.id(p.Key)] = e
	return e
}

func (s *plainStore) acquire(e *entry, now time.Time, p *semel.ClaimParams, policy semel.Policy) semel.ClaimResult {
	s.writes.Add(1)
	e.rec.State, e.rec.Policy, e.token = semel.StateRunning, policy, p.Token
	e.rec.Attempt++
	e.rec.Fence = s.fenceAfter(e.rec.Fence, now)
	e.lease = now.Add(p.Lease)
	if s.flaw == leaseIsRetention {
		e.lease = now.Add(p.Retention)
	}
	e.expires = s.expiry(now, p.Retention)
	if p.Mark && s.flaw != markRuns {
		s.done(e, semel.StoredResult{Kind: semel.ResultMark})
	}
	return s.answer(semel.ClaimAcquired, e, now, p)
}

func (s *plainStore) answer(o semel.Outcome, e *entry, now time.Time, p *semel.ClaimParams) semel.ClaimResult {
	return semel.ClaimResult{Outcome: o, Mine: e.token == p.Token, Record: e.seen(now)}
}

func (s *plainStore) done(e *entry, result semel.StoredResult) {
	e.rec.State, e.rec.Cause, e.rec.Since, e.rec.Checkpoint = semel.StateDone, semel.CauseNone, time.Time{}, nil
	switch data := result.Data; {
	case s.flaw == emptyDropped && len(data) == 0:
		result = semel.StoredResult{}
	case s.flaw == resultCut:
		result.Data = bytes.Clone(data[:min(len(data), 1<<16)])
	case s.flaw == resultEndsAtNUL:
		before, _, _ := bytes.Cut(data, []byte{0})
		result.Data = bytes.Clone(before)
	case s.flaw != resultAliased:
		result.Data = bytes.Clone(data)
	}
	e.rec.Result = result
}

func (s *plainStore) Renew(ctx context.Context, p semel.RenewParams) (semel.RenewResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, now, err := s.find(ctx, p.Key)
	if err != nil {
		return semel.RenewResult{}, err
	}
	if e != nil && e.rec.State == semel.StateRunning && s.flaw == renewRevives {
		e.token = p.Token
	}
	if e == nil || e.token != p.Token || e.rec.State != semel.StateRunning || s.flaw == lapsedIsLost && e.lapsed(now) {
		return semel.RenewResult{}, s.fenced()
	}
	e.lease = now.Add(p.Lease)
	if p.Policy == semel.AtMostOnce || p.Policy != 0 && s.flaw == policyLowered {
		e.rec.Policy = p.Policy
	}
	return semel.RenewResult{LeaseLeft: p.Lease}, nil
}

func (s *plainStore) fenced() error {
	if s.flaw == fencedIsUnavailable {
		return semel.ErrStoreUnavailable
	}
	return semel.ErrFenced
}

func (s *plainStore) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, now, err := s.find(ctx, p.Key)
	switch {
	case err != nil:
		return semel.FinishResult{}, err
	case e != nil && s.flaw == releaseDeletesByKey && p.State == semel.StateReleased && e.rec.State == semel.StateRunning:
		s.remove(p.Key)
		return semel.FinishResult{}, nil
	case e == nil, e.token != p.Token && s.flaw != finishOfAnyone:
		return semel.FinishResult{}, s.fenced()
	}
	if s.flaw == finishReadsThenWrites {
		s.pause()
	}
	switch e.rec.State {
	case semel.StateDone, semel.StateReleased:
		if e.rec.State != p.State || s.flaw == finishOnce {
			return semel.FinishResult{}, s.fenced()
		}
		if s.flaw != lastResultStands {
			return semel.FinishResult{}, nil
		}
	}
	if p.Unrun && e.rec.Cause != semel.CauseNone && s.flaw != unrunEndsDoubt {
		if e.rec.State == semel.StateRunning {
			s.prolong(e, now, p.Retention)
		}
		e.rec.State = semel.StateInDoubt
		return semel.FinishResult{}, nil
	}
	return semel.FinishResult{}, s.end(e, now, &p)
}

// end writes the outcome of a run.
func (s *plainStore) end(e *entry, now time.Time, p *semel.FinishParams) error {
	switch p.State {
	case semel.StateDone:
		s.done(e, p.Result)
	case semel.StateReleased:
		e.rec.State = semel.StateReleased
		if s.flaw != causeStays {
			e.rec.Cause, e.rec.Since = semel.CauseNone, time.Time{}
		}
		if s.flaw == releaseForgetsAttempts {
			e.rec.Attempt = 0
		}
	case semel.StateInDoubt:
		e.rec = e.seen(now)
		e.rec.State = semel.StateInDoubt
		if e.rec.Cause == semel.CauseNone || s.flaw == causeReplaced {
			e.rec.Cause, e.rec.Since = p.Cause, now
		}
	default:
		return fmt.Errorf("a run cannot finish as %v", p.State)
	}
	s.prolong(e, now, p.Retention)
	return nil
}

func (s *plainStore) prolong(e *entry, now time.Time, retention time.Duration) {
	short := !e.expires.IsZero() && e.expires.Sub(now) < retention/2
	switch s.flaw {
	case expiryAlwaysMoves:
		short = true
	case expiryNeverMoves:
		short = false
	}
	if short {
		e.expires = s.expiry(now, retention)
	}
}

func (s *plainStore) Resolve(ctx context.Context, p semel.ResolveParams) (semel.ResolveResult, error) {
	if p.Resolution != semel.ResolveDelete && p.Retention < time.Second && s.flaw != resolveForgetsAtOnce {
		return semel.ResolveResult{}, errors.New("plain: a decision needs a retention of 1s or more")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, now, err := s.find(ctx, p.Key)
	if err != nil {
		return semel.ResolveResult{}, err
	}
	if e == nil {
		return semel.ResolveResult{Resolved: p.Resolution == semel.ResolveDelete}, nil
	}
	same := e.token == p.Token &&
		(p.Resolution == semel.ResolveDone && e.rec.State == semel.StateDone ||
			p.Resolution == semel.ResolveDidNotHappen && e.rec.State == semel.StateReleased)
	alive := e.rec.State == semel.StateRunning && !e.lapsed(now) && s.flaw != resolveUnderLease
	final := e.rec.State == semel.StateDone && p.Resolution != semel.ResolveDelete
	moved := e.rec.Fence != p.Fence && s.flaw != resolveIgnoresFence
	if same || alive || final || moved {
		return semel.ResolveResult{Resolved: same, Record: e.seen(now)}, nil
	}
	return s.decide(e, now, &p), nil
}

func (s *plainStore) decide(e *entry, now time.Time, p *semel.ResolveParams) semel.ResolveResult {
	s.writes.Add(1)
	switch p.Resolution {
	case semel.ResolveDelete:
		s.remove(p.Key)
		return semel.ResolveResult{Resolved: true}
	case semel.ResolveDone:
		s.done(e, p.Result)
	default:
		e.rec.State, e.rec.Cause, e.rec.Since = semel.StateReleased, semel.CauseNone, time.Time{}
		if s.flaw != decisionKeepsAttempts {
			e.rec.Attempt = 0
		}
	}
	if s.flaw != resolveLeavesOwner {
		e.token = p.Token
		e.rec.Fence = s.fenceAfter(e.rec.Fence, now)
	}
	e.expires = s.expiry(now, p.Retention)
	return semel.ResolveResult{Resolved: true, Record: e.seen(now)}
}
