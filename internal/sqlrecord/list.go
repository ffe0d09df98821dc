package sqlrecord

import (
	"encoding/hex"
	"errors"

	"github.com/semel-go/semel"
)

// ListQuery is a list as parameters of a statement that goes by key.
type ListQuery struct {
	After []byte // key; nil for the first page
	State semel.State
	Scope []byte // nil for all
	Limit int    // rows to ask for: one more than a page has, to see whether there is more
}

// QueryOf translates the parameters of a list.
func QueryOf(p *semel.ListParams) (q ListQuery, err error) {
	q = ListQuery{State: p.State, Limit: min(max(p.Limit, 1), 1000) + 1}
	if p.Cursor != "" {
		last, err := semel.ParseKeyID(p.Cursor)
		if err != nil {
			return q, errors.New("sqlstore: the cursor is none of this store's; begin with an empty one")
		}
		q.After = last[:]
	}
	if p.ScopeID != nil {
		q.Scope = p.ScopeID[:]
	}
	return q, nil
}

// Page makes the answer of a list.
func (q *ListQuery) Page(rows []*Row, now int64) (res semel.ListResult) {
	if len(rows) == q.Limit {
		rows = rows[:q.Limit-1]
		res.Next = hex.EncodeToString(rows[len(rows)-1].Key)
	}
	for _, r := range rows {
		if listed, ok := r.listed(now, q.State); ok {
			res.Records = append(res.Records, listed)
		}
	}
	return res
}

// listed is the record as a list shows it.
func (r *Row) listed(now int64, want semel.State) (semel.Record, bool) {
	if r.Check() == nil {
		return r.Record(now), true
	}
	unreadable := semel.Record{State: semel.StateUnreadable}
	copy(unreadable.Key[:], r.Key)
	return unreadable, want == semel.StateNone
}
