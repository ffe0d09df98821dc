package keys

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"time"

	"github.com/semel-go/semel"
)

// Decision is what an operator decides about a record.
type Decision struct {
	Resolution semel.Resolution
	Result     semel.StoredResult // for ResolveDone
	Retention  time.Duration      // of the resolved record
	Reason     string             // logged with who decided
}

// Describe says in one sentence what the decision will do to rec.
func (d Decision) Describe(rec semel.Record) string {
	which := fmt.Sprintf("record %s (%s, attempt %d, state %s)", rec.Key, rec.Operation, rec.Attempt, rec.State)
	switch d.Resolution {
	case semel.ResolveDone:
		return which + " becomes done: every retry will be answered with the given response, and the operation will not run again."
	case semel.ResolveDidNotHappen:
		return which + " is released: the next retry will run the operation again. If it did happen, it will happen twice."
	}
	return which + " is deleted: the next request with this key runs the operation as new, whatever its content. If it did happen, it will happen twice."
}

// Check refuses what the store would refuse of rec as it was read, before anybody
// is asked.
func (d Decision) Check(rec semel.Record) error {
	running := rec.State == semel.StateRunning && rec.LeaseLeft > 0
	if running || rec.State == semel.StateDone && d.Resolution != semel.ResolveDelete {
		return refused(rec)
	}
	return nil
}

// Apply carries the decision out if nobody has changed the record since rec was
// read, logs who decided and why, and returns the record as it is then.
func (d Decision) Apply(ctx context.Context, store semel.Store, rec semel.Record, log *slog.Logger) (semel.Record, error) {
	res, err := store.Resolve(ctx, semel.ResolveParams{
		Key:        rec.Key,
		Token:      semel.NewToken(),
		Fence:      rec.Fence,
		Resolution: d.Resolution,
		Result:     d.Result,
		Retention:  d.Retention,
	})
	if err != nil {
		return semel.Record{}, fmt.Errorf("the decision may not have been carried out; read the record again: %w", err)
	}
	if !res.Resolved {
		return res.Record, refused(res.Record)
	}
	log.Info("an operator decided a record", "record", rec.Key.String(), "operation", rec.Operation,
		"was", rec.State.String(), "decision", d.Resolution.String(), "by", Who(), "reason", d.Reason)
	return res.Record, nil
}

// Decided says in one sentence what a decided record is now.
func Decided(id semel.KeyID, now semel.Record) string {
	switch now.State {
	case semel.StateNone:
		return fmt.Sprintf("record %s is deleted", id)
	case semel.StateDone:
		return fmt.Sprintf("record %s is settled: retries get the given response, %s", id, until(now))
	}
	return fmt.Sprintf("record %s is released: the next retry runs the operation", id)
}

func until(rec semel.Record) string {
	if rec.ExpiresIn == semel.Forever {
		return "for ever"
	}
	return "for " + expiry(rec)
}

func refused(now semel.Record) error {
	switch now.State {
	case semel.StateNone:
		return fmt.Errorf("nothing was changed: the record is gone")
	case semel.StateRunning:
		return fmt.Errorf("nothing was changed: the operation is running (lease %v left); wait until it ends or lapses", now.LeaseLeft.Round(time.Millisecond))
	case semel.StateDone:
		return fmt.Errorf("nothing was changed: the record is done; read it with semel keys get")
	}
	return fmt.Errorf("nothing was changed: somebody else changed the record meanwhile; it is %s now; read it again", now.State)
}

// Who is the operator, as user@host.
func Who() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return name + "@" + host
}
