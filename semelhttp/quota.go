package semelhttp

import (
	"context"
	"hash/maphash"
	"sync"
	"time"

	"github.com/semel-go/semel"
)

// Quota bounds what one principal may store. A request with a new key over it is
// answered 503 overloaded; one with a key that has a record is not: a replay costs
// nothing.
//
// Each process counts for itself what it claimed since it started, so the bound of a
// service is at most the quota times its processes. It remembers the last 16,384
// principals or more; one that was not seen for longer begins anew.
type Quota struct {
	// NewKeysPerMinute is how many new keys a principal may use at once, and how many
	// more every minute. Default 0: no bound.
	NewKeysPerMinute int
	// Records is how many records a principal may have that have not expired. An expired
	// one is forgotten within a sixteenth of the retention. Default 0: no bound.
	Records int
}

func (q *Quota) validate() error {
	if q == nil {
		return nil
	}
	return refuse(q.NewKeysPerMinute < 0 || q.Records < 0 || *q == (Quota{}), "Quota: NewKeysPerMinute %d and Records %d bound nothing; set one of them above 0, or leave Quota out", q.NewKeysPerMinute, q.Records)
}

// maxScopes is how many principals fill one generation.
const maxScopes = 16 << 10

// quotas counts for all principals. When a generation is full it becomes the old
// one, and the old one is forgotten: so memory has a bound, and an active principal
// is not forgotten.
type quotas struct {
	limit Quota
	now   func() time.Time
	seed  maphash.Seed

	mu       sync.Mutex
	young    map[uint64]*usage
	old      map[uint64]*usage
	capacity int
}

func newQuotas(q *Quota, clock semel.Clock) *quotas {
	now := time.Now
	if clock != nil {
		now = clock.Now
	}
	return &quotas{limit: *q, now: now, seed: maphash.MakeSeed(), young: make(map[uint64]*usage), capacity: maxScopes}
}

// usage is what one principal has used.
type usage struct {
	tokens  float64 // new keys that are free
	at      time.Time
	records expiring
}

// take counts a new key of a principal whose record is kept for a time. ok is false
// where there is none left; wait is when there may be one.
func (q *quotas) take(principal string, kept time.Duration) (counted ticket, wait time.Duration, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	u := q.usage(principal, now)
	if perMinute := q.limit.NewKeysPerMinute; perMinute > 0 {
		u.refill(now, perMinute)
		if u.tokens < 1 {
			return ticket{}, time.Duration((1 - u.tokens) * float64(time.Minute) / float64(perMinute)), false
		}
		u.tokens--
	}
	if q.limit.Records > 0 {
		if u.records.count(now) >= q.limit.Records {
			u.tokens++
			return ticket{}, u.records.next(now), false
		}
		counted.until = u.records.add(now, kept)
	}
	return counted, 0, true
}

// ticket is what giveBack needs to know of a counted key.
type ticket struct{ until time.Time }

// giveBack uncounts what turned out to be no new key.
func (q *quotas) giveBack(principal string, counted ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.usage(principal, q.now())
	u.tokens++ // one too many is cut when it is refilled
	u.records.remove(counted.until)
}

// usage finds a principal's usage, and makes it young.
func (q *quotas) usage(principal string, now time.Time) *usage {
	id := maphash.String(q.seed, principal)
	if u := q.young[id]; u != nil {
		return u
	}
	if len(q.young) >= q.capacity {
		q.young, q.old = make(map[uint64]*usage), q.young
	}
	u := q.old[id]
	if u == nil {
		u = &usage{tokens: float64(q.limit.NewKeysPerMinute), at: now}
	}
	q.young[id] = u
	return u
}

func (u *usage) refill(now time.Time, perMinute int) {
	if passed := now.Sub(u.at); passed > 0 {
		u.tokens = min(u.tokens+passed.Minutes()*float64(perMinute), float64(perMinute))
		u.at = now
	}
}

// overQuota refuses a new key.
type overQuota struct{ wait time.Duration }

func (e *overQuota) Error() string {
	return "semelhttp: the principal has used up its new keys"
}

func (e *overQuota) problem() Problem {
	p := NewProblem(CodeOverloaded)
	p.Detail = "This caller has used as many new keys as it may for now. Nothing was executed; requests that repeat an earlier key are answered."
	p.RetryAfter = max(e.wait, time.Second)
	return p
}

// claim claims for a principal, within its quota. What it counted before and is no
// new key it gives back, so that no burst gets past it. Only a principal over its
// quota costs another call of the store: one that tells whether the key has a record.
func (m *middleware) claim(ctx context.Context, principal string, op semel.Op) (*semel.Run, *semel.Record, error) {
	if m.quotas == nil {
		return m.engine.Begin(ctx, op)
	}
	counted, wait, ok := m.quotas.take(principal, op.Retention)
	if !ok && !m.known(ctx, op.Key) {
		return nil, nil, &overQuota{wait}
	}
	run, rec, err := m.engine.Begin(ctx, op)
	if ok && (run == nil || run.Attempt() > 1) {
		m.quotas.giveBack(principal, counted)
	}
	return run, rec, err
}

// knownTimeout bounds the question whether a key has a record.
const knownTimeout = 2 * time.Second

// known reports whether a key may have a record. A store that does not answer is
// left to the claim.
func (m *middleware) known(ctx context.Context, key semel.Key) bool {
	ctx, cancel := context.WithTimeout(ctx, knownTimeout)
	defer cancel()
	rec, err := m.settings.Store().Read(ctx, semel.ReadParams{Key: key.ID()})
	return err != nil || rec.State != semel.StateNone
}
