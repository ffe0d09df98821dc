package memstore

import "github.com/semel-go/semel"

// Queued is the number of entries in all queues of dues.
func (s *Store) Queued() (n int) {
	for i := range s.shards {
		n += len(s.shards[i].due)
	}
	return n
}

// Waiting is the number of keys that are waited for.
func (s *Store) Waiting() (n int) {
	for i := range s.shards {
		n += len(s.shards[i].waiters)
	}
	return n
}

// SetFormat makes a record look as if a later version had written it.
func (s *Store) SetFormat(key semel.KeyID, format int) {
	sh := s.shardOf(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.slot(sh.index[key]).format = uint8(format)
}
