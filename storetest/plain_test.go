package storetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/storetest"
)

// plainStore is a second implementation of the contract, written from its text
// and from nothing of memstore's. Without a flaw the suite must accept it; with
// one it must not. It also keeps memstore honest: both are compared by fuzzing.
type plainStore struct {
	flaw  flaw
	clock func() time.Time
	*plainRecords
}

// plainRecords is what several handles on one store share.
type plainRecords struct {
	mu        sync.Mutex
	entries   map[semel.KeyID]*entry
	forgotten semel.Fence // highest fence of deleted records
	writes    atomic.Int64
}

type entry struct {
	rec     semel.Record // LeaseLeft and ExpiresIn are not kept
	token   semel.Token
	lease   time.Time
	expires time.Time // zero: never
	format  int
}

func newPlain(f flaw) func(context.Context) (*storetest.Subject, error) {
	return func(context.Context) (*storetest.Subject, error) {
		clock := storetest.NewClock()
		s := &plainStore{flaw: f, clock: clock.Now, plainRecords: &plainRecords{entries: make(map[semel.KeyID]*entry)}}
		return &storetest.Subject{
			Store:   s,
			Advance: clock.Advance,
			Reopen: func(context.Context) (semel.Store, error) {
				return &plainStore{flaw: f, clock: s.clock, plainRecords: s.plainRecords}, nil
			},
			Skewed: func(_ context.Context, d time.Duration) (semel.Store, error) {
				if f != callersClock {
					d = 0
				}
				return &plainStore{flaw: f, clock: func() time.Time { return clock.Now().Add(d) }, plainRecords: s.plainRecords}, nil
			},
			SetFormat: s.setFormat,
		}, nil
	}
}

func (s *plainStore) setFormat(_ context.Context, key semel.KeyID, format int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[s.id(key)]
	if e == nil {
		return errors.New("no record")
	}
	e.format = format
	return nil
}

// pause opens the gap of a store that reads, judges, and then writes: for a while,
// or until somebody else has written.
func (s *plainStore) pause() {
	s.mu.Unlock()
	writes, began := s.writes.Load(), time.Now()
	for s.writes.Load() == writes && time.Since(began) < 3*time.Millisecond {
		runtime.Gosched()
	}
	s.mu.Lock()
}

func (s *plainStore) id(key semel.KeyID) semel.KeyID {
	if s.flaw == keysLowered {
		copy(key[:], bytes.ToLower(key[:]))
	}
	return key
}

// find returns the entry of a key, nil if there is none or it has expired.
func (s *plainStore) find(ctx context.Context, key semel.KeyID) (*entry, time.Time, error) {
	now := s.clock()
	if err := ctx.Err(); err != nil && s.flaw != contextIgnored {
		if s.flaw == contextBare {
			return nil, now, err
		}
		return nil, now, fmt.Errorf("%w: %w", semel.ErrStoreUnavailable, err)
	}
	e := s.entries[s.id(key)]
	switch {
	case e == nil:
		return nil, now, nil
	case e.format > semel.RecordFormatMax && s.flaw != formatIgnored:
		return nil, now, &semel.RecordFormatError{Format: e.format}
	case s.expired(e, now):
		return nil, now, nil
	}
	return e, now, nil
}

func (s *plainStore) expired(e *entry, now time.Time) bool {
	if e.expires.IsZero() || now.Before(e.expires) || s.flaw == expiryIgnored {
		return false
	}
	switch e.rec.State {
	case semel.StateInDoubt:
		return s.flaw == doubtExpires
	case semel.StateRunning:
		return e.lapsed(now) && e.rec.Policy == semel.AtLeastOnce || s.flaw == leaseExpires
	}
	return true
}

func (e *entry) lapsed(now time.Time) bool {
	return e.rec.State == semel.StateRunning && !now.Before(e.lease)
}

// seen is the record as a caller sees it.
func (e *entry) seen(now time.Time) semel.Record {
	r := e.rec
	r.ExpiresIn = semel.Forever
	if !e.expires.IsZero() {
		r.ExpiresIn = e.expires.Sub(now)
	}
	if r.State == semel.StateRunning {
		r.LeaseLeft = e.lease.Sub(now)
	}
	if e.lapsed(now) && r.Policy == semel.AtMostOnce {
		r.LeaseLeft = 0
		r.State = semel.StateInDoubt
		if r.Cause == semel.CauseNone {
			r.Cause, r.Since = semel.CauseLapse, e.lease
		}
	}
	if r.State == semel.StateInDoubt {
		r.ExpiresIn = semel.Forever
	}
	return r
}

func (s *plainStore) fenceAfter(previous semel.Fence, now time.Time) semel.Fence {
	if s.flaw == fenceCounts {
		return previous + 1
	}
	return max(previous+1, semel.Fence(now.UnixMicro()))
}

func (s *plainStore) expiry(now time.Time, retention time.Duration) time.Time {
	if retention == semel.Forever && s.flaw != foreverOverflows {
		return time.Time{}
	}
	return now.Add(retention)
}

// remove forgets a record but not that its fence was used.
func (s *plainStore) remove(key semel.KeyID) {
	if e := s.entries[s.id(key)]; e != nil && s.flaw != fenceRestarts && s.flaw != fenceCounts {
		s.forgotten = max(s.forgotten, e.rec.Fence)
		if s.flaw == fenceOfLastDeleted {
			s.forgotten = e.rec.Fence
		}
	}
	delete(s.entries, s.id(key))
}

func (s *plainStore) Read(ctx context.Context, p semel.ReadParams) (semel.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, now, err := s.find(ctx, p.Key)
	if err != nil || e == nil {
		return semel.Record{}, err
	}
	return e.seen(now), nil
}

func (s *plainStore) Guarantees(context.Context, semel.GuaranteesParams) (semel.Guarantees, error) {
	return semel.Guarantees{Store: "plain", SingleRegister: semel.Yes}, nil
}

func (s *plainStore) Checkpoint(ctx context.Context, p semel.CheckpointParams) (semel.CheckpointResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, _, err := s.find(ctx, p.Key)
	if err != nil {
		return semel.CheckpointResult{}, err
	}
	if e == nil || e.rec.State != semel.StateRunning || e.token != p.Token && s.flaw != checkpointOfAnyone {
		return semel.CheckpointResult{}, semel.ErrFenced
	}
	e.rec.Checkpoint = bytes.Clone(p.Data)
	return semel.CheckpointResult{}, nil
}

func (s *plainStore) Purge(_ context.Context, p semel.PurgeParams) (res semel.PurgeResult, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	due := slices.DeleteFunc(slices.Collect(maps.Keys(s.entries)), func(key semel.KeyID) bool { return !s.purgeable(s.entries[key], now) })
	if s.flaw == purgeReadsThenDeletes {
		s.pause()
	}
	for _, key := range due {
		e := s.entries[key]
		if e == nil {
			continue
		}
		if res.Purged < p.Limit || s.flaw == purgeUnbounded {
			s.remove(key)
			res.Purged++
			continue
		}
		res.More = true
		res.Lag = max(res.Lag, now.Sub(e.expires))
	}
	return res, nil
}

func (s *plainStore) purgeable(e *entry, now time.Time) bool {
	if s.flaw == purgeTakesLeases {
		return !e.expires.IsZero() && !now.Before(e.expires)
	}
	return s.expired(e, now)
}

func (s *plainStore) List(_ context.Context, p semel.ListParams) (res semel.ListResult, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	if _, err := semel.ParseKeyID(p.Cursor); p.Cursor != "" && err != nil {
		return res, err
	}
	keys := slices.SortedFunc(maps.Keys(s.entries), func(a, b semel.KeyID) int { return bytes.Compare(a[:], b[:]) })
	for _, key := range keys {
		e := s.entries[key]
		r := e.seen(now)
		r.Result.Data = nil
		state := r.State
		if s.flaw == listStored {
			state = e.rec.State
		}
		skipped := key.String() <= p.Cursor || s.expired(e, now) ||
			p.State != semel.StateNone && p.State != state || p.ScopeID != nil && *p.ScopeID != r.ScopeID
		switch {
		case skipped:
		case len(res.Records) == p.Limit:
			res.Next = res.Records[p.Limit-1].Key.String()
			return res, nil
		default:
			res.Records = append(res.Records, r)
		}
	}
	return res, nil
}
