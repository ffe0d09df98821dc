package inbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/semel-go/semel"
)

func TestMark(t *testing.T) {
	t.Parallel()
	everywhere(t, []rule{
		{name: "the first is told so, and nobody else", run: marks, free: true},
		{name: "a mark goes with its transaction", run: markRolledBack, free: true},
		{name: "another one under way leaves the transaction as it is", run: markWaits, free: true},
		{name: "another input is refused", run: markMismatch, free: true},
		{name: "settings of the transaction are left alone", run: markLeavesSettings, free: true},
		{name: "repeatable read", run: markRepeatableRead, free: true},
		{name: "within the work of another operation", run: markWithinWork, free: true},
	})
}

// marked marks and withdraws, in a transaction of the caller.
func marked(t *testing.T, b box, op semel.Op, iso sql.IsolationLevel, end error) (first bool, err error) {
	t.Helper()
	err = b.transact(t.Context(), iso, func(tx execer) (err error) {
		if first, err = b.mark(t.Context(), tx, op); err != nil || !first {
			return err
		}
		_, err = withdraw(t.Context(), tx, "marked", 1)
		return errors.Join(err, end)
	})
	return first, err
}

func marks(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	for i := range 3 {
		if first, err := marked(t, b, opOf("m"), sql.LevelDefault, nil); err != nil || first != (i == 0) {
			t.Errorf("call %d: first %v, %v", i+1, first, err)
		}
	}
	if n := f.times(t, "marked"); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
	_, err := b.do(t.Context(), opOf("m"), withdrawing("m", 1))
	if _, ok := errors.AsType[*semel.ResultUnavailableError](err); !ok {
		t.Errorf("Do after a mark: %v; want done without a result", err)
	}
	if _, err := b.do(t.Context(), opOf("d"), withdrawing("d", 1)); err != nil {
		t.Error(err)
	}
	if first, err := marked(t, b, opOf("d"), sql.LevelDefault, nil); err != nil || first {
		t.Errorf("a mark after Do: first %v, %v", first, err)
	}
}

func markRolledBack(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	no := errors.New("no")
	if first, err := marked(t, b, opOf("m"), sql.LevelDefault, no); !first || !errors.Is(err, no) {
		t.Errorf("first %v, %v", first, err)
	}
	if first, err := marked(t, b, opOf("m"), sql.LevelDefault, nil); !first || err != nil || f.times(t, "marked") != 1 {
		t.Errorf("after a rollback: first %v, %v, %d effects", first, err, f.times(t, "marked"))
	}
}

func markWaits(t *testing.T, f *fixture) {
	if f.world.oneWriter {
		return // a transaction of the caller that writes has the file for itself
	}
	b := f.box(t, nil)
	h := hold(t, b, opOf("m"), "m")
	op := opOf("m")
	op.Wait = -1
	err := b.transact(t.Context(), sql.LevelDefault, func(tx execer) error {
		_, err := b.mark(t.Context(), tx, op)
		wantInProgress(t, err, nil)
		return tx.exec(t.Context(), "INSERT INTO withdrawal (op, amount) VALUES ('besides', 0)")
	})
	if err != nil || f.times(t, "besides") != 1 {
		t.Errorf("the transaction after it: %v, %d rows; want it as usable as before", err, f.times(t, "besides"))
	}
	if err := h.end(nil); err != nil {
		t.Error(err)
	}
}

func markMismatch(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	if _, err := marked(t, b, opOf("m"), sql.LevelDefault, nil); err != nil {
		t.Fatal(err)
	}
	other := opOf("m")
	other.Input = semel.InputString("another")
	err := b.transact(t.Context(), sql.LevelDefault, func(tx execer) error {
		_, err := b.mark(t.Context(), tx, other)
		if _, ok := errors.AsType[*semel.MismatchError](err); !ok {
			t.Errorf("error %v; want a mismatch", err)
		}
		return tx.exec(t.Context(), "INSERT INTO withdrawal (op, amount) VALUES ('besides', 0)")
	})
	if err != nil || f.times(t, "besides") != 1 {
		t.Errorf("the transaction after it: %v", err)
	}
	other.Former = []semel.Input{semel.InputString("m")}
	if first, err := marked(t, b, other, sql.LevelDefault, nil); err != nil || first {
		t.Errorf("known by its former input: first %v, %v", first, err)
	}
}

// The savepoint of a mark is not that of the work around it, which has still to be
// undone.
func markWithinWork(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	refusal := semel.Final(errors.New("no"))
	_, err := b.do(t.Context(), opOf("outer"), func(ctx context.Context, tx execer) (receipt, error) {
		if first, err := b.mark(ctx, tx, opOf("inner")); err != nil || !first {
			return receipt{}, fmt.Errorf("marked %v, %w", first, err)
		}
		_, err := withdraw(ctx, tx, "outer", 1)
		return receipt{}, errors.Join(err, refusal)
	})
	if _, ok := errors.AsType[*semel.FinalError](err); !ok || f.times(t, "outer") != 0 {
		t.Errorf("error %v, %d effects; want the final one, and none", err, f.times(t, "outer"))
	}
	if rec := f.read(t, opOf("outer")); rec.Result.Kind != semel.ResultFinal {
		t.Errorf("the record: %v, result kind %d; want the failure recorded", rec.State, rec.Result.Kind)
	}
	if rec := f.read(t, opOf("inner")); rec.State != semel.StateNone {
		t.Errorf("the record of the mark: %v; want it undone with the work", rec.State)
	}
}

// A claim bounds its wait by lock_timeout, which is the caller's again when work
// begins, and after a mark.
func markLeavesSettings(t *testing.T, f *fixture) {
	if !f.world.aborts {
		return
	}
	b := f.box(t, nil)
	setting := func(ctx context.Context, tx execer) {
		t.Helper()
		n, err := tx.number(ctx, "SELECT CASE current_setting('lock_timeout') WHEN '1234ms' THEN 1 ELSE 0 END")
		if err != nil || n != 1 {
			t.Errorf("lock_timeout is not the caller's: %v", err)
		}
	}
	err := b.transact(t.Context(), sql.LevelDefault, func(tx execer) error {
		if err := tx.exec(t.Context(), "SET LOCAL lock_timeout = '1234ms'"); err != nil {
			return err
		}
		for _, name := range []string{"a", "b", "a"} {
			if _, err := b.mark(t.Context(), tx, opOf(name)); err != nil {
				return err
			}
			setting(t.Context(), tx)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for _, name := range []string{"new", "released"} {
		if name == "released" {
			p := claimed(t, f, opOf(name), semel.AtLeastOnce)
			if _, err := f.store.Finish(t.Context(), semel.FinishParams{Key: p.Key, Token: p.Token, State: semel.StateReleased, Retention: p.Retention}); err != nil {
				t.Fatal(err)
			}
		}
		_, err := b.do(t.Context(), opOf(name), func(ctx context.Context, tx execer) (receipt, error) {
			n, err := tx.number(ctx, "SELECT CASE current_setting('lock_timeout') WHEN '0' THEN 1 ELSE 0 END")
			if n != 1 {
				t.Errorf("%s: lock_timeout is not the database's: %v", name, err)
			}
			return receipt{}, err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// A snapshot that is older than the duplicate's commit: PostgreSQL cannot tell, and
// says so; MariaDB tells.
func markRepeatableRead(t *testing.T, f *fixture) {
	if f.world.oneWriter {
		return
	}
	b := f.box(t, nil)
	err := b.transact(t.Context(), sql.LevelRepeatableRead, func(tx execer) error {
		if _, err := tx.number(t.Context(), "SELECT balance FROM account WHERE id = 1"); err != nil {
			return err
		}
		if _, err := marked(t, b, opOf("m"), sql.LevelDefault, nil); err != nil {
			return err
		}
		first, err := b.mark(t.Context(), tx, opOf("m"))
		if first || (err != nil) != f.world.aborts {
			t.Errorf("first %v, %v; want no, or a serialization failure on PostgreSQL", first, err)
		}
		_, err = tx.number(t.Context(), "SELECT balance FROM account WHERE id = 1")
		return err
	})
	if err != nil {
		t.Errorf("the transaction after it: %v; want it as usable as before", err)
	}
	if first, err := marked(t, b, opOf("m"), sql.LevelRepeatableRead, nil); first || err != nil {
		t.Errorf("a fresh transaction: first %v, %v; want no", first, err)
	}
}
