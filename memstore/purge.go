package memstore

import (
	"context"
	"time"

	"github.com/semel-go/semel"
)

const (
	purgedPerStep  = 2    // expired records that each step takes away, so that no store only grows
	purgedWhenFull = 1024 // that a refused claim takes away before it is tried again
)

// Purge is [semel.Purger]. Claims and finishes purge a little by themselves, so
// that calling it is only needed to free the memory of an idle store.
func (s *Store) Purge(ctx context.Context, p semel.PurgeParams) (semel.PurgeResult, error) {
	var res semel.PurgeResult
	now := s.now()
	for i := range s.shards {
		if ctx.Err() != nil {
			res.More = true
			break
		}
		purged, oldest := s.purgeLocked(&s.shards[i], now, p.Limit-res.Purged)
		res.Purged += purged
		if oldest != never {
			res.More = true
			res.Lag = max(res.Lag, time.Duration(now-oldest))
		}
	}
	return res, nil
}

// makeRoom purges for a claim that did not fit and reports whether it did.
func (s *Store) makeRoom() bool {
	now, purged := s.now(), 0
	for i := range s.shards {
		n, _ := s.purgeLocked(&s.shards[i], now, purgedWhenFull-purged)
		purged += n
	}
	return purged > 0
}

func (s *Store) purgeLocked(sh *shard, now instant, limit int) (purged int, oldest instant) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	purged = s.purgeShard(sh, now, limit)
	if sl, ok := sh.deletable(now); ok {
		return purged, sl.deletableAt()
	}
	return purged, never
}

// purgeShard deletes at most limit expired records of a locked shard.
func (s *Store) purgeShard(sh *shard, now instant, limit int) (purged int) {
	for purged < limit {
		sl, ok := sh.deletable(now)
		if !ok {
			return purged
		}
		s.budget.used.Add(-sl.size())
		sh.remove(sl.key)
		purged++
	}
	return purged
}
