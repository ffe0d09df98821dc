package semelhttp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/semel-go/semel"
)

// Transactor runs work in a database transaction that commits the record of the work
// together with its effects. [inbox.Box] and pgxstore.Box are such.
//
// [inbox.Box]: https://pkg.go.dev/github.com/semel-go/semel/inbox#Box
type Transactor interface {
	// Transact runs work once for op and returns nil, or returns the record of an
	// earlier run. State done commits, undo all but the result; any other state
	// rolls back. work may be called again after a transaction that had no effect.
	Transact(ctx context.Context, op semel.Op, work func(context.Context) (v semel.Verdict, undo bool)) (*semel.Record, error)
	// Check reports whether operations with the settings of op are taken.
	Check(op semel.Op) error
	// Defaults are the settings of operations that name none.
	Defaults() semel.Op
	// Store is where the records are.
	Store() semel.Store
}

// Transactional is [New] for handlers whose effects are rows of one database: a
// request with a key runs its handler in a transaction, which commits the effects
// together with the recorded answer. The handler finds the transaction in its context
// (inbox.TxFrom, pgxstore.TxFrom) and must neither commit it nor roll it back.
//
// The status of the answer decides. 2xx and 3xx: the transaction is committed. A
// recorded status of 400 and above, or [Decide] with [semel.Final]: the effects are
// undone, the answer is recorded. Any other status, a panic, or a client that has gone:
// everything is rolled back, and a retry runs.
//
// The answer is held back whole until the commit, however large it is; one over
// [Options.MaxResponseBody] is committed with a tombstone. Flush and Hijack give
// [http.ErrNotSupported]. A commit that fails is answered with 503, never with what
// the handler said. The handler may run again, from the same request, after a
// transaction that lost against another one; the first answer is forgotten then.
//
// Policy, Lease and Observe are refused: there is no lease.
func Transactional(box Transactor, principal PrincipalFunc, opts *Options) (func(http.Handler) http.Handler, error) {
	m, err := newMiddleware(principal, opts, errors.Join(
		refuse(box == nil, "the box is nil; make one with inbox.New or pgxstore.NewBox"),
		refuse(opts != nil && (opts.Policy != 0 || opts.Lease != 0), "a transaction has no lease and no policy: take Policy and Lease out of the options"),
		refuse(opts != nil && opts.Observe, "Observe: a transaction cannot be watched from beside it; observe with New, then guard with Transactional"),
	))
	if err != nil {
		return nil, err
	}
	m.box, m.settings = box, box
	if err := errors.Join(m.prepare(), m.prepareTransactions()); err != nil {
		return nil, err
	}
	return m.wrap, nil
}

// prepareTransactions makes what depends on the box's settings too, and checks it.
func (m *middleware) prepareTransactions() error {
	defaults := m.box.Defaults()
	m.op = semel.Op{Retention: cmp.Or(m.opts.Retention, defaults.Retention), Wait: m.opts.Wait}
	if err := m.box.Check(m.op); err != nil {
		return fmt.Errorf("semelhttp: with the box's settings: %w", err)
	}
	d := m.opts.Derived
	if err := m.checkTokens(); d == nil || err != nil {
		return err
	}
	m.derivedOp = m.op
	m.derivedOp.Retention = d.Window
	m.derivedOp.Wait = min(cmp.Or(m.op.Wait, defaults.Wait), d.Window/2)
	return checkWindow(d)
}

// transact runs the handler in a transaction, or answers for it.
func (x *exchange) transact(next http.Handler) {
	t := &transaction{x: x, next: next}
	op := x.op()
	if err := x.memory.token.timely(x.r.Context(), x.m.settings.Store(), op.Key); err != nil {
		x.m.refuse(x.w, x.m.uncommitted(x.r, err))
		return
	}
	rec, err := x.m.transact(x.r.Context(), x.principal, op, t.work)
	switch {
	case err != nil:
		t.forget()
		x.m.refuse(x.w, x.m.uncommitted(x.r, err))
	case rec != nil:
		t.forget()
		x.replay(rec)
	default:
		t.out.sendHeld()
	}
}

// transaction is the work of an exchange in a transaction.
type transaction struct {
	x    *exchange
	next http.Handler
	out  *capture // of the last try
}

// work lets the handler work. Each try has a writer and a body of its own, since the handler of
// an earlier one may have left a goroutine behind.
func (t *transaction) work(ctx context.Context) (v semel.Verdict, undo bool) {
	x := t.x
	again := t.out != nil
	if again {
		t.forget()
		x.forgetFiles()
	}
	t.out = &capture{held: true}
	t.out.begin(x.m, nil, x.w, x.memory)
	g := &guard{Context: ctx}
	returned := false
	defer func() {
		if !returned && t.out.abandon() { // a panic or Goexit, which goes on by itself
			t.forget()
		}
	}()
	r := x.forHandler(g)
	if again && x.body.touched() {
		r.Body = x.body.again()
	}
	t.next.ServeHTTP(t.out, r)
	returned = true
	t.out.close()
	return t.verdict(g.decided())
}

// verdict is what the handler's answer means.
func (t *transaction) verdict(decided semel.State) (v semel.Verdict, undo bool) {
	v.State = cmp.Or(decided, t.x.stateOf(t.out.status))
	if v.State == semel.StateDone {
		v.Result = t.out.result()
	}
	return v, decided == semel.StateDone || t.out.status >= 400
}

// forget takes back what the handler has put into the header.
func (t *transaction) forget() {
	if t.out != nil {
		t.x.memory.entry.restore(t.x.w.Header())
	}
}

// forgetFiles removes the files of a form that a former try has parsed. The server knows
// those of the last one alone.
func (x *exchange) forgetFiles() {
	if form := x.request.MultipartForm; form != nil && form != x.r.MultipartForm {
		_ = form.RemoveAll() // there is nothing to do about a file that cannot be removed
	}
}

// transact is claim, in a transaction.
func (m *middleware) transact(ctx context.Context, principal string, op semel.Op, work func(context.Context) (semel.Verdict, bool)) (*semel.Record, error) {
	if m.quotas == nil {
		return m.box.Transact(ctx, op, work)
	}
	counted, wait, ok := m.quotas.take(principal, op.Retention)
	if !ok && !m.known(ctx, op.Key) {
		return nil, &overQuota{wait}
	}
	var done, kept bool
	defer func() {
		if ok && !kept { // nothing was committed, or there was a record
			m.quotas.giveBack(principal, counted)
		}
	}()
	rec, err := m.box.Transact(ctx, op, func(ctx context.Context) (v semel.Verdict, undo bool) {
		v, undo = work(ctx)
		done = v.State == semel.StateDone
		return v, undo
	})
	kept = done && rec == nil && err == nil
	return rec, err
}

// uncommitted is the problem that answers for an error of a transaction. What the
// database said goes to the log alone.
func (m *middleware) uncommitted(r *http.Request, err error) Problem {
	told, ok := ProblemOf(err)
	switch {
	case r.Context().Err() != nil, is[*overQuota](err):
		return m.refusal(r, err)
	case ok && told.Code != CodeStoreUnavailable:
		return told
	}
	m.opts.Logger.LogAttrs(r.Context(), slog.LevelError, "semelhttp: a transaction was not committed", slog.Any("error", err))
	p := NewProblem(CodeStoreUnavailable)
	if errors.Is(err, semel.ErrNoReply) {
		p.Detail = "The service got no reply from its database; it is not known whether the operation was executed. Send the request again with the same key to find out."
	}
	return p
}
