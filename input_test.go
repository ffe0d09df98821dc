package semel_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/semel-go/semel"
)

func TestJSONTextCountsByItsMeaning(t *testing.T) {
	w := newWorld(t, nil)
	fields, err := semel.SelectJSON(nil, []string{"/sentAt"})
	if err != nil {
		t.Fatal(err)
	}
	do := func(text string) error {
		_, err := semel.Do(t.Context(), w.Engine, semel.Op{Key: keyFor(t), Input: semel.InputJSONText([]byte(text), fields)}, one)
		return err
	}
	for _, same := range []string{`{"cents":1000,"to":"bob","sentAt":1}`, ` {"to":"b\u006fb", "cents":1e3}`} {
		if err := do(same); err != nil {
			t.Errorf("%s: %v", same, err)
		}
	}
	for _, other := range []string{`{"cents":1001,"to":"bob"}`, `{"cents":1000,"to":"bob"`, `"x"`} {
		if _, ok := errors.AsType[*semel.MismatchError](do(other)); !ok {
			t.Errorf("%s counted as the same", other)
		}
	}
	if err := do(`{"cents":1,"cents":1000,"to":"bob"}`); !errors.Is(err, semel.ErrAmbiguousInput) {
		t.Errorf("duplicate members: %v", err)
	}
	if _, err := semel.SelectJSON([]string{"cents"}, nil); err == nil || !strings.Contains(err.Error(), "JSON pointer") {
		t.Errorf("no pointer: %v", err)
	}
	w.mustClose(t)
}

// A JSON text never equals other bytes that look like its digest or its raw form.
func TestJSONTextAndBytesNeverMeet(t *testing.T) {
	w := newWorld(t, nil)
	inputs := []semel.Input{
		semel.InputJSONText([]byte(`{}`), nil), semel.InputJSONText([]byte(`{`), nil), semel.InputBytes([]byte(`{}`)), semel.InputBytes([]byte(`{`)), semel.InputJSONText(nil, nil),
	}
	for i, in := range inputs {
		for j, other := range inputs {
			key := keyFor(t, string(rune('a'+i)), string(rune('a'+j)))
			_, _ = semel.Do(t.Context(), w.Engine, semel.Op{Key: key, Input: in}, one)
			_, err := semel.Do(t.Context(), w.Engine, semel.Op{Key: key, Input: other}, one)
			if _, mismatch := errors.AsType[*semel.MismatchError](err); mismatch != (i != j) {
				t.Errorf("inputs %d and %d: %v", i, j, err)
			}
		}
	}
	w.mustClose(t)
}

// Two versions of a fingerprint live side by side during a rollout, whichever
// process wrote the record, with the cache on and off. I6: a third input is still
// refused.
func TestFormerFingerprintsDuringARollout(t *testing.T) {
	for name, cache := range map[string]int64{"without cache": 0, "with cache": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			oldProcess := newWorld(t, &semel.Options{Cache: cache})
			newProcess := worldOn(t, oldProcess.store, &semel.Options{Cache: cache})
			before, after := semel.InputString("v1"), semel.InputString("v2")
			oldOp := func(part string) semel.Op {
				return semel.Op{Key: keyFor(t, part), Input: before, Former: []semel.Input{after}}
			}
			newOp := func(part string) semel.Op {
				return semel.Op{Key: keyFor(t, part), Input: after, Former: []semel.Input{semel.InputString("v0"), before}}
			}
			for range 2 {
				for part, ops := range map[string][2]func(string) semel.Op{"old first": {oldOp, newOp}, "new first": {newOp, oldOp}} {
					for i, w := range []*world{oldProcess, newProcess} {
						if part == "new first" {
							w = []*world{newProcess, oldProcess}[i]
						}
						if _, err := semel.Do(t.Context(), w.Engine, ops[i](part), one); err != nil {
							t.Errorf("%s, process %d: %v", part, i, err)
						}
					}
				}
			}
			third := newOp("old first")
			third.Input, third.Former = semel.InputString("v3"), []semel.Input{semel.InputString("v4")}
			_, err := semel.Do(t.Context(), newProcess.Engine, third, one)
			if _, ok := errors.AsType[*semel.MismatchError](err); !ok || newProcess.events.count(semel.EventMismatch) != 1 {
				t.Errorf("a third input: %v, %d mismatches observed", err, newProcess.events.count(semel.EventMismatch))
			}
			oldProcess.mustClose(t)
			newProcess.mustClose(t)
		})
	}
}
