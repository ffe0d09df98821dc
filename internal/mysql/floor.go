package mysql

import (
	"context"
	"sync"
	"time"
)

// floorAge is how old the floor may be that a claim goes by. It matters only if the
// server's clock was set back while another process purged.
const floorAge = time.Second

// floor is the highest fence of all records that were purged, as last seen. Reading
// it within each claim would lock it against the purge, where REPEATABLE READ is
// the default.
type floor struct {
	mu    sync.Mutex
	fence int64
	read  time.Time
}

// least is the lowest fence for a new record; read reads the floor when it is due.
func (f *floor) least(ctx context.Context, read func(context.Context) (int64, error)) (int64, error) {
	f.mu.Lock()
	fence, due := f.fence, time.Since(f.read) >= floorAge
	f.mu.Unlock()
	if !due {
		return fence + 1, nil
	}
	asked := time.Now()
	fence, err := read(ctx)
	if err != nil {
		return 0, err
	}
	return f.raise(fence, asked) + 1, nil
}

// known is the floor as last seen.
func (f *floor) known() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fence
}

// raise takes note of a floor that was seen.
func (f *floor) raise(fence int64, at time.Time) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fence = max(f.fence, fence)
	if at.After(f.read) {
		f.read = at
	}
	return f.fence
}
