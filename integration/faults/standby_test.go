package faults

import (
	"fmt"
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/backends"
	"github.com/semel-go/semel/integration/internal/engines"
)

// A standby that is promoted has forgotten what had not reached it: results, which run
// again, and claims, which now have two owners. The store promises nothing else. Of what
// had reached it nothing is lost, and the fence still grows.
func TestPromotedStandbyForgets(t *testing.T) {
	t.Parallel()
	f := newFailover(t)
	if g := guarantees(t, f.store); g.SurvivesFailover != semel.No || !strings.Contains(strings.Join(g.Notes, " "), "failover") {
		t.Errorf("it promises %v for a failover, and says %q", g.SurvivesFailover, g.Notes)
	}
	before := f.acknowledged(40)
	f.standby.CatchUp(t)
	f.standby.Cut(t)
	after := f.acknowledged(40)
	promoted := f.failOver()
	if lost := missing(t, promoted, before); lost > 0 {
		t.Errorf("%d records are lost that the standby had", lost)
	}
	lost := missing(t, promoted, after)
	if lost != len(after) {
		t.Errorf("%d of %d records are lost; none of them had reached the standby", lost, len(after))
	}
	for _, r := range after {
		p := claimBy(r, r.other)
		if res, err := promoted.Claim(t.Context(), p); err != nil || res.Outcome != semel.ClaimAcquired || res.Record.Fence <= r.fence {
			t.Errorf("a claim after the failover: %v with fence %d, %v; want acquired above %d", res.Outcome, res.Record.Fence, err, r.fence)
		}
	}
	fmt.Printf("figures: asynchronous standby promoted: %d of %d acknowledged records are lost, as the guarantees say; the fence grows\n", lost, len(before)+len(after))
}

// A standby that commits wait for loses nothing.
func TestPromotedSynchronousStandbyKeepsAll(t *testing.T) {
	t.Parallel()
	f := newFailover(t)
	f.primary.Set(t, "synchronous_standby_names", "*")
	f.until(func(g semel.Guarantees) bool { return g.SurvivesFailover == semel.Unknown })
	all := f.acknowledged(40)
	if lost := missing(t, f.failOver(), all); lost > 0 {
		t.Errorf("%d of %d acknowledged records are lost", lost, len(all))
	}
	fmt.Printf("figures: synchronous standby promoted: none of %d acknowledged records is lost\n", len(all))
}

// failover is a store on a primary, and its standby.
type failover struct {
	*testing.T
	primary *engines.PostgresServer
	standby *engines.StandbyServer
	dsn     string
	store   backends.Store
}

func newFailover(t *testing.T) *failover {
	t.Helper()
	f := &failover{T: t, primary: engines.NewPostgres(t, nil)}
	f.standby = f.primary.Standby(t)
	f.dsn = f.primary.Database(t)
	f.store = backends.PostgresPool().OpenFor(t, f.dsn).Store
	return f
}

// acknowledged are records that are done, and as many that are running.
func (f *failover) acknowledged(n int) (all []*record) {
	f.Helper()
	for i := range n {
		r := newRecord()
		res, err := f.store.Claim(f.Context(), claimBy(r, r.mine))
		if err == nil && i%2 == 0 {
			_, err = f.store.Finish(f.Context(), finishBy(r, r.mine, semel.StateDone))
		}
		if err != nil {
			f.Fatal(err)
		}
		r.fence = res.Record.Fence
		all = append(all, r)
	}
	return all
}

// failOver kills the primary and opens a store on the promoted standby.
func (f *failover) failOver() backends.Store {
	f.Helper()
	f.primary.Kill(f.T)
	f.standby.Promote(f.T)
	return backends.PostgresPool().OpenFor(f.T, engines.Through(f.dsn, f.standby.Addr())).Store
}

// until waits until sessions know of a setting.
func (f *failover) until(ok func(semel.Guarantees) bool) {
	f.Helper()
	for !ok(guarantees(f.T, f.store)) {
		if f.Context().Err() != nil {
			f.Fatal("the setting does not arrive")
		}
	}
}

func missing(t *testing.T, s backends.Store, all []*record) (n int) {
	t.Helper()
	for _, r := range all {
		rec, err := s.Read(t.Context(), semel.ReadParams{Key: r.key})
		switch {
		case err != nil:
			t.Fatal(err)
		case rec.State == semel.StateNone:
			n++
		case rec.Fence != r.fence:
			t.Errorf("fence %d, acknowledged as %d", rec.Fence, r.fence)
		}
	}
	return n
}
