package upgrade

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/semel-go/semel"
)

// purchase is what a caller sends. The fingerprint once covered all of it, and is to
// cover the amount alone.
type purchase struct{ amount, note string }

func (r purchase) whole() semel.Input      { return semel.InputString(r.amount, r.note) }
func (r purchase) amountOnly() semel.Input { return semel.InputString("v2", r.amount) }

// release is a version of the application.
type release struct {
	name string
	op   func(r purchase) semel.Op
}

var (
	before = release{"before", func(r purchase) semel.Op { return semel.Op{Input: r.whole()} }}
	first  = release{"first", func(r purchase) semel.Op { return semel.Op{Input: r.whole(), Former: []semel.Input{r.amountOnly()}} }}
	second = release{"second", func(r purchase) semel.Op { return semel.Op{Input: r.amountOnly(), Former: []semel.Input{r.whole()}} }}
	after  = release{"after", func(r purchase) semel.Op { return semel.Op{Input: r.amountOnly()} }}
)

// A change of the fingerprint in two phases: whichever two neighbouring releases run
// side by side, a retry that reaches the other one is replayed.
func TestFingerprintChangeInTwoPhases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		to, again release
		refused   bool
	}{
		{before, first, false},
		{first, before, false},
		{first, second, false},
		{second, first, false},
		{second, after, false},
		{after, second, false},
		{second, before, true}, // why the first phase is needed
		{first, after, true},   // why one retention has to pass before the last release
	} {
		retried(t, c.to, c.again, c.refused)
	}
}

// retried sends a request to one release and its retry to another.
func retried(t *testing.T, to, again release, refused bool) {
	t.Helper()
	store, _ := open(t, filepath.Join(t.TempDir(), "semel.db"))
	one, other := engineOn(t, store, nil), engineOn(t, store, nil)
	runs := 0
	send := func(e *semel.Engine, r release) error {
		op := r.op(purchase{"42", "hello"})
		op.Key = keyOf("order")
		_, err := semel.Do(t.Context(), e, op, func(context.Context) (int, error) { runs++; return 1, nil })
		return err
	}
	if err := send(one, to); err != nil {
		t.Fatal(err)
	}
	err := send(other, again)
	_, mismatch := errors.AsType[*semel.MismatchError](err)
	if mismatch != refused || err != nil && !mismatch || runs != 1 {
		t.Errorf("%s, then %s: %v after %d runs; refused should be %v", to.name, again.name, err, runs, refused)
	}
}
