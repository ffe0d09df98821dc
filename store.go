package semel

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Store keeps one record per key and moves it through the life cycle. The
// interface is small on purpose: every rule that is not about one atomic step
// lives once, in [Engine].
//
// Contract, for every implementation:
//
//   - Each method is one atomic step on one record: a single statement, script
//     or transaction; never read, judge, then write.
//   - Time is the store's: of its server, or of this host for an embedded store.
//     No parameter carries a caller's wall clock. Lapse and expiry are derived at
//     every read; no background work is needed for them.
//   - A different fingerprint answers [ClaimMismatch] before anything else is said.
//   - A transition repeated with the same token gives the same answer, since
//     replies get lost and client libraries re-send.
//   - A caller who is not the owner any more gets [ErrFenced] and no other error.
//   - The fence of a key only grows: max(previous+1, store clock in µs).
//   - Errors wrap [ErrStoreUnavailable] when nothing was executed for certain,
//     [ErrNoReply] when that is unknown, [ErrStoreFull] when the store refuses to
//     forget; a record of a newer format is a [*RecordFormatError].
//   - A context that has ended before the call is an error, and nothing is changed.
//   - All methods may be called concurrently. A store copies the bytes of its
//     parameters; bytes in its answers are read-only for the caller.
//
// docs/stores-protocol.md writes each method as statements for five engines;
// package storetest checks an implementation against the table there.
type Store interface {
	// Claim asks for the right to run. By the state of the record:
	//
	//	none or expired        acquired, attempt 1
	//	running, lease alive   running; the same token: acquired, unchanged, lease renewed
	//	lapsed, AtLeastOnce    acquired, attempt+1; the same token: acquired, unchanged, lease renewed
	//	lapsed, AtMostOnce     in doubt (CauseLapse); the same token: acquired, unchanged, lease renewed
	//	released               acquired, attempt+1
	//	done                   done, with the result
	//	in doubt               in doubt; with Recovering: acquired, attempt+1, AtMostOnce
	//
	// Each acquisition but a repeated one raises the fence and takes the policy,
	// the token and the retention of the claim. A lapsed (AtLeastOnce) or released
	// record with attempt ≥ MaxAttempts > 0 goes in doubt (CauseAttempts) instead;
	// a released one then forgets its token.
	Claim(ctx context.Context, p ClaimParams) (ClaimResult, error)

	// Renew extends the owner's lease to now + Lease, also when it has lapsed and
	// nobody took over, and may raise the policy to AtMostOnce. It ends a doubt by
	// lapse. Any state but running answers [ErrFenced].
	Renew(ctx context.Context, p RenewParams) (RenewResult, error)

	// Finish ends the owner's run: done, released or in doubt. On a done record it
	// succeeds for the owner who finished it with done, and the first result
	// stands; released may be repeated; on a record in doubt its owner may still
	// say done, released or in doubt until somebody resolves it. Everything else
	// answers [ErrFenced].
	Finish(ctx context.Context, p FinishParams) (FinishResult, error)

	// Read returns the record as it is now; State is None when there is none.
	Read(ctx context.Context, p ReadParams) (Record, error)

	// Resolve is the operator's compare-and-set: it applies only while the
	// record's fence is the one seen, and never to a live lease. It raises the
	// fence and takes the token over, so that a late owner is fenced from then on.
	// Done and DidNotHappen apply to lapsed, released and in-doubt records, Delete
	// also to done ones; repeated with the same token it succeeds, and deleting
	// what is not there succeeds. DidNotHappen sets the attempts to 0.
	Resolve(ctx context.Context, p ResolveParams) (ResolveResult, error)

	// Guarantees says what this store promises as it is set up now; it may probe
	// the server.
	Guarantees(ctx context.Context, p GuaranteesParams) (Guarantees, error)
}

// ClaimParams asks for the right to run the operation of a key.
type ClaimParams struct {
	Key         KeyID
	Token       Token // made by the caller, new for each run; the same again after a lost reply
	Fingerprint Fingerprint
	Policy      Policy        // of the run that this claim begins; kept in the record
	Lease       time.Duration // > 0
	Retention   time.Duration // > 0, or Forever; counted from the claim
	MaxAttempts int           // 0: no limit; a claim past it leaves the record in doubt (CauseAttempts)

	// Mark makes an acquired record done at once, with the Mark result.
	Mark bool
	// Recovering acquires a record in doubt, so that one caller at a time can find
	// out. The record keeps cause and start of the doubt while that caller runs.
	Recovering bool

	ScopeID   ScopeID // immutable, for listing, quotas and erasure
	Operation string  // short label, immutable
	KeyText   string  // the caller's key text; empty unless the engine was told to keep it
}

// ClaimResult answers a claim.
type ClaimResult struct {
	Outcome Outcome
	// Mine says that the record carries the caller's token: always when acquired;
	// on Done it tells a repeated Mark from another caller's.
	Mine bool
	// Record is the record after the claim. It is empty on ClaimMismatch.
	Record Record
}

// RenewParams extends an owner's lease.
type RenewParams struct {
	Key    KeyID
	Token  Token
	Lease  time.Duration
	Policy Policy // AtMostOnce raises the record's policy; any other value leaves it
}

// RenewResult answers a renewal.
type RenewResult struct {
	LeaseLeft time.Duration
}

// FinishParams ends an owner's run.
type FinishParams struct {
	Key   KeyID
	Token Token
	// State is Done, Released or InDoubt.
	State State
	// Unrun, with Released, says that the claim was never used: its reply was lost. A
	// recovery then goes back in doubt, with the cause and start of that doubt; any
	// other run is released. A record in doubt stays as it is.
	Unrun bool
	// Result is kept when State is Done.
	Result StoredResult
	// Cause is kept when State is InDoubt.
	Cause Cause
	// Retention moves the record's expiry to now + Retention if less than half of
	// it remains; otherwise the expiry set at the claim stands.
	Retention time.Duration
}

// Check refuses a state that no run ends in. Every store begins its Finish with it.
func (p *FinishParams) Check() error {
	switch p.State {
	case StateDone, StateReleased, StateInDoubt:
		return nil
	}
	return fmt.Errorf("semel: a run cannot finish as %v; use done, released or in doubt", p.State)
}

// FinishResult answers a finish. It carries nothing: success is the answer.
type FinishResult struct{}

// ReadParams names the record to read.
type ReadParams struct {
	Key KeyID
}

// ResolveParams decides a record on behalf of an operator.
type ResolveParams struct {
	Key        KeyID
	Token      Token // made by the caller, new for each decision
	Fence      Fence // the fence seen by whoever decides
	Resolution Resolution
	Result     StoredResult  // for ResolveDone
	Retention  time.Duration // for ResolveDone and ResolveDidNotHappen: expiry is now + Retention
}

// Check refuses what is no decision, and a decision that would be forgotten as soon as it
// is made: the next claim would run. Every store begins its Resolve with it.
func (p *ResolveParams) Check() error {
	switch {
	case p.Resolution == ResolveDelete:
		return nil
	case p.Resolution.StateAfter() == StateNone:
		return errors.New("semel: unknown resolution; use done, did not happen or delete")
	case p.Retention < time.Second:
		return fmt.Errorf("semel: retention %v of a decided record is below 1s: it would be forgotten at once; use 1s or more, or semel.Forever", p.Retention)
	}
	return nil
}

// ResolveResult answers a resolve.
type ResolveResult struct {
	// Resolved is false when the fence has moved, the record is running under a
	// live lease, it is done already, or there is none; Record then says which.
	Resolved bool
	Record   Record
}

// GuaranteesParams is empty; it leaves room for probes with settings.
type GuaranteesParams struct{}

// Record is what a store keeps for a key, as seen at the store's clock when it
// answered: a lapse is applied (AtMostOnce reads as InDoubt, AtLeastOnce as
// Running with LeaseLeft ≤ 0), and an expired record reads as none.
type Record struct {
	Key         KeyID
	State       State
	Policy      Policy
	Fence       Fence
	Attempt     int
	LeaseLeft   time.Duration // while running
	ExpiresIn   time.Duration // Forever when it never does; in-doubt records do not expire
	Fingerprint Fingerprint
	Result      StoredResult // when done
	Checkpoint  []byte       // last checkpoint of an unfinished run

	// StartedAt is the store's time at which the last run began that was not a
	// recovery.
	StartedAt time.Time
	// Cause and Since tell of a doubt: of this record when InDoubt, of the doubt
	// under recovery when Running.
	Cause Cause
	Since time.Time

	ScopeID   ScopeID
	Operation string
	KeyText   string
}

// State is the state of a record.
type State uint8

// The states of a record. The numbers are part of the record format.
const (
	StateNone     State = 0
	StateRunning  State = 1
	StateReleased State = 2
	StateDone     State = 3
	StateInDoubt  State = 4
	// StateUnreadable is only seen in a list: the record is of a newer format, or
	// damaged. Its key is all that is known.
	StateUnreadable State = 255
)

// String names the state as in logs, metrics and the command line.
func (s State) String() string {
	if s == StateUnreadable {
		return "unreadable"
	}
	return nameOf(s, "none", "running", "released", "done", "in-doubt")
}

// Outcome is the answer to a claim.
type Outcome uint8

// The answers to a claim.
const (
	ClaimAcquired Outcome = iota + 1
	ClaimRunning
	ClaimDone
	ClaimInDoubt
	ClaimMismatch
)

// String names the outcome as in logs and metrics.
func (o Outcome) String() string {
	return nameOf(o, "unknown", "acquired", "running", "done", "in-doubt", "mismatch")
}

// Policy says what a lapse means: the guarantee level of a run.
type Policy uint8

// The guarantee levels of a run under a lease. The numbers are part of the
// record format.
const (
	// AtLeastOnce re-runs after a crash: a lapsed record is claimable.
	AtLeastOnce Policy = 1
	// AtMostOnce never re-runs by itself: a lapsed record is in doubt.
	AtMostOnce Policy = 2
)

// String names the policy.
func (p Policy) String() string {
	return nameOf(p, "default", "at-least-once", "at-most-once")
}

// Cause says why a record is in doubt.
type Cause uint8

// The causes of a doubt. The numbers are part of the record format.
const (
	CauseNone     Cause = 0
	CauseLapse    Cause = 1 // the lease ran out under AtMostOnce
	CauseAttempts Cause = 2 // MaxAttempts was reached
	CauseHandler  Cause = 3 // the handler said so
	CauseError    Cause = 4 // error, panic or exit under AtMostOnce
)

// String names the cause.
func (c Cause) String() string {
	return nameOf(c, "none", "lapse", "attempts", "handler", "error")
}

// Resolution is what an operator decides about a record.
type Resolution uint8

// The decisions of an operator.
const (
	ResolveDone         Resolution = iota + 1 // it happened, with this result
	ResolveDidNotHappen                       // it did not; the next claim runs
	ResolveDelete                             // forget the record
)

// String names the resolution.
func (r Resolution) String() string {
	return nameOf(r, "unknown", "done", "did-not-happen", "delete")
}

// StateAfter is the state that the decision leaves: [StateNone] for delete, and for
// what is no decision.
func (r Resolution) StateAfter() State {
	switch r {
	case ResolveDone:
		return StateDone
	case ResolveDidNotHappen:
		return StateReleased
	}
	return StateNone
}

// Fence is a number that only grows with each acquisition of a key. Hand it to
// the systems you write to and let them refuse smaller ones.
type Fence int64

// Forever is the retention of records that never expire.
const Forever time.Duration = 1<<63 - 1

// StoredResult is a result as a store keeps it.
type StoredResult struct {
	Kind ResultKind
	Data []byte
}

// ResultKind says how Data is to be read.
type ResultKind uint8

// The kinds of results. The numbers are part of the record format.
const (
	ResultTombstone ResultKind = 0 // done, result not kept; Data may hold a short remark
	ResultValue     ResultKind = 1 // a value, encoded by the engine's Codec
	ResultFinal     ResultKind = 2 // a FinalError
	ResultMark      ResultKind = 3 // done by a Mark
	ResultHTTP      ResultKind = 4 // an HTTP response, encoded by semelhttp
)

// RecordFormat is the format in which this version writes records, and
// RecordFormatMax the highest that it reads. A store that meets a higher one
// answers with a [*RecordFormatError] and changes nothing. A new format is read one
// release before it is written, so that two neighbouring versions work on one
// store.
const (
	RecordFormat    = 1
	RecordFormatMax = 1
)

// Guarantees says what a store promises as it is set up. See docs/stores.md.
type Guarantees struct {
	Store               string // "memory", "sqlite", …
	SingleRegister      Answer // one atomic register per key for all who use this store
	SurvivesProcess     Answer // our process is killed
	SurvivesEngineCrash Answer // the store's own process is killed
	SurvivesPowerLoss   Answer
	SurvivesFailover    Answer
	Facts               []string // what the store is, one sentence each, with nothing to mend
	Notes               []string // what a reader should know, one sentence each; why SingleRegister is not Yes
}

// Answer is yes, no or unknown.
type Answer uint8

// The answers.
const (
	Unknown Answer = iota
	No
	Yes
)

// String names the answer.
func (a Answer) String() string { return nameOf(a, "unknown", "no", "yes") }

// ChangeWaiter is an optional capability of a store: it tells waiters of a
// change. Without it the engine notices changes of its own process at once and
// polls for others.
type ChangeWaiter interface {
	// WaitChange returns when the record of Key may differ from the one with this
	// fence in state running, or when ctx ends. It may return early.
	WaitChange(ctx context.Context, p WaitParams) (WaitResult, error)
}

// WaitParams names the running record to watch.
type WaitParams struct {
	Key   KeyID
	Fence Fence
}

// WaitResult is empty.
type WaitResult struct{}

// Lister is an optional capability: operators list records. Without it they can
// only read the ones whose key they know.
type Lister interface {
	// List returns one page of records. The pages together hold every record that is
	// there all the time, and stays on its server, in no promised order; once, but
	// where a store says that it may tell of one twice while others come and go. A
	// store that cannot go on after what happened to its servers answers with an
	// error, and leaves no gap. A page may be short, or empty, before the last one.
	// One record that cannot be read hides no other: it is listed as StateUnreadable
	// where all states are asked for.
	List(ctx context.Context, p ListParams) (ListResult, error)
}

// ListParams selects records.
type ListParams struct {
	State   State // StateNone: all
	ScopeID *ScopeID
	Cursor  string // Next of the page before; empty for the first page
	Limit   int    // 1–1,000
}

// ListResult is one page of records, without their result data.
type ListResult struct {
	Records []Record
	Next    string // where the next page begins; empty after the last one
}

// Purger is an optional capability: expired records are deleted. Without it the
// store expires records by itself.
type Purger interface {
	// Purge deletes at most Limit expired records. It never deletes a live lease
	// or a record in doubt.
	Purge(ctx context.Context, p PurgeParams) (PurgeResult, error)
}

// PurgeParams bounds one chunk.
type PurgeParams struct {
	Limit int // ≥ 1
}

// PurgeResult tells what a chunk did.
type PurgeResult struct {
	Purged int
	More   bool
	// Lag is for how long the oldest expired record that is left has been due.
	Lag time.Duration
}

// Checkpointer is an optional capability: a run keeps a note that the next run,
// or [RecoverFunc], gets to see. Without it checkpoints are refused with
// [ErrUnsupported].
type Checkpointer interface {
	// Checkpoint replaces the checkpoint of the owner's running record. Any other
	// caller or state answers [ErrFenced]. Finishing with done drops it.
	Checkpoint(ctx context.Context, p CheckpointParams) (CheckpointResult, error)
}

// CheckpointParams carries an owner's checkpoint.
type CheckpointParams struct {
	Key   KeyID
	Token Token
	Data  []byte
}

// CheckpointResult is empty.
type CheckpointResult struct{}

// nameOf returns the name with e's number.
func nameOf[E ~uint8](e E, names ...string) string {
	if int(e) >= len(names) {
		return "unknown"
	}
	return names[e]
}
