package linear

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
)

// searchTime bounds the search for an order of one key's calls.
const searchTime = time.Minute

// History is who was told what, and when.
type History struct {
	clock   atomic.Int64
	callers int
	keys    int

	mu      sync.Mutex
	all     []operation
	refused int
}

// operation is a call with its times, of a clock that ticks with each event.
type operation struct {
	caller, key      int
	call             call
	reply            reply
	unknown          bool // there was no reply: it may take effect at any later time
	called, answered int64
}

func (h *History) tick() int64 { return h.clock.Add(1) }

func (h *History) add(op operation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, op)
}

func (h *History) addRefused() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refused++
}

// Check looks for an order of each key's calls in which all replies make sense. Its
// error has the calls of a key for which there is none.
func (h *History) Check() error {
	for n, ops := range h.byKey() {
		history := make([]porcupine.Operation, len(ops))
		for i, op := range ops {
			history[i] = op.porcupine()
		}
		if got := porcupine.CheckOperationsTimeout(model(), history, searchTime); got != porcupine.Ok {
			return fmt.Errorf("no order of the calls on key %d makes sense (%v):\n%s%s", n, got, listing(ops), stuck(history))
		}
	}
	return nil
}

// stuck tells what the record is after the longest order that makes sense, and which
// calls do not fit in anywhere.
func stuck(history []porcupine.Operation) string {
	_, info := porcupine.CheckOperationsVerbose(model(), history, searchTime)
	var longest []porcupine.Operation
	for _, order := range info.PartialLinearizationsOperations()[0] {
		if len(order) > len(longest) {
			longest = order
		}
	}
	r := register{}
	in := map[int64]bool{}
	for _, op := range longest {
		in[op.Call] = true
		r, _ = r.step(op.Input.(call))
	}
	var left []int64
	for _, op := range history {
		if !in[op.Call] {
			left = append(left, op.Call)
		}
	}
	return fmt.Sprintf("after %d of them it is %+v, and these do not follow: %d", len(longest), r, left)
}

func (op operation) porcupine() porcupine.Operation {
	o := porcupine.Operation{ClientId: op.caller, Input: op.call, Output: op.reply, Call: op.called, Return: op.answered}
	if op.unknown {
		o.Output, o.Return = nil, math.MaxInt64
	}
	return o
}

// model is a key's register. A call without a reply is always possible; the search
// puts one that never took effect behind all others.
func model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return register{} },
		Step: func(state, input, output any) (bool, any) {
			after, want := state.(register).step(input.(call))
			if output == nil {
				return true, after
			}
			got := output.(reply)
			fence := got.seen.fence
			got.seen.fence = 0
			if got != want {
				return false, after
			}
			if got.seen == (view{}) {
				return fence == 0, after
			}
			after, ok := after.saw(fence)
			return ok, after
		},
	}
}

// byKey returns the calls of each key in the order in which they were made.
func (h *History) byKey() [][]operation {
	h.mu.Lock()
	defer h.mu.Unlock()
	keys := make([][]operation, h.keys)
	for _, op := range h.all {
		keys[op.key] = append(keys[op.key], op)
	}
	for _, ops := range keys {
		slices.SortFunc(ops, func(a, b operation) int { return cmp.Compare(a.called, b.called) })
	}
	return keys
}

func listing(ops []operation) string {
	var text strings.Builder
	for _, op := range ops {
		answer := op.reply.String()
		if op.unknown {
			answer = "no reply"
		}
		fmt.Fprintf(&text, "  %5d–%-5d caller %d: %v → %s\n", op.called, op.answered, op.caller, op.call, answer)
	}
	return text.String()
}

// Figures are the figures of a run.
type Figures struct {
	Calls, Callers, Keys int
	Overlapping          float64        // share of the calls that overlap with another one on the same key, lost ones until their caller gave up
	Unknown              float64        // share without a reply
	Refused              int            // calls that were told to be not executed; not among Calls
	Answers              map[string]int // how often callers were told what
}

// Figures counts.
func (h *History) Figures() Figures {
	f := Figures{Callers: h.callers, Keys: h.keys, Refused: h.refused, Answers: map[string]int{}}
	overlapping, unknown := 0, 0
	for _, ops := range h.byKey() {
		f.Calls += len(ops)
		for i, op := range ops {
			if slices.ContainsFunc(ops[i+1:], op.overlaps) || slices.ContainsFunc(ops[:i], op.overlaps) {
				overlapping++
			}
			if op.unknown {
				unknown++
			}
			f.Answers[op.label()]++
		}
	}
	f.Overlapping = float64(overlapping) / float64(f.Calls)
	f.Unknown = float64(unknown) / float64(f.Calls)
	return f
}

func (op operation) overlaps(other operation) bool {
	return op.called < other.answered && other.called < op.answered
}

// label names the call and what its caller was told.
func (op operation) label() string {
	r := op.reply
	switch {
	case op.unknown:
		return op.call.kind.String() + " no reply"
	case r.fenced:
		return op.call.kind.String() + " fenced"
	case op.call.kind == claim:
		return "claim " + r.outcome.String()
	case op.call.kind == resolve && !r.resolved:
		return "resolve refused"
	}
	return op.call.kind.String()
}

// String is one line.
func (f Figures) String() string {
	return fmt.Sprintf("%d calls by %d callers on %d keys, %.0f %% overlapping, %.1f %% without a reply, %d refused",
		f.Calls, f.Callers, f.Keys, 100*f.Overlapping, 100*f.Unknown, f.Refused)
}
