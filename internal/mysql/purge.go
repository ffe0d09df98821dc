package mysql

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/semel-go/semel"
)

// maxPurge bounds a chunk: some 50 ms for records of ordinary size.
const maxPurge = 1000

// Purge is [semel.Purger]. A chunk has 1,000 records at most, whatever the limit.
// Records that somebody else holds are left for the next one.
func (s *Store) Purge(ctx context.Context, p semel.PurgeParams) (res semel.PurgeResult, err error) {
	if err := s.gate.enter(); err != nil {
		return res, err
	}
	defer s.gate.leave()
	if err := ended(ctx); err != nil {
		return res, err
	}
	ctx, cancel := s.patience.bound(ctx)
	defer cancel()
	for range attempts {
		res, err = s.purge(ctx, min(max(p.Limit, 1), maxPurge))
		if err == nil || ClassOf(err) != Conflict {
			break
		}
	}
	return res, err
}

func (s *Store) purge(ctx context.Context, limit int) (res semel.PurgeResult, err error) {
	if res.Purged, err = s.purgeChunk(ctx, limit); err != nil {
		return res, err
	}
	var oldest, now int64
	err = s.prepared[stmtPurgeLeft].QueryRowContext(ctx).Scan(&oldest, &now)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return res, nil
	case err != nil:
		return res, unwritten(ctx, err)
	}
	res.More = true
	if oldest > 0 { // 0: deleted, not expired
		res.Lag = time.Duration(now-oldest) * time.Microsecond
	}
	return res, nil
}

// purgeChunk deletes in one transaction. READ COMMITTED locks no gaps, in which others
// insert. It waits for nobody but another purge: its records are locked from the
// start, without those that others hold.
func (s *Store) purgeChunk(ctx context.Context, limit int) (int, error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return 0, unread(ctx, err)
	}
	n, highest, err := s.deleteDue(ctx, tx, limit)
	if err != nil || n == 0 {
		return 0, errors.Join(err, undo(tx))
	}
	if err := commit(ctx, tx); err != nil {
		return 0, unwritten(ctx, err)
	}
	s.floor.raise(highest, time.Time{})
	return n, nil
}

// commit is left when its time is up: drivers bound it by nothing, and on a connection
// that hangs it never comes back.
func commit(ctx context.Context, tx *sql.Tx) error {
	answer := make(chan error, 1)
	go func() { answer <- tx.Commit() }()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// undo rolls a transaction back; one that is over already is no failure.
func undo(tx *sql.Tx) error {
	if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) && ClassOf(err) != Unsure {
		return err
	}
	return nil
}

// deleteDue deletes expired records, once their highest fence is kept.
func (s *Store) deleteDue(ctx context.Context, tx *sql.Tx, limit int) (n int, highest int64, err error) {
	keys, highest, err := s.lockDue(ctx, tx, limit)
	if err != nil || len(keys) == 0 {
		return 0, 0, err
	}
	for _, sql := range []string{s.dialect.floorText(highest), s.dialect.deleteText(keys)} {
		if _, err := tx.ExecContext(ctx, sql); err != nil {
			return 0, 0, unread(ctx, err) // nothing is committed
		}
	}
	return len(keys), highest, nil
}

// lockDue locks the records that are longest due, but for those that others hold.
func (s *Store) lockDue(ctx context.Context, tx *sql.Tx, limit int) (keys [][]byte, highest int64, err error) {
	rows, err := tx.QueryContext(ctx, s.dialect.dueText(limit))
	if err != nil {
		return nil, 0, unread(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var key []byte
		var fence int64
		if err := rows.Scan(&key, &fence); err != nil {
			return nil, 0, unread(ctx, err)
		}
		keys, highest = append(keys, key), max(highest, fence)
	}
	if err := rows.Err(); err != nil {
		return nil, 0, unread(ctx, err)
	}
	return keys, highest, nil
}

func (d dialect) dueText(limit int) string {
	var l literal
	l.text(d.expand("SELECT r.key, r.fence" + dueWhere + " LIMIT "))
	l.number(int64(limit))
	l.text(" FOR UPDATE SKIP LOCKED")
	return string(l)
}

func (d dialect) floorText(fence int64) string {
	var l literal
	l.text(d.expand("{bounded} UPDATE semel_floor SET fence = GREATEST(fence, "))
	l.number(fence)
	l.text(") WHERE id = 1")
	return string(l)
}

func (d dialect) deleteText(keys [][]byte) string {
	l := make(literal, 0, 128+36*len(keys))
	l.text(d.expand("DELETE FROM semel_record WHERE `key` IN ("))
	l.keys(len(keys), func(i int) []byte { return keys[i] })
	l.text(")")
	return string(l)
}
