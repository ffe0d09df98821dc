package intx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/semel-go/semel"
)

// Flow runs operations in transactions of one database. All methods may be called
// concurrently; it has no goroutine.
type Flow[X any] struct {
	db        Database[X]
	store     semel.Store // the same records, for the purge
	set       Settings
	recorder  *semel.Recorder
	seats     chan struct{} // of duplicates that wait
	lastPurge atomic.Int64  // Unix nanoseconds
}

// New checks the settings.
func New[X any](db Database[X], store semel.Store, set Settings) (*Flow[X], error) {
	conns := db.Conns()
	set = set.withDefaults(conns)
	recorder, err := semel.NewRecorder(&semel.Options{
		Codec: set.Codec, MaxResult: set.MaxResult, Secret: set.Secret, StoreKeyText: set.StoreKeyText,
	})
	if err := errors.Join(set.validate(conns), err); err != nil {
		return nil, err
	}
	f := &Flow[X]{db: db, store: store, set: set, recorder: recorder, seats: make(chan struct{}, set.Waiters)}
	f.lastPurge.Store(time.Now().UnixNano())
	return f, nil
}

// Defaults are the settings of operations that name none.
func (f *Flow[X]) Defaults() semel.Op {
	return semel.Op{Policy: semel.AtLeastOnce, Retention: f.set.Retention, Wait: f.set.Wait}
}

// Work is what happens in the transaction. It may be called again, in another
// transaction, after one that had no effect.
type Work[X any] func(ctx context.Context, tx X) Finding

// Finding is how work ended.
type Finding struct {
	// Judgement is done for what is committed, anything else for what is rolled back.
	semel.Judgement
	// Undo keeps the result alone: the effects go back to the savepoint.
	Undo bool
	// Failure is what work returned.
	Failure error
}

// Answer is what came of an operation.
type Answer struct {
	// Replay is the record of an earlier run; nil if work ran in this call.
	Replay *semel.Record
	// Fence and Attempt are those of the run.
	Fence   semel.Fence
	Attempt int
}

// Run runs work once for op. Without an error its finding counts: it was committed,
// or rolled back as it asked. Errors: those of the claim as [semel.Engine.Begin]
// has them; the Failure of the finding; ErrEnded; a [semel.StoreError], which matches
// [semel.ErrNoReply] where it is unknown whether the work was committed.
func (f *Flow[X]) Run(ctx context.Context, op semel.Op, work Work[X]) (Answer, error) {
	c, err := f.call(op)
	if err != nil {
		return Answer{}, err
	}
	c.work = work
	for try := 0; ; try++ {
		if ctx.Err() != nil {
			return Answer{}, context.Cause(ctx)
		}
		answer, err := c.try(ctx)
		u, again := errors.AsType[*undone](err)
		if !again {
			return answer, err
		}
		if try >= f.set.Retries || !pause(ctx, backoff(try)) {
			return answer, u.err
		}
	}
}

// undone is the failure of a try without effect, which may go better the next time.
type undone struct{ err error }

func (u *undone) Error() string { return u.err.Error() }

func (u *undone) Unwrap() error { return u.err }

// call is an operation under way.
type call[X any] struct {
	*Flow[X]
	claim   *semel.ClaimParams
	former  []semel.Fingerprint
	work    Work[X]
	wait    bool
	patient time.Time // until when it waits for another one
	began   time.Time // the first of the claims that failed one after the other
}

// call checks an operation and fixes its identity.
func (f *Flow[X]) call(op semel.Op) (*call[X], error) {
	if err := f.Check(op); err != nil {
		return nil, err
	}
	op.Policy = semel.AtLeastOnce
	op.Retention = cmp.Or(op.Retention, f.set.Retention)
	wait := max(cmp.Or(op.Wait, f.set.Wait), 0)
	p, former, err := f.recorder.ClaimOf(op)
	if err != nil {
		return nil, err
	}
	p.Mark = true
	return &call[X]{Flow: f, claim: p, former: former, wait: wait > 0, patient: time.Now().Add(wait)}, nil
}

// Check reports whether operations with the settings of op can be run, whatever
// their key and input.
func (f *Flow[X]) Check(op semel.Op) error {
	return errors.Join(
		refuse(op.Policy != 0 || op.Lease != 0, "a transaction has no lease and no policy: record and effect commit together; take Policy and Lease out of the operation"),
		refuse(op.MaxAttempts != 0, "MaxAttempts: a transaction that fails leaves no attempt to count; take it out of the operation"),
		refuse(op.Recovering, "Recovering: a transaction leaves nothing in doubt; take it out of the operation, and use semel.DoRecover for records of an engine"),
		refuse(op.Detached, "Detached: a transaction ends with its caller; take it out, and pass context.WithoutCancel(ctx)"),
		checkTimes(cmp.Or(op.Retention, f.set.Retention), cmp.Or(op.Wait, f.set.Wait)),
	)
}

// try is one transaction, or an answer without one.
func (c *call[X]) try(ctx context.Context) (Answer, error) {
	tx, res, err := c.begin(ctx)
	switch {
	case err != nil:
		return Answer{}, err
	case res.Outcome == semel.ClaimAcquired:
		c.began = time.Time{}
		return c.run(ctx, tx, &res)
	}
	return c.answered(&res)
}

// answered is an answer by a record that is there.
func (c *call[X]) answered(res *semel.ClaimResult) (Answer, error) {
	rec := res.Record
	if res.Outcome == semel.ClaimDone {
		c.observe(semel.EventReplay, func(ev *semel.Event) { ev.Fence, ev.Attempt, ev.Bytes = rec.Fence, rec.Attempt, len(rec.Result.Data) })
		return Answer{Replay: &rec, Fence: rec.Fence, Attempt: rec.Attempt}, nil
	}
	c.observeRefusal(res)
	return Answer{}, semel.Refusal(res)
}

// The pauses before a retry.
const (
	firstBackoff = 2 * time.Millisecond
	maxBackoff   = 200 * time.Millisecond
)

// backoff spreads the losers of a conflict.
func backoff(try int) time.Duration {
	most := min(firstBackoff<<min(try, 10), maxBackoff)
	return most/2 + rand.N(most/2)
}

// pause reports whether it lasted to its end.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// failed is an error of the database. The class says whether another try may help, as
// it may after a timeout, such as that of a pool that is used up.
func (c *call[X]) failed(call string, err error) error {
	if c.db.Class(err) == ClassOther && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("inbox: %s: nothing was committed: %w", call, err)
	}
	unavailable := fmt.Errorf("%w: nothing was committed: %w", semel.ErrStoreUnavailable, err)
	return &undone{&semel.StoreError{Call: call, Err: unavailable}}
}
