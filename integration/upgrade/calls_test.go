package upgrade

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/semel-go/semel"
)

// charge is a result with what encodings lose most easily.
type charge struct {
	ID       string         `json:"id"`
	Amount   int64          `json:"amount"` // beyond what a float64 holds
	Note     *string        `json:"note"`
	Lines    []string       `json:"lines"`
	Raw      []byte         `json:"raw"`
	Extra    map[string]int `json:"extra"`
	At       time.Time      `json:"at"`
	Accepted bool           `json:"accepted"`
}

func theCharge() charge {
	return charge{ID: "ch_1 <&> ä", Amount: 9007199254740993, Lines: []string{}, Raw: []byte{0, 255}, Extra: map[string]int{"b": 1, "a": 2}, At: time.Date(2025, 6, 15, 12, 0, 0, 123, time.UTC)}
}

// refusal is an error that is replayed.
var refusal = semel.FinalError{Code: "card-declined", Message: "the card was declined", Data: []byte(`{"try":"another"}`)}

// secrets are those of the two engines that wrote: fingerprints without and with one.
var secrets = map[string][]byte{"plain": nil, "secret": []byte("a secret of 26 bytes, kept")}

// calls are what an application does with an engine. run reports whether the work
// ran.
var calls = []struct {
	name string
	do   func(t *testing.T, e *semel.Engine, key string) (ran bool)
}{
	{"a value", func(t *testing.T, e *semel.Engine, key string) (ran bool) {
		got, err := semel.Do(t.Context(), e, callOf(key), func(context.Context) (charge, error) { ran = true; return theCharge(), nil })
		if err != nil || !reflect.DeepEqual(got.Value, theCharge()) {
			t.Errorf("%+v, %v", got, err)
		}
		return ran
	}},
	{"a refusal", func(t *testing.T, e *semel.Engine, key string) (ran bool) {
		_, err := semel.Do(t.Context(), e, callOf(key), func(context.Context) (charge, error) { ran = true; return charge{}, semel.Final(&refusal) })
		if got, ok := errors.AsType[*semel.FinalError](err); !ok || !reflect.DeepEqual(*got, refusal) {
			t.Errorf("%#v; want %#v", err, refusal)
		}
		return ran
	}},
	{"a first time", func(t *testing.T, e *semel.Engine, key string) bool {
		first, err := semel.FirstTime(t.Context(), e, keyOf(key), semel.Forever)
		if err != nil {
			t.Error(err)
		}
		return first
	}},
}

func keyOf(key string) semel.Key {
	return semel.KeyOf(semel.Scope{Principal: "fixture", Operation: "call"}, "tenant", key)
}

func callOf(key string) semel.Op {
	return semel.Op{Key: keyOf(key), Input: semel.InputJSON(map[string]any{"order": key, "amount": 42}), Retention: semel.Forever}
}

// call makes all calls with both engines and reports whether each one's work ran
// as it should.
func call(t *testing.T, store semel.Store, want bool) {
	t.Helper()
	for with, secret := range secrets {
		e := engineOn(t, store, &semel.Options{Secret: secret})
		for _, c := range calls {
			if ran := c.do(t, e, with+" "+c.name); ran != want {
				t.Errorf("%s, %s: ran %v, want %v", with, c.name, ran, want)
			}
		}
	}
}
