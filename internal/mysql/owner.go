package mysql

import (
	"bytes"
	"context"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// Renew is [semel.Store.Renew].
func (s *Store) Renew(ctx context.Context, p semel.RenewParams) (res semel.RenewResult, err error) {
	err = s.alone(ctx, p.Key, func(ctx context.Context, r runner) (bool, error) {
		sent := time.Now()
		d, err := r.exec(ctx, stmtRenew, p.Key[:], p.Token[:], sqlrecord.After(0, p.Lease), int64(p.Policy))
		if err != nil {
			return false, unwritten(ctx, err)
		}
		if d.rows > 0 {
			res.LeaseLeft = p.Lease - time.Since(sent)
			return true, nil
		}
		return r.unchanged(ctx, p.Key, p.Token, nil)
	})
	return res, err
}

// Checkpoint is [semel.Checkpointer].
func (s *Store) Checkpoint(ctx context.Context, p semel.CheckpointParams) (semel.CheckpointResult, error) {
	return semel.CheckpointResult{}, s.alone(ctx, p.Key, func(ctx context.Context, r runner) (bool, error) {
		d, err := r.exec(ctx, stmtCheckpoint, p.Key[:], p.Token[:], p.Data)
		if err != nil {
			return false, unwritten(ctx, err)
		}
		if d.rows > 0 {
			return true, nil
		}
		return r.unchanged(ctx, p.Key, p.Token, func(row *sqlrecord.Row) bool { return bytes.Equal(row.Checkpoint, p.Data) })
	})
}

// unchanged answers for a record that an owner's statement did not change: it is not
// the owner's running one, or it is as it was to be already, or somebody else
// changed it in between.
func (r runner) unchanged(ctx context.Context, key semel.KeyID, token semel.Token, asMeant func(*sqlrecord.Row) bool) (bool, error) {
	row, now, err := r.load(ctx, key[:])
	if err != nil {
		return false, unread(ctx, err)
	}
	if row, err = row.Seen(now); err != nil {
		return false, err
	}
	if row == nil || !row.OwnedBy(token) || row.State != semel.StateRunning {
		return true, semel.ErrFenced
	}
	return asMeant != nil && asMeant(row), nil
}
