package schemes

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Run is what a way has come to.
type Run struct {
	Ended    bool
	Steps    []Step
	Count    int
	AsWanted bool
}

// Player plays the ways of schemes and keeps the last run of each. All methods may be
// called concurrently.
type Player struct {
	stage   *stage
	changed func()
	ctx     context.Context // of all runs
	stop    context.CancelFunc
	playing sync.WaitGroup

	mu   sync.Mutex
	runs map[part]*Run
}

// part names one way of one scheme.
type part struct{ scheme, way string }

// New returns a player. [Player.Close] has to follow.
func New(o Options) (*Player, error) {
	stage, err := newStage(o)
	if err != nil {
		return nil, err
	}
	p := &Player{stage: stage, changed: o.Changed, runs: map[part]*Run{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p, nil
}

// Close ends the runs that are under way, and begins no further one.
func (p *Player) Close() error {
	p.mu.Lock()
	p.stop()
	p.mu.Unlock()
	p.playing.Wait()
	return p.stage.close()
}

// Reset forgets all runs; those under way are not noted any more.
func (p *Player) Reset() { p.change(func() { p.runs = map[part]*Run{} }) }

// Last returns the last run of a way, or one that has not begun.
func (p *Player) Last(scheme, way string) (r Run, begun bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.runs[part{scheme, way}]
	if known == nil {
		return Run{}, false
	}
	r = *known
	r.Steps = slices.Clone(r.Steps)
	return r, true
}

// Play begins a way, unless it is being played, and does not wait for its end. It
// reports whether there is such a way.
func (p *Player) Play(scheme, way string) (known bool) {
	w := find(scheme, way)
	if w == nil {
		return false
	}
	p.change(func() {
		of := part{scheme, way}
		if last := p.runs[of]; last != nil && !last.Ended || p.ctx.Err() != nil {
			return
		}
		r := new(Run)
		p.runs[of] = r
		p.playing.Go(func() { p.play(w, r) })
	})
	return true
}

func find(scheme, way string) *Way {
	for _, s := range All() {
		for _, w := range s.Ways {
			if s.ID == scheme && w.ID == way {
				return &w
			}
		}
	}
	return nil
}

func (p *Player) play(w *Way, r *Run) {
	note := func(s Step) { p.change(func() { r.Steps = append(r.Steps, s) }) }
	count, err := w.act(p.ctx, &scene{stage: p.stage, note: note})
	if err != nil && !errors.Is(err, context.Canceled) {
		p.stage.log.Error("a scheme of the demo failed", "error", err)
	}
	p.change(func() {
		r.Ended, r.Count = true, count
		r.AsWanted = err == nil && w.Wants(count)
	})
}

// change makes a change and tells of it.
func (p *Player) change(f func()) {
	p.mu.Lock()
	f()
	p.mu.Unlock()
	p.changed()
}
