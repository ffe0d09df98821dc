package memstore

import (
	"context"

	"github.com/semel-go/semel"
)

// Checkpoint is [semel.Checkpointer].
func (s *Store) Checkpoint(ctx context.Context, p semel.CheckpointParams) (semel.CheckpointResult, error) {
	_, _, err := s.step(ctx, p.Key, func(r record, now instant) (record, error) { return checkpoint(r, now, &p) })
	return semel.CheckpointResult{}, err
}
