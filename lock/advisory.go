package lock

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

// Advisory takes PostgreSQL's advisory lock of this name until tx ends: for what has no row
// of its own. It waits for at most wait: [NoWait] not at all; 0 and [semel.Forever] as long as
// lock_timeout and ctx allow. A [*NotAcquiredError] leaves tx as it was, unless wait was 0.
//
// The lock belongs to the transaction, so a pooler strands nothing, and a holder that dies
// frees it with its connection. All statements under it have to be in tx. Its number is a hash
// of the name: two names in 2^64 share one, and only wait for each other.
func Advisory(ctx context.Context, tx Tx, name string, wait time.Duration) error {
	if err := errors.Join(inTransaction(tx), refuse(name == "", "the lock has no name")); err != nil {
		return err
	}
	if wait < 0 {
		return tryAdvisory(ctx, tx, name)
	}
	return Within(ctx, tx, Postgres, wait, func() error {
		_, err := tx.ExecContext(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", advisoryKey(name)))
		return err
	})
}

// tryAdvisory counts rows, which every driver tells.
func tryAdvisory(ctx context.Context, tx Tx, name string) error {
	n, err := affected(tx.ExecContext(ctx, fmt.Sprintf("SELECT 1 WHERE pg_try_advisory_xact_lock(%d)", advisoryKey(name))))
	if err == nil && n == 0 {
		return &NotAcquiredError{Reason: errTaken}
	}
	return err
}

// advisoryKey is the number of a name: the first 8 bytes of its key.
func advisoryKey(name string) int64 {
	id := semel.KeyOf(semel.Scope{Principal: semel.Global, Operation: "semel/advisory/1"}, name).ID()
	return int64(binary.BigEndian.Uint64(id[:]))
}
