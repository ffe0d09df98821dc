package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
)

const (
	modelRuns  = 25
	modelSteps = 60
	// modelTime ends a run on a store that is slow: its clock may have come too near
	// to a border that the specification's clock stands before.
	modelTime = 4 * time.Second
	// shrinkRuns bounds the search for a shorter failing run.
	shrinkRuns = 300
)

func modelCases() []Case {
	return []Case{{
		Name:  "model/random runs",
		Why:   "rules that each hold alone can break each other: the store must answer every sequence of calls as the specification, memstore, does",
		check: modelRandom,
	}}
}

func modelRandom(t *T) {
	for run := range uint64(modelRuns) {
		ops := randomOperations(rand.New(rand.NewPCG(t.seed, run)), modelSteps)
		t.follow(fmt.Sprintf("seed %d, run %d", t.seed, run), ops)
	}
}

// CheckScript is the case of random runs with operations that are drawn from
// script, five bytes each: for fuzzing a store against the specification. It
// returns nil if both agree.
func CheckScript(ctx context.Context, h Harness, script []byte) *Failure {
	c := modelCases()[0]
	c.check = func(t *T) {
		var ops []operation
		for b := range slices.Chunk(script, operationBytes) {
			if len(b) == operationBytes {
				ops = append(ops, drawOperation([operationBytes]byte(b)))
			}
		}
		t.follow("script", ops)
	}
	_, failure := c.run(ctx, h)
	return failure
}

// follow replays operations and reports the shortest run found that fails.
func (t *T) follow(what string, ops []operation) {
	ops = slices.DeleteFunc(ops, func(op operation) bool { return !t.can(op.kind) })
	if n, problem := t.replay(ops); problem != "" {
		ops, problem = t.shrink(ops[:n+1], problem)
		t.fatalf("%s: %s\n    after\n    %s", what, problem, steps(ops))
	}
}

// can reports whether the subject has the capability that a step needs.
func (t *T) can(k kind) bool {
	switch k {
	case opCheckpoint:
		return t.subject.has(needsCheckpoint)
	case opPurge:
		return t.subject.has(needsPurger)
	}
	return true
}

// replay runs operations on the subject, with keys of their own, and on a fresh
// specification. It returns the first step at which they differ, and how.
func (t *T) replay(ops []operation) (step int, problem string) {
	subject, model := t.worlds()
	began := time.Now()
	for i, op := range ops {
		if time.Since(began) > modelTime {
			return 0, ""
		}
		if d := compare(subject, model, op); d != "" {
			return i, d
		}
	}
	return 0, ""
}

// worlds returns the subject and a specification with the same keys and tokens.
func (t *T) worlds() (subject, model *world) {
	clock := NewClock()
	spec, err := memstore.New(&memstore.Options{Now: clock.Now})
	if err != nil {
		t.fatalf("memstore: %v", err)
	}
	subject = &world{ctx: t.ctx, store: t.subject.Store, advance: t.subject.Advance}
	for i := range subject.keys {
		subject.keys[i] = t.key()
	}
	for i := range subject.tokens {
		subject.tokens[i] = semel.NewToken()
	}
	model = &world{ctx: t.ctx, store: spec, advance: clock.Advance, keys: subject.keys, tokens: subject.tokens}
	return subject, model
}

// compare applies one operation to both and compares answers and records.
func compare(subject, model *world, op operation) string {
	got, want := subject.step(op), model.step(op)
	if d := replyDifference(got, want); d != "" {
		return d
	}
	first, last := op.key, op.key
	if op.kind == opAdvance || op.kind == opPurge {
		first, last = 0, modelKeys-1
	}
	for key := first; key <= last; key++ {
		if d := compareKey(subject, model, key); d != "" {
			return fmt.Sprintf("afterwards, of key %d, %s", key, d)
		}
	}
	return ""
}

func compareKey(subject, model *world, key int) string {
	got, grew, err := subject.look(key)
	want, mustGrow, _ := model.look(key)
	if err != nil {
		return "Read: " + err.Error()
	}
	if d := recordDifference(got, want); d != "" {
		return d
	}
	if grew != mustGrow {
		return fmt.Sprintf("the fence changed by sign %d, want %d: %s", grew, mustGrow, brief(got))
	}
	return ""
}

// shrink looks for a shorter run that fails as well, leaving out parts of it,
// larger ones first.
func (t *T) shrink(ops []operation, problem string) ([]operation, string) {
	tries := 0
	for size := len(ops) / 2; size > 0; size /= 2 {
		for from := 0; from+size <= len(ops) && tries < shrinkRuns; {
			tries++
			shorter := slices.Delete(slices.Clone(ops), from, from+size)
			if n, p := t.replay(shorter); p != "" {
				ops, problem = shorter[:n+1], p
			} else {
				from += size
			}
		}
	}
	return ops, problem
}

func steps(ops []operation) string {
	lines := make([]string, len(ops))
	for i, op := range ops {
		lines[i] = op.String()
	}
	return strings.Join(lines, "\n    ")
}
