package semel_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
)

// The derivation of keys is public (these were made by another program): these values never change. Field fault: key
// format changed by an upgrade orphans everything in flight.
func TestKeyGoldenVectors(t *testing.T) {
	for _, v := range []struct {
		key    semel.Key
		id     string
		derive string
	}{
		{semel.KeyOf(semel.Scope{Principal: "u1", Operation: "charge"}, "k1"), "75965622408eb8706e9223345c4e0b55", "59ddf02a-e362-8aab-9268-d866352e2651"},
		{semel.KeyOf(semel.Scope{Principal: semel.Global}, "ab", "c"), "82562dfed10e62dd62398d21f1d2be19", "0cdf47ee-801a-872b-b1f9-6edaaecdc058"},
		{semel.KeyOf(semel.Scope{Principal: "ü", Operation: "投票"}, "K1", ""), "7ff233fcb76d98cf7307b929c9b97ce5", "2577e55e-ee9f-8548-9822-d1fcca3a6a3b"},
	} {
		if got := v.key.ID().String(); got != v.id {
			t.Errorf("id %s, want %s", got, v.id)
		}
		if got := v.key.Derive("psp"); got != v.derive {
			t.Errorf("derived %s, want %s", got, v.derive)
		}
		if id, err := semel.ParseKeyID(v.id); err != nil || id != v.key.ID() {
			t.Errorf("ParseKeyID(%s): %v, %v", v.id, id, err)
		}
	}
}

// Field faults: key not bound to the caller; not bound to the operation;
// lower-cased; separator confusion.
func TestKeysThatLookAlikeDiffer(t *testing.T) {
	keys := []semel.Key{
		semel.KeyOf(semel.Scope{Principal: "a"}, "k"),
		semel.KeyOf(semel.Scope{Principal: "A"}, "k"),
		semel.KeyOf(semel.Scope{Principal: "a"}, "K"),
		semel.KeyOf(semel.Scope{Principal: "a"}, "k", ""),
		semel.KeyOf(semel.Scope{Principal: "a"}, "", "k"),
		semel.KeyOf(semel.Scope{Principal: "a"}, "k "),
		semel.KeyOf(semel.Scope{Principal: "a", Operation: "k"}, "k"),
		semel.KeyOf(semel.Scope{Principal: "ab"}, "c"),
		semel.KeyOf(semel.Scope{Principal: "a"}, "bc"),
		semel.KeyOf(semel.Scope{Principal: "a"}, "b", "c"),
		semel.KeyOf(semel.Scope{Principal: "a", Operation: "b"}, "c"),
		semel.KeyOf(semel.Scope{Principal: semel.Global}, "k"),
	}
	seen := map[semel.KeyID]int{}
	for i, k := range keys {
		if j, dup := seen[k.ID()]; dup {
			t.Errorf("keys %d and %d are the same", i, j)
		}
		seen[k.ID()] = i
	}
}

// The same content is the same key, of one principal and operation.
func TestKeyOfInput(t *testing.T) {
	scope := semel.Scope{Principal: "u1", Operation: "contact"}
	key := semel.KeyOfInput(scope, semel.InputString("hello", "world"))
	if again := semel.KeyOfInput(scope, semel.InputString("hello", "world")); again.ID() != key.ID() {
		t.Error("the same content makes another key")
	}
	if got := key.ID().String(); got != "4a0f330d37e20f0d32e3fff153bfc800" {
		t.Errorf("id %s has changed", got)
	}
	for name, other := range map[string]semel.Key{
		"content":    semel.KeyOfInput(scope, semel.InputString("hello", "World")),
		"borders":    semel.KeyOfInput(scope, semel.InputString("hell", "oworld")),
		"principal":  semel.KeyOfInput(semel.Scope{Principal: "u2", Operation: "contact"}, semel.InputString("hello", "world")),
		"operation":  semel.KeyOfInput(semel.Scope{Principal: "u1", Operation: "order"}, semel.InputString("hello", "world")),
		"a sent key": semel.KeyOf(scope, "hello", "world"),
	} {
		if other.ID() == key.ID() {
			t.Errorf("another %s makes the same key", name)
		}
	}
}

func TestKeyPrintsNoText(t *testing.T) {
	k := semel.KeyOf(semel.Scope{Principal: "canary"}, "canary")
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "key", k)
	for _, s := range []string{fmt.Sprint(k), fmt.Sprintf("%v %+v %#v %s %q %x", k, k, k, k, k, k), log.String()} {
		if strings.Contains(s, "canary") || strings.Contains(s, "63616e617279") || !strings.Contains(s, k.ID().Short()) {
			t.Errorf("printed %q", s)
		}
	}
}

// Field fault: validation failure of an internal key silently turns dedupe off.
func TestUnusableOperationsAreRefused(t *testing.T) {
	w := newWorld(t, nil)
	good := opFor(t)
	ops := map[string]struct {
		op  semel.Op
		fix string
	}{
		"zero":              {semel.Op{}, "semel.KeyOf"},
		"no input":          {semel.Op{Key: good.Key}, "semel.NoInput"},
		"no principal":      {semel.Op{Key: semel.KeyOf(semel.Scope{}, "k"), Input: good.Input}, "semel.Global"},
		"no parts":          {semel.Op{Key: semel.KeyOf(semel.Scope{Principal: "p"}), Input: good.Input}, "order id"},
		"empty parts":       {semel.Op{Key: semel.KeyOf(semel.Scope{Principal: "p"}, "", ""), Input: good.Input}, "order id"},
		"empty content":     {semel.Op{Key: semel.KeyOfInput(semel.Scope{Principal: "p"}, semel.NoInput), Input: good.Input}, "pass the content"},
		"unset content":     {semel.Op{Key: semel.KeyOfInput(semel.Scope{Principal: "p"}, semel.Input{}), Input: good.Input}, "semel.NoInput"},
		"content":           {semel.Op{Key: semel.KeyOfInput(semel.Scope{Principal: "p"}, semel.InputJSON(func() {})), Input: good.Input}, "InputBytes"},
		"input":             {semel.Op{Key: good.Key, Input: semel.InputJSON(func() {})}, "InputBytes"},
		"short lease":       {semel.Op{Key: good.Key, Input: good.Input, Lease: time.Millisecond}, "1s"},
		"retention":         {semel.Op{Key: good.Key, Input: good.Input, Retention: time.Millisecond}, "semel.Forever"},
		"lease ≥ retention": {semel.Op{Key: good.Key, Input: good.Input, Lease: time.Hour, Retention: time.Hour}, "raise Retention"},
		"wait ≥ retention":  {semel.Op{Key: good.Key, Input: good.Input, Wait: time.Hour, Retention: time.Hour}, "lower Wait"},
		"long label":        {semel.Op{Key: good.Key, Input: good.Input, Label: strings.Repeat("x", 201)}, "Op.Label"},
		"binary label":      {semel.Op{Key: good.Key, Input: good.Input, Label: "\xff\x00"}, "Op.Label"},
		"policy":            {semel.Op{Key: good.Key, Input: good.Input, Policy: 7}, "semel.AtMostOnce"},
	}
	for name, tt := range ops {
		_, err := semel.Do(t.Context(), w.Engine, tt.op, func(context.Context) (int, error) { t.Errorf("%s: ran", name); return 0, nil })
		if err == nil || !strings.Contains(err.Error(), tt.fix) {
			t.Errorf("%s: the error %q does not name the fix %q", name, err, tt.fix)
		}
		settings := tt.op.Lease != 0 || tt.op.Retention != 0 || tt.op.Policy != 0 || tt.op.Label != ""
		if err := w.Check(tt.op); (err != nil) != settings {
			t.Errorf("%s: Check, which knows settings only, says %v", name, err)
		}
	}
	if _, err := semel.Do(t.Context(), nil, good, one); err == nil {
		t.Error("a nil engine was taken")
	}
	if _, err := semel.Do[int](t.Context(), w.Engine, good, nil); err == nil {
		t.Error("no function was taken")
	}
	if _, err := semel.DoRecover(t.Context(), w.Engine, good, one, nil); err == nil {
		t.Error("no recovery was taken")
	}
	if _, err := semel.FirstTime(t.Context(), nil, good.Key, time.Minute); err == nil {
		t.Error("a nil engine was taken")
	}
	w.mustClose(t)
}

// I15: contradictory settings are refused at construction, all at once, with
// the fix.
func TestContradictoryOptionsAreRefused(t *testing.T) {
	mem, err := memstore.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for fix, opts := range map[string]semel.Options{
		"use 1s or more":               {Lease: time.Millisecond},
		"or semel.Forever":             {Retention: -1},
		"raise Retention":              {Lease: time.Hour, Retention: time.Minute},
		"lower Wait":                   {Wait: 48 * time.Hour},
		"use 0 for no waiting":         {Wait: -1},
		"leave it 0 for 500ms":         {Poll: -1},
		"semel.AtLeastOnce or":         {Policy: 3},
		"raise Lease":                  {ClaimTimeout: time.Minute},
		"leave it 0 for 5s":            {FinishTimeout: -1},
		"leave it 0 for 1 MiB":         {MaxResult: -1},
		"use 0 for no limit":           {MaxAttempts: -1},
		"use a shared store":           {Replicas: 2},
		"leave it 0 for one process":   {Replicas: -1},
		"ClaimTimeout is negative":     {ClaimTimeout: -1, MaxResult: -1},
		"use 16 random bytes":          {Secret: []byte("short")},
		"MaxResult is negative; leave": {ClaimTimeout: -1, MaxResult: -1},
	} {
		if _, err := semel.New(mem, &opts); err == nil || !strings.Contains(err.Error(), fix) {
			t.Errorf("the error %q does not say %q", err, fix)
		}
	}
	if _, err := semel.New(nil, nil); err == nil || !strings.Contains(err.Error(), "memstore.New") {
		t.Errorf("nil store: %v", err)
	}
	if _, err := semel.New(mem, &semel.Options{Retention: semel.Forever}); err != nil {
		t.Errorf("Forever: %v", err)
	}
}

// Field faults: an optimisation returns the old record before the payload check;
// only the first N bytes hashed; missing body hashed as a shared constant.
func TestInputsThatDiffer(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	inputs := []semel.Input{
		semel.NoInput, semel.InputString(""), semel.InputString("", ""), semel.InputString("a", "bc"), semel.InputString("ab", "c"),
		semel.InputString("abc"), semel.InputString(long + "1"), semel.InputString(long + "2"), semel.InputJSON(nil), semel.InputJSON(9007199254740993), semel.InputJSON(9007199254740992),
	}
	for _, secret := range [][]byte{nil, []byte("sixteen byte key")} {
		w := newWorld(t, &semel.Options{Secret: secret})
		for i, first := range inputs {
			key := keyFor(t, fmt.Sprint(i))
			if _, err := semel.Do(t.Context(), w.Engine, semel.Op{Key: key, Input: first}, one); err != nil {
				t.Fatal(err)
			}
			for j, second := range inputs {
				_, err := semel.Do(t.Context(), w.Engine, semel.Op{Key: key, Input: second}, one)
				if _, mismatch := errors.AsType[*semel.MismatchError](err); mismatch != (i != j) {
					t.Errorf("inputs %d and %d: %v", i, j, err)
				}
			}
		}
		w.mustClose(t)
	}
}

func one(context.Context) (int, error) { return 1, nil }

// I18: identity is computed once, at claim. Field fault: key recomputed at
// completion from input that the handler changed.
func TestHandlerMayChangeItsInput(t *testing.T) {
	w := newWorld(t, nil)
	body := []byte("10 EUR")
	op := semel.Op{Key: keyFor(t), Input: semel.InputBytes(body)}
	if _, err := semel.Do(t.Context(), w.Engine, op, func(context.Context) (int, error) { copy(body, "99 USD"); return 1, nil }); err != nil {
		t.Fatal(err)
	}
	op.Input = semel.InputString("10 EUR")
	if res, err := semel.Do(t.Context(), w.Engine, op, one); err != nil || !res.Replayed {
		t.Errorf("the same input got %+v, %v", res, err)
	}
	w.mustClose(t)
}

// I21: every record carries scope id and operation; the key's text only where
// the engine was told to keep it.
func TestRecordsCarryScopeAndOperation(t *testing.T) {
	for _, keep := range []bool{false, true} {
		w := newWorld(t, &semel.Options{StoreKeyText: keep, Secret: []byte("sixteen byte key")})
		a := semel.Op{Key: semel.KeyOf(semel.Scope{Principal: "a", Operation: "charge"}, "k1"), Input: semel.NoInput}
		b := semel.Op{Key: semel.KeyOf(semel.Scope{Principal: "a", Operation: "refund"}, "k2"), Input: semel.NoInput, Label: "label"}
		c := semel.Op{Key: semel.KeyOf(semel.Scope{Principal: "c", Operation: "charge"}, "k\xff\x00"), Input: semel.NoInput}
		var recs []semel.Record
		for _, op := range []semel.Op{a, b, c} {
			if _, err := semel.Do(t.Context(), w.Engine, op, one); err != nil {
				t.Fatal(err)
			}
			recs = append(recs, w.read(t, op.Key))
		}
		if recs[0].ScopeID != recs[1].ScopeID || recs[0].ScopeID == recs[2].ScopeID || recs[0].ScopeID == (semel.ScopeID{}) {
			t.Errorf("scope ids %x", []semel.ScopeID{recs[0].ScopeID, recs[1].ScopeID, recs[2].ScopeID})
		}
		if got := []string{recs[0].Operation, recs[1].Operation}; !slices.Equal(got, []string{"charge", "label"}) {
			t.Errorf("operations %q", got)
		}
		want := []string{"", "", ""}
		if keep {
			want = []string{"k1", "k2", `["k\xff\x00"]`}
		}
		if got := []string{recs[0].KeyText, recs[1].KeyText, recs[2].KeyText}; !slices.Equal(got, want) {
			t.Errorf("key texts %q, want %q", got, want)
		}
		w.mustClose(t)
	}
}

func TestNamesOfNumbers(t *testing.T) {
	for want, got := range map[string]fmt.Stringer{
		"in-doubt": semel.StateInDoubt, "mismatch": semel.ClaimMismatch, "at-most-once": semel.AtMostOnce, "attempts": semel.CauseAttempts,
		"delete": semel.ResolveDelete, "yes": semel.Yes, "tombstone": semel.EventTombstone,
	} {
		if got.String() != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if semel.State(99).String() != "unknown" {
		t.Error("a number without a name must say so")
	}
}
