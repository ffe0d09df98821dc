package proxy

import (
	"log/slog"
	"sync"
	"time"

	"github.com/semel-go/semel"
)

// doubtLog passes events on and logs which records are in doubt: one whose run just
// vanished shows only when somebody asks for it. A client that asks again and again
// fills no log: each record is named once a minute.
type doubtLog struct {
	semel.Observer
	log *slog.Logger
	now func() time.Time

	mu    sync.Mutex
	since time.Time // of told
	told  map[semel.KeyID]struct{}
}

const (
	toldFor = time.Minute
	maxTold = 10_000 // then it begins anew, so that memory is bounded
)

func newDoubtLog(o semel.Observer, log *slog.Logger) *doubtLog {
	return &doubtLog{Observer: o, log: log, now: time.Now, told: map[semel.KeyID]struct{}{}}
}

// Observe is [semel.Observer].
func (d *doubtLog) Observe(ev semel.Event) {
	d.Observer.Observe(ev)
	if ev.Kind == semel.EventInDoubt && d.isNews(ev.Key) {
		d.log.Warn("a record is in doubt: its key is answered 409 outcome-unknown until semel keys resolve decides it",
			"record", ev.Key.String(), "operation", ev.Operation, "attempt", ev.Attempt, "fence", int64(ev.Fence))
	}
}

func (d *doubtLog) isNews(key semel.KeyID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := d.now(); now.Sub(d.since) >= toldFor || len(d.told) >= maxTold {
		clear(d.told)
		d.since = now
	}
	_, old := d.told[key]
	d.told[key] = struct{}{}
	return !old
}
