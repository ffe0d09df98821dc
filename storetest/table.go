package storetest

import "github.com/semel-go/semel"

// answer is one cell of the table: what a method says, and what the record is
// afterwards.
type answer uint8

const (
	_ answer = iota

	// Answers to a claim.
	fresh    // acquired; attempt 1, fence up
	next     // acquired; attempt + 1, fence up
	again    // acquired; nothing changes but the lease, which is renewed
	recovers // acquired; attempt + 1, fence up, AtMostOnce, the doubt stays written
	busy     // running; nothing changes
	replays  // done, with the result; nothing changes
	doubts   // in doubt; nothing changes
	givesUp  // in doubt, cause attempts; fence and attempt stay

	// Answers to the owner's renew, finish and checkpoint.
	succeeds // and does what it says
	stands   // succeeds, since it was done before; nothing changes
	fenced   // ErrFenced; nothing changes

	// Answers to a resolve.
	decides // resolved: does what it says, fence up
	refuses // not resolved; nothing changes
	nothing // resolved, since there is nothing to delete
)

// row is one row of the contract's table. The claims are by another token unless
// it says own; renew, finish and checkpoint are the owner's, since another token
// is always fenced; the resolves bring the right fence. A claim with Mark answers
// as one without, and another fingerprint answers mismatch in every row that has a
// record.
type row struct {
	name string
	why  string
	in   situation

	claim, own, recovering, limit          answer
	renew, done, released, doubt           answer
	resolveDone, resolveReleased, toDelete answer
}

// table is the contract's table.
func table() []row {
	return []row{
		{
			name: "none", in: noRecord,
			why:   "a key that nobody used runs; an owner without a record has lost it and must not write one",
			claim: fresh, own: fresh, recovering: fresh, limit: fresh,
			renew: fenced, done: fenced, released: fenced, doubt: fenced,
			resolveDone: refuses, resolveReleased: refuses, toDelete: nothing,
		},
		{
			name: "expired done", in: after(2*retention, doneRecord),
			why:   "an expired record still answered while the purge was behind: expiry is part of every read",
			claim: fresh, own: fresh, recovering: fresh, limit: fresh,
			renew: fenced, done: fenced, released: fenced, doubt: fenced,
			resolveDone: refuses, resolveReleased: refuses, toDelete: nothing,
		},
		{
			name: "expired released", in: after(2*retention, releasedRecord),
			why:   "an expired record still answered while the purge was behind: expiry is part of every read",
			claim: fresh, own: fresh, recovering: fresh, limit: fresh,
			renew: fenced, done: fenced, released: fenced, doubt: fenced,
			resolveDone: refuses, resolveReleased: refuses, toDelete: nothing,
		},
		{
			name: "expired lapsed", in: after(2*retention, running(semel.AtLeastOnce)),
			why:   "a run that died long ago must not wedge its key, and its owner must not come back to life",
			claim: fresh, own: fresh, recovering: fresh, limit: fresh,
			renew: fenced, done: fenced, released: fenced, doubt: fenced,
			resolveDone: refuses, resolveReleased: refuses, toDelete: nothing,
		},
		{
			name: "running AtLeastOnce", in: running(semel.AtLeastOnce),
			why:   "one owner at a time; a claim sent twice is mine the second time, or its caller waits for itself and the work runs 0 times",
			claim: busy, own: again, recovering: busy, limit: busy,
			renew: succeeds, done: succeeds, released: succeeds, doubt: succeeds,
			resolveDone: refuses, resolveReleased: refuses, toDelete: refuses,
		},
		{
			name: "running AtMostOnce", in: running(semel.AtMostOnce),
			why:   "one owner at a time; an operator must not decide under a live lease",
			claim: busy, own: again, recovering: busy, limit: busy,
			renew: succeeds, done: succeeds, released: succeeds, doubt: succeeds,
			resolveDone: refuses, resolveReleased: refuses, toDelete: refuses,
		},
		{
			name: "running past retention", in: leaseAlivePastRetention,
			why:   "a live lease never expires: a handler that outlives the retention would run twice",
			claim: busy, own: again, recovering: busy, limit: busy,
			renew: succeeds, done: succeeds, released: succeeds, doubt: succeeds,
			resolveDone: refuses, resolveReleased: refuses, toDelete: refuses,
		},
		{
			name: "lapsed AtLeastOnce", in: leaseOver(semel.AtLeastOnce),
			why:   "a crash must not wedge the key; while nobody took over, the owner is the owner still",
			claim: next, own: again, recovering: next, limit: givesUp,
			renew: succeeds, done: succeeds, released: succeeds, doubt: succeeds,
			resolveDone: decides, resolveReleased: decides, toDelete: decides,
		},
		{
			name: "lapsed AtMostOnce", in: leaseOver(semel.AtMostOnce),
			why:   "nobody knows what a silent owner did: only recovery, an operator or the owner's own return may go on",
			claim: doubts, own: again, recovering: recovers, limit: doubts,
			renew: succeeds, done: succeeds, released: succeeds, doubt: succeeds,
			resolveDone: decides, resolveReleased: decides, toDelete: decides,
		},
		{
			name: "lapsed AtMostOnce, past retention", in: after(2*retention, running(semel.AtMostOnce)),
			why:   "a doubt never expires: it would run again as if nothing had happened",
			claim: doubts, own: again, recovering: recovers, limit: doubts,
			renew: succeeds, done: succeeds, released: succeeds, doubt: succeeds,
			resolveDone: decides, resolveReleased: decides, toDelete: decides,
		},
		{
			name: "taken over", in: takenOver,
			why:   "a late owner finished, renewed or deleted the record of the new owner",
			claim: busy, own: busy, recovering: busy, limit: busy,
			renew: fenced, done: fenced, released: fenced, doubt: fenced,
			resolveDone: refuses, resolveReleased: refuses, toDelete: refuses,
		},
		{
			name: "released", in: releasedRecord,
			why:   "the next one runs; a release whose reply was lost is sent again and must succeed, and no more than that",
			claim: next, own: next, recovering: next, limit: givesUp,
			renew: fenced, done: fenced, released: stands, doubt: fenced,
			resolveDone: decides, resolveReleased: decides, toDelete: decides,
		},
		{
			name: "done", in: doneRecord,
			why:   "done is final and the first result stands, however often it is said again",
			claim: replays, own: replays, recovering: replays, limit: replays,
			renew: fenced, done: stands, released: fenced, doubt: fenced,
			resolveDone: refuses, resolveReleased: refuses, toDelete: decides,
		},
		{
			name: "marked", in: markedRecord,
			why:   "a mark is done from the start: nothing may run under it",
			claim: replays, own: replays, recovering: replays, limit: replays,
			renew: fenced, done: stands, released: fenced, doubt: fenced,
			resolveDone: refuses, resolveReleased: refuses, toDelete: decides,
		},
		{
			name: "in doubt by handler", in: doubtByHandler,
			why:   "a doubt holds until it is settled; who left it may still know better",
			claim: doubts, own: doubts, recovering: recovers, limit: doubts,
			renew: fenced, done: succeeds, released: succeeds, doubt: stands,
			resolveDone: decides, resolveReleased: decides, toDelete: decides,
		},
		{
			name: "in doubt, past retention", in: after(10*retention, doubtByHandler),
			why:   "a doubt never expires: it would run again as if nothing had happened",
			claim: doubts, own: doubts, recovering: recovers, limit: doubts,
			renew: fenced, done: succeeds, released: succeeds, doubt: stands,
			resolveDone: decides, resolveReleased: decides, toDelete: decides,
		},
		{
			name: "in doubt by attempts, lapsed", in: doubtByAttempts(leaseOver(semel.AtLeastOnce)),
			why:   "a handler that is only slow may still settle what others gave up",
			claim: doubts, own: doubts, recovering: recovers, limit: doubts,
			renew: fenced, done: succeeds, released: succeeds, doubt: stands,
			resolveDone: decides, resolveReleased: decides, toDelete: decides,
		},
		{
			name: "in doubt by attempts, released", in: doubtByAttempts(releasedRecord),
			why:   "who released has had his say: his repeated release must not undo the doubt",
			claim: doubts, own: doubts, recovering: recovers, limit: doubts,
			renew: fenced, done: fenced, released: fenced, doubt: fenced,
			resolveDone: decides, resolveReleased: decides, toDelete: decides,
		},
		{
			name: "under recovery", in: underRecovery,
			why:   "one at a time finds out what happened; the others must not start a second recovery",
			claim: busy, own: again, recovering: busy, limit: busy,
			renew: succeeds, done: succeeds, released: succeeds, doubt: succeeds,
			resolveDone: refuses, resolveReleased: refuses, toDelete: refuses,
		},
		{
			name: "recovery lapsed", in: after(2*lease, underRecovery),
			why:   "a recovery that died leaves the doubt as it was",
			claim: doubts, own: again, recovering: recovers, limit: doubts,
			renew: succeeds, done: succeeds, released: succeeds, doubt: succeeds,
			resolveDone: decides, resolveReleased: decides, toDelete: decides,
		},
		{
			name: "resolved as done", in: resolved(semel.ResolveDone),
			why:   "once an operator has decided, the late owner is fenced and done is final",
			claim: replays, own: replays, recovering: replays, limit: replays,
			renew: fenced, done: fenced, released: fenced, doubt: fenced,
			resolveDone: refuses, resolveReleased: refuses, toDelete: decides,
		},
		{
			name: "resolved as did not happen", in: resolved(semel.ResolveDidNotHappen),
			why:   "once an operator has decided, the late owner is fenced and the next claim runs, attempts or not",
			claim: next, own: next, recovering: next, limit: next,
			renew: fenced, done: fenced, released: fenced, doubt: fenced,
			resolveDone: decides, resolveReleased: decides, toDelete: decides,
		},
		{
			name: "deleted", in: resolved(semel.ResolveDelete),
			why:   "what an operator deleted is gone: a late owner must not bring it back",
			claim: fresh, own: fresh, recovering: fresh, limit: fresh,
			renew: fenced, done: fenced, released: fenced, doubt: fenced,
			resolveDone: refuses, resolveReleased: refuses, toDelete: nothing,
		},
	}
}
