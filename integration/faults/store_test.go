package faults

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/backends"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/integration/internal/faultproxy"
)

// line is a store behind a proxy, and the same database without one.
type line struct {
	*testing.T
	proxy    *faultproxy.Proxy
	through  *backends.Handle
	directly *backends.Handle
}

func newLine(t *testing.T, b backends.Backend) *line {
	t.Helper()
	l := &line{T: t}
	t.Cleanup(l.close)
	dsn := b.Database(t)
	l.directly = b.OpenFor(t, dsn)
	l.proxy = b.Proxy(t)
	through, err := b.Open(t.Context(), engines.Through(dsn, l.proxy.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	l.through = through
	return l
}

// close comes after the proxy has ended, since lib/pq closes no connection that hangs.
// That the statements of a broken connection cannot be closed is no news.
func (l *line) close() {
	if l.through != nil {
		_ = l.through.Close()
	}
}

// Field faults: the reply to a claim is lost, the client library sends it again, and the
// caller waits for itself; the store answers after the caller's deadline and leaves an
// orphan; a store error lets the work run without a claim.
//
// Every call of every store meets every accident at each of its statements. What the
// caller is told must agree with what has happened, and asking again must answer as if
// nothing had.
func TestAccidentsOfCalls(t *testing.T) {
	t.Parallel()
	for _, b := range append(backends.Servers(), backends.Redis()) {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			l := newLine(t, b)
			cases, lost := 0, 0
			for _, tr := range transitions() {
				if tr.name == "purge" && b.Engine == "Redis" {
					continue // its server does that
				}
				sent := l.statements(tr)
				for _, a := range accidents() {
					for nth := 1; nth <= sent; nth++ {
						if l.have(a, nth, nth == sent, tr) {
							lost++
						}
						cases++
					}
				}
			}
			fmt.Printf("figures: accidents: %s: %d, each at a statement of a call; %d callers got no reply, none a wrong one\n", b.Name, cases, lost)
		})
	}
}

// prepared is a record in the situation of a transition.
func (l *line) prepared(tr transition) *record {
	l.Helper()
	r := newRecord()
	tr.prepare(&preparation{T: l.T, record: r, handle: l.directly})
	return r
}

// statements is how many statements the call sends when nothing happens to it.
func (l *line) statements(tr transition) int {
	l.Helper()
	r := l.prepared(tr)
	n := statements(l.proxy, func() { l.undisturbed("without an accident", l.through, tr, r) })
	if n == 0 {
		l.Fatalf("%s: it sends nothing", tr.name)
	}
	return n
}

// undisturbed makes the call, which must answer as it should.
func (l *line) undisturbed(when string, h *backends.Handle, tr transition, r *record) {
	l.Helper()
	got, err := tr.call(l.Context(), h.Store, r)
	if err != nil || got != tr.want {
		l.Errorf("%s, %s: %q, %v; want %q", tr.name, when, got, err, tr.want)
	}
}

// have lets an accident happen to the nth statement of a call.
func (l *line) have(a accident, nth int, last bool, tr transition) (lost bool) {
	l.Helper()
	r := l.prepared(tr)
	what := fmt.Sprintf("%s, %s at statement %d", tr.name, a.name, nth)
	var got string
	err := a.during(l.T, l.proxy, nth, func(ctx context.Context) (err error) {
		got, err = tr.call(ctx, l.through.Store, r)
		return err
	})
	switch {
	case err == nil && got != tr.want:
		l.Errorf("%s: %q; want %q", what, got, tr.want)
	case err != nil && !noReply(err) && !unavailable(err):
		l.Errorf("%s: %v; want ErrNoReply or ErrStoreUnavailable", what, err)
	}
	l.agrees(what, err, a.reaches && last, tr, r)
	l.undisturbed(what+", asked again", l.directly, tr, r)
	l.undisturbed(what+", and again on another connection", l.through, tr, r)
	l.soleOwner(what, tr, r)
	return noReply(err)
}

// agrees compares what the caller was told with what has happened: unavailable says that
// nothing has, and nothing will.
func (l *line) agrees(what string, told error, executed bool, tr transition, r *record) {
	l.Helper()
	if tr.done == nil {
		return
	}
	switch {
	case told == nil || executed && noReply(told):
		if !l.eventually(tr.done, r) {
			l.Errorf("%s: told %v, and it is not executed", what, told)
		}
	case executed:
		l.Errorf("%s: told %v, and it is executed", what, told)
	case unavailable(told) && tr.done(l, r):
		l.Errorf("%s: told %v, and it was executed", what, told)
	}
}

// eventually polls a record: a statement whose client has gone is executed when the
// server comes to it.
func (l *line) eventually(done func(*line, *record) bool, r *record) bool {
	l.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		if done(l, r) {
			return true
		}
	}
	return false
}

func (l *line) record(key semel.KeyID) semel.Record {
	l.Helper()
	r, err := l.directly.Store.Read(l.Context(), semel.ReadParams{Key: key})
	if err != nil {
		l.Fatal(err)
	}
	return r
}

// purged says that nothing is left of a record, not even what would read as none.
func (l *line) purged(r *record) bool {
	l.Helper()
	there, err := l.directly.Kept(l.Context(), r.key)
	if err != nil {
		l.Fatal(err)
	}
	return !there
}

// soleOwner finds that a run has one owner: the caller's claim stands, and nobody else
// gets one.
func (l *line) soleOwner(what string, tr transition, r *record) {
	l.Helper()
	before := l.record(r.key)
	if before.State != semel.StateRunning {
		return
	}
	res, err := l.directly.Store.Claim(l.Context(), claimBy(r, semel.NewToken()))
	if err != nil || res.Outcome != semel.ClaimRunning || res.Record.Fence != before.Fence {
		l.Errorf("%s: a third caller: %v with fence %d, %v; want running with fence %d", what, res.Outcome, res.Record.Fence, err, before.Fence)
	}
}
