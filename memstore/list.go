package memstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/semel-go/semel"
)

const maxListed = 1000

// List is [semel.Lister]. A page is no snapshot: shards are looked at one after
// the other, each locked for as long as that takes.
func (s *Store) List(ctx context.Context, p semel.ListParams) (semel.ListResult, error) {
	limit := min(max(p.Limit, 1), maxListed)
	after, err := parseCursor(p.Cursor)
	if err != nil {
		return semel.ListResult{}, err
	}
	first := 0
	if after != nil {
		first = shardNumber(*after)
	}
	var found []semel.Record
	for i := first; i < shardCount && len(found) <= limit; i++ {
		if err := ctx.Err(); err != nil {
			return semel.ListResult{}, fmt.Errorf("%w: %w", semel.ErrStoreUnavailable, err)
		}
		found = s.listShard(&s.shards[i], &p, after, found)
	}
	if len(found) <= limit {
		return semel.ListResult{Records: found}, nil
	}
	return semel.ListResult{Records: found[:limit], Next: found[limit-1].Key.String()}, nil
}

// parseCursor reads a cursor: the id of the last record listed.
func parseCursor(cursor string) (*semel.KeyID, error) {
	if cursor == "" {
		return nil, nil
	}
	id, err := semel.ParseKeyID(cursor)
	if err != nil {
		return nil, errors.New("memstore: the cursor is none of this store's; begin with an empty one")
	}
	return &id, nil
}

// listShard appends the shard's records that p selects, in the order of their ids.
func (s *Store) listShard(sh *shard, p *semel.ListParams, after *semel.KeyID, found []semel.Record) []semel.Record {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	now, begin := s.now(), len(found)
	for key, n := range sh.index {
		if after != nil && bytes.Compare(key[:], after[:]) <= 0 {
			continue
		}
		if r := sh.slot(n).at(now); selected(&r, p) {
			r.Result.Data = nil
			found = append(found, r)
		}
	}
	slices.SortFunc(found[begin:], func(a, b semel.Record) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	return found
}

func selected(r *semel.Record, p *semel.ListParams) bool {
	return r.State != semel.StateNone &&
		(p.State == semel.StateNone || r.State == p.State) &&
		(p.ScopeID == nil || r.ScopeID == *p.ScopeID)
}
