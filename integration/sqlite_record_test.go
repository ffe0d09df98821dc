package integration

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/sqlstore"
	"github.com/semel-go/semel/storetest"
)

// Field fault: an expired row still answers while the purge is behind. And the
// purge does not take the new record away.
func TestSQLiteExpiredRowWhileThePurgeIsBehind(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := openSQLite(t, "", &sqlstore.Options{Now: clock.Now})
	first := claimOf(1)
	old := acquire(t, s, first)
	if _, err := s.Finish(t.Context(), doneOf(first, "old")); err != nil {
		t.Fatal(err)
	}
	clock.Advance(t.Context(), 2*time.Hour)
	second := claimOf(1)
	second.Fingerprint = semel.Fingerprint{9}
	fresh := acquire(t, s, second)
	if fresh.Attempt != 1 || fresh.Fence <= old.Fence {
		t.Errorf("attempt %d, fence %d after %d; want a fresh record with a greater fence", fresh.Attempt, fresh.Fence, old.Fence)
	}
	if res, err := s.Purge(t.Context(), semel.PurgeParams{Limit: 10}); err != nil || res.Purged != 0 {
		t.Errorf("purge: %+v, %v; want nothing", res, err)
	}
	if r := read(t, s, second.Key); r.State != semel.StateRunning {
		t.Errorf("after the purge the record is %v", r.State)
	}
}

// A chunk is bounded whatever its caller asks for, and says what is left.
func TestSQLitePurgeInChunks(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := openSQLite(t, "", &sqlstore.Options{Now: clock.Now})
	if err := errors.Join(claimAll(t.Context(), s, 1200)...); err != nil {
		t.Fatal(err)
	}
	clock.Advance(t.Context(), 3*time.Hour)
	first, err := s.Purge(t.Context(), semel.PurgeParams{Limit: 1 << 30})
	if err != nil || first.Purged != 1000 || !first.More || first.Lag != 2*time.Hour {
		t.Errorf("first chunk: %+v, %v; want 1000, more, due for 2h", first, err)
	}
	second, err := s.Purge(t.Context(), semel.PurgeParams{Limit: 1 << 30})
	if err != nil || second.Purged != 200 || second.More || second.Lag != 0 {
		t.Errorf("second chunk: %+v, %v; want 200 and no more", second, err)
	}
}

// A damaged row is a typed error to every method; the operation is not run again
// and the row is left alone.
func TestSQLiteDamagedRow(t *testing.T) {
	t.Parallel()
	for _, damage := range []string{"token = x'00'", "state = 77", "format = 0", "format = 2"} {
		t.Run(damage, func(t *testing.T) {
			t.Parallel()
			s := openSQLite(t, "", nil)
			p := claimOf(1)
			acquire(t, s, p)
			if _, err := s.DB().ExecContext(t.Context(), "UPDATE semel_record SET "+damage); err != nil {
				t.Fatal(err)
			}
			before := dump(t, s)
			for what, err := range everyMethod(t.Context(), s, p) {
				if _, ok := errors.AsType[*semel.RecordFormatError](err); !ok {
					t.Errorf("%s: %v; want a *semel.RecordFormatError", what, err)
				}
			}
			res, err := s.List(t.Context(), semel.ListParams{Limit: 10})
			if err != nil || len(res.Records) != 1 || res.Records[0].State != semel.StateUnreadable || res.Records[0].Key != p.Key {
				t.Errorf("listed as %+v, %v; want its key, unreadable", res.Records, err)
			}
			if after := dump(t, s); after != before {
				t.Errorf("the row was changed from\n%s to\n%s", before, after)
			}
		})
	}
}

// everyMethod calls each method on the record of p, as its owner.
func everyMethod(ctx context.Context, s *sqlstore.Store, p semel.ClaimParams) map[string]error {
	errs := make(map[string]error)
	_, errs["claim"] = s.Claim(ctx, p)
	_, errs["renew"] = s.Renew(ctx, semel.RenewParams{Key: p.Key, Token: p.Token, Lease: time.Minute})
	_, errs["finish"] = s.Finish(ctx, doneOf(p, "x"))
	_, errs["read"] = s.Read(ctx, semel.ReadParams{Key: p.Key})
	_, errs["resolve"] = s.Resolve(ctx, semel.ResolveParams{Key: p.Key, Token: semel.NewToken(), Resolution: semel.ResolveDelete})
	_, errs["checkpoint"] = s.Checkpoint(ctx, semel.CheckpointParams{Key: p.Key, Token: p.Token})
	return errs
}

// dump is all that the table holds.
func dump(t *testing.T, s *sqlstore.Store) (all string) {
	t.Helper()
	rows, err := s.DB().QueryContext(t.Context(), "SELECT * FROM semel_record")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, places := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			t.Fatal(err)
		}
		all += fmt.Sprintln(values...)
	}
	return all
}

// I3: the fence of a key grows over a purge, also when the clock was set back.
func TestSQLiteFenceGrowsOverPurgeAndClockStep(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := openSQLite(t, "", &sqlstore.Options{Now: clock.Now})
	p := claimOf(1)
	first := acquire(t, s, p)
	clock.Advance(t.Context(), 3*time.Hour)
	if res, err := s.Purge(t.Context(), semel.PurgeParams{Limit: 10}); err != nil || res.Purged != 1 {
		t.Fatal(res, err)
	}
	clock.Advance(t.Context(), -4*time.Hour)
	if again := acquire(t, s, p); again.Fence <= first.Fence {
		t.Errorf("the fence fell from %d to %d", first.Fence, again.Fence)
	}
}
