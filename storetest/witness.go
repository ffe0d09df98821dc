package storetest

import (
	"bytes"
	"context"
	"sync"

	"github.com/semel-go/semel"
)

// witness sees every answer of a store and holds it to what must be true in each
// case, whatever else the case looks at: no two owners under one fence, and one
// result for each fence.
type witness struct {
	semel.Store

	mu      sync.Mutex
	owners  map[place]semel.Token
	results map[place]semel.StoredResult
	wrong   []string
}

// place is one run of a key.
type place struct {
	key   semel.KeyID
	fence semel.Fence
}

func newWitness(store semel.Store) *witness {
	return &witness{Store: store, owners: make(map[place]semel.Token), results: make(map[place]semel.StoredResult)}
}

// on puts another handle on the same records before the witness.
func (w *witness) on(store semel.Store) semel.Store { return &handle{Store: store, witness: w} }

func (w *witness) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	return w.on(w.Store).Claim(ctx, p)
}

func (w *witness) Read(ctx context.Context, p semel.ReadParams) (semel.Record, error) {
	return w.on(w.Store).Read(ctx, p)
}

type handle struct {
	semel.Store
	witness *witness
}

func (h *handle) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	res, err := h.Store.Claim(ctx, p)
	if err == nil {
		h.witness.saw(p.Key, res.Record)
		if res.Outcome == semel.ClaimAcquired {
			h.witness.sawOwner(p, res.Record.Fence)
		}
	}
	return res, err
}

func (h *handle) Read(ctx context.Context, p semel.ReadParams) (semel.Record, error) {
	r, err := h.Store.Read(ctx, p)
	if err == nil {
		h.witness.saw(p.Key, r)
	}
	return r, err
}

func (w *witness) sawOwner(p semel.ClaimParams, fence semel.Fence) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := place{p.Key, fence}
	if owner, ok := w.owners[at]; ok && owner != p.Token {
		w.wrong = append(w.wrong, "two owners acquired one key with the same fence")
	}
	w.owners[at] = p.Token
}

func (w *witness) saw(key semel.KeyID, r semel.Record) {
	if r.State != semel.StateDone {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at := place{key, r.Fence}
	first, ok := w.results[at]
	if ok && (first.Kind != r.Result.Kind || !bytes.Equal(first.Data, r.Result.Data)) {
		w.wrong = append(w.wrong, "a done record's result changed under the same fence")
	}
	w.results[at] = r.Result
}

func (w *witness) report(t *T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.wrong {
		t.errorf("%s", s)
	}
}
