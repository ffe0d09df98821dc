package upgrade

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/semel-go/semel"
)

// Every record of every released format reads as it was written.
func TestRecordsReadAsWritten(t *testing.T) {
	t.Parallel()
	fixtures(t, func(t *testing.T, dir string) {
		if got, want := string(views(t, openFixture(t, dir))), load(t, filepath.Join(dir, recordsFile)); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// A claim on an old record is judged by the contract's table, and another
// fingerprint is refused first.
func TestClaimsOnOldRecords(t *testing.T) {
	t.Parallel()
	fixtures(t, func(t *testing.T, dir string) { claimAll(t, openFixture(t, dir)) })
}

func claimAll(t *testing.T, store semel.Store) {
	t.Helper()
	for _, s := range situations {
		p := newWriter(t, store, s.name).ClaimParams
		p.Token, p.Lease = semel.NewToken(), time.Minute
		if gone := s.outcome == semel.ClaimAcquired && s.attempt == 1 && s.name != "resolved as not happened"; !gone {
			other := p
			other.Fingerprint = fingerprintOf("another request")
			if res, err := store.Claim(t.Context(), other); err != nil || res.Outcome != semel.ClaimMismatch {
				t.Errorf("%s: another request: %v, %v", s.name, res.Outcome, err)
			}
		}
		res, err := store.Claim(t.Context(), p)
		if err != nil || res.Outcome != s.outcome || s.attempt != 0 && res.Record.Attempt != s.attempt {
			t.Errorf("%s: %v, attempt %d, %v; want %v, %d", s.name, res.Outcome, res.Record.Attempt, err, s.outcome, s.attempt)
		}
	}
}

// An owner whose run began before the upgrade is still the owner, and whoever is
// not gets ErrFenced.
func TestOwnersOfOldRecords(t *testing.T) {
	t.Parallel()
	fixtures(t, func(t *testing.T, dir string) { finishAll(t, openFixture(t, dir)) })
}

func finishAll(t *testing.T, store semel.Store) {
	t.Helper()
	for _, s := range situations {
		w := newWriter(t, store, s.name)
		err := w.finish(semel.FinishParams{State: semel.StateDone, Result: semel.StoredResult{Kind: semel.ResultValue, Data: []byte("late")}})
		if s.owner && err != nil || !s.owner && s.name != "mark" && !errors.Is(err, semel.ErrFenced) {
			t.Errorf("%s: %v; the owner may finish: %v", s.name, err, s.owner)
		}
	}
}

// Fences go on growing over an upgrade, also over expiry and deletion.
func TestFencesOfOldRecordsGrow(t *testing.T) {
	t.Parallel()
	fixtures(t, func(t *testing.T, dir string) {
		store := openFixture(t, dir)
		var newest semel.Fence
		if err := store.DB().QueryRowContext(t.Context(), "SELECT max(fence) FROM semel_record").Scan(&newest); err != nil {
			t.Fatal(err)
		}
		for _, s := range situations {
			p := newWriter(t, store, s.name).ClaimParams
			p.Token, p.Lease = semel.NewToken(), time.Minute
			if res, err := store.Claim(t.Context(), p); s.outcome == semel.ClaimAcquired && (err != nil || res.Record.Fence <= newest) {
				t.Errorf("%s: fence %d, %v; want more than %d", s.name, res.Record.Fence, err, newest)
			}
		}
	})
}

// Values, refusals and marks are replayed exactly; nothing runs.
func TestCallsAreReplayed(t *testing.T) {
	t.Parallel()
	fixtures(t, func(t *testing.T, dir string) { call(t, openFixture(t, dir), false) })
}

// Answers over HTTP are replayed byte for byte, and the same key with another body
// is refused.
func TestAnswersAreReplayed(t *testing.T) {
	t.Parallel()
	fixtures(t, func(t *testing.T, dir string) {
		shop := openShop(t, engineOn(t, openFixture(t, dir), nil))
		for _, name := range requests {
			if got, want := shop.send(t, name, "the same body"), load(t, filepath.Join(dir, name+".http")); got != want {
				t.Errorf("%s: got\n%q\nwant\n%q", name, got, want)
			}
			if got := shop.send(t, name, "another body"); status(got) != "422 Unprocessable Entity" {
				t.Errorf("%s with another body: %s", name, got)
			}
		}
		if runs := shop.runs.Load(); runs != 0 {
			t.Errorf("the shop ran %d times", runs)
		}
	})
}
