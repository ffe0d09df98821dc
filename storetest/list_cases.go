package storetest

import (
	"bytes"
	"slices"

	"github.com/semel-go/semel"
)

func listCases() []Case {
	return []Case{
		{
			Name:  "list/pages",
			Why:   "an operator who pages through records must see each once and miss none",
			needs: needsLister, check: listPages,
		},
		{
			Name:  "list/filters by what is seen",
			Why:   "a lapse is written nowhere: a list by the stored state would hide exactly the records in doubt",
			needs: needsLister, check: listFilters,
		},
	}
}

// listed returns the keys of all pages.
func (t *T) listed(p semel.ListParams) (keys []semel.KeyID) {
	lister := t.subject.Store.(semel.Lister)
	for range 1000 {
		res, err := lister.List(t.ctx, p)
		if err != nil || len(res.Records) > p.Limit {
			t.fatalf("List: %d records for limit %d, %v", len(res.Records), p.Limit, err)
		}
		for _, r := range res.Records {
			keys = append(keys, r.Key)
			if r.Result.Data != nil {
				t.errorf("List hands out result data")
			}
		}
		if res.Next == "" {
			return keys
		}
		p.Cursor = res.Next
	}
	t.fatalf("List has more, 1000 times")
	return nil
}

func (t *T) wantListed(what string, p semel.ListParams, want []semel.KeyID) {
	got := t.listed(p)
	slices.SortFunc(got, compareKeys)
	slices.SortFunc(want, compareKeys)
	if !slices.Equal(got, want) {
		t.errorf("List of %s: %v; want %v", what, got, want)
	}
}

func compareKeys(a, b semel.KeyID) int { return bytes.Compare(a[:], b[:]) }

func listPages(t *T) {
	keys := t.keysIn(doneRecord)
	for _, id := range hostileIDs() {
		doneRecord(t, id)
		keys = append(keys, id)
	}
	for _, limit := range []int{1, 7, len(keys), 1000} {
		t.wantListed("all", semel.ListParams{Limit: limit}, keys)
	}
	if _, err := t.subject.Store.(semel.Lister).List(t.ctx, semel.ListParams{Limit: 1, Cursor: "?"}); err == nil {
		t.errorf("List takes a cursor that it did not make")
	}
	t.advance(2 * retention)
	t.wantListed("the expired", semel.ListParams{Limit: 10}, nil)
}

func listFilters(t *T) {
	lapsed, held, alive, done, other := t.key(), t.key(), t.key(), t.key(), t.key()
	t.begin(lapsed, semel.AtLeastOnce)
	t.begin(held, semel.AtMostOnce)
	t.advance(2 * lease)
	t.begin(alive, semel.AtMostOnce)
	doneRecord(t, done)
	p := claimOf(other, semel.NewToken())
	p.ScopeID = semel.ScopeID{8}
	t.acquire(p)
	t.finish(releaseOf(other, p.Token))
	t.wantListed("running", semel.ListParams{State: semel.StateRunning, Limit: 10}, []semel.KeyID{lapsed, alive})
	t.wantListed("in doubt", semel.ListParams{State: semel.StateInDoubt, Limit: 10}, []semel.KeyID{held})
	t.wantListed("done", semel.ListParams{State: semel.StateDone, Limit: 10}, []semel.KeyID{done})
	t.wantListed("released", semel.ListParams{State: semel.StateReleased, Limit: 10}, []semel.KeyID{other})
	t.wantListed("one scope", semel.ListParams{ScopeID: &p.ScopeID, Limit: 10}, []semel.KeyID{other})
	t.wantListed("a state of a scope without one", semel.ListParams{ScopeID: &p.ScopeID, State: semel.StateDone, Limit: 10}, nil)
}
