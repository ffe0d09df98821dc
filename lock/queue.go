package lock

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/semel-go/semel"
)

// queue lets one caller of this process at a time have the turn of a key, in the order
// in which they came. A key is in the map only while somebody has its turn.
type queue[K comparable] struct {
	perKey, total int // how many may wait; 0: any number

	mu      sync.Mutex
	lines   map[K]*list.List // of *seat, those who wait
	waiting int
}

// seat is a place in a line. called is closed when its turn has come.
type seat struct{ called chan struct{} }

// enter takes the turn of key, and waits for it if it has to. A negative wait does not,
// and [semel.Forever] goes on until ctx ends.
func (q *queue[K]) enter(ctx context.Context, key K, wait time.Duration) error {
	line, place, err := q.join(key, wait)
	if place == nil {
		return err
	}
	if err := place.Value.(*seat).sit(ctx, wait); err != nil {
		q.giveUp(key, line, place)
		return err
	}
	return nil
}

// join takes the turn, or a place behind those who have come before.
func (q *queue[K]) join(key K, wait time.Duration) (*list.List, *list.Element, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	line := q.lines[key]
	switch {
	case line == nil:
		if q.lines == nil {
			q.lines = make(map[K]*list.List)
		}
		q.lines[key] = new(list.List)
		return nil, nil, nil
	case wait <= 0:
		return nil, nil, errTaken
	case q.perKey > 0 && line.Len() >= q.perKey, q.total > 0 && q.waiting >= q.total:
		return nil, nil, ErrTooManyWaiters
	}
	q.waiting++
	return line, line.PushBack(&seat{called: make(chan struct{})}), nil
}

// sit waits for the turn.
func (s *seat) sit(ctx context.Context, wait time.Duration) error {
	var over <-chan time.Time
	if wait != semel.Forever {
		t := time.NewTimer(wait)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-s.called:
		return nil
	case <-over:
		return ErrTimeout
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// giveUp leaves the line. A turn that came at the same moment goes to the next one.
func (q *queue[K]) giveUp(key K, line *list.List, place *list.Element) {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-place.Value.(*seat).called:
		q.next(key)
	default:
		line.Remove(place)
		q.waiting--
	}
}

// leave gives the turn to the next one, or forgets the key.
func (q *queue[K]) leave(key K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next(key)
}

// next is leave; q.mu is held.
func (q *queue[K]) next(key K) {
	line := q.lines[key]
	first := line.Front()
	if first == nil {
		delete(q.lines, key)
		return
	}
	q.waiting--
	close(line.Remove(first).(*seat).called)
}
