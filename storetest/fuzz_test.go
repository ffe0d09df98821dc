package storetest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/semel-go/semel/storetest"
)

// FuzzOperations compares two independent implementations of the contract, the
// plain store and memstore, over any sequence of operations.
func FuzzOperations(f *testing.F) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 0))
		script := make([]byte, 5*40)
		for i := range script {
			script[i] = byte(rng.Uint32())
		}
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		script = script[:min(len(script), 5*200)]
		if failure := storetest.CheckScript(t.Context(), storetest.Harness{New: newPlain(none)}, script); failure != nil {
			t.Error(failure)
		}
	})
}

func TestScriptsFindFlaws(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	script := make([]byte, 5*400)
	for i := range script {
		script[i] = byte(rng.Uint32())
	}
	for _, flawed := range []flaw{doubtExpires, renewRevives, causeReplaced, lastResultStands} {
		if failure := storetest.CheckScript(t.Context(), storetest.Harness{New: newPlain(flawed)}, script); failure == nil {
			t.Errorf("400 random steps do not find that %s", flawed)
		}
	}
}
