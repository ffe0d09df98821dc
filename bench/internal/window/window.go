// Package window compares programs on a noisy machine: they take turns in short
// windows, and the best window of each counts. Ratios between contenders of one
// run mean something, absolute figures do not.
package window

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/semel-go/semel/bench/internal/cpu"
)

// Contender is one of the programs that are compared.
type Contender struct {
	Name string
	// Cycle does one unit of work; callers 0 to Config.Callers-1 call it at once.
	Cycle func(ctx context.Context, caller int) error
}

// Config says how to measure.
type Config struct {
	Callers int           // goroutines that run cycles. Default 1
	Window  time.Duration // length of a window. Default 400ms
	Rounds  int           // windows of each contender. Default 7
	// CPU is the CPU time used so far. Default: this process's, without any server's.
	CPU func() time.Duration
}

// Figure is what a contender reached.
type Figure struct {
	Name      string
	PerSecond float64       // cycles, in its best window
	CPU       time.Duration // for a cycle, in its cheapest window
}

func (c Config) withDefaults() Config {
	setDefault(&c.Callers, 1)
	setDefault(&c.Window, 400*time.Millisecond)
	setDefault(&c.Rounds, 7)
	if c.CPU == nil {
		c.CPU = cpu.NewMeter().Used
	}
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Run measures the contenders, one window each by turns, after one round that
// does not count.
func Run(ctx context.Context, cfg Config, contenders ...Contender) ([]Figure, error) {
	cfg = cfg.withDefaults()
	figures := make([]Figure, len(contenders))
	for round := range cfg.Rounds + 1 {
		for i, c := range contenders {
			f, err := cfg.measure(ctx, c)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			if round > 0 {
				figures[i] = better(figures[i], f)
			}
		}
	}
	return figures, nil
}

func better(best, f Figure) Figure {
	if best.Name == "" {
		return f
	}
	best.PerSecond = max(best.PerSecond, f.PerSecond)
	best.CPU = min(best.CPU, f.CPU)
	return best
}

// measure runs one window.
func (c Config) measure(ctx context.Context, contender Contender) (Figure, error) {
	runtime.GC()
	w := &run{contender: contender, errs: make([]error, c.Callers)}
	used, start := c.CPU(), time.Now()
	deadline := start.Add(c.Window)
	var callers sync.WaitGroup
	for i := range c.Callers {
		callers.Go(func() { w.errs[i] = w.call(ctx, i, deadline) })
	}
	callers.Wait()
	wall, n := time.Since(start), w.cycles.Load()
	if err := errors.Join(w.errs...); err != nil || n == 0 {
		return Figure{}, errors.Join(err, context.Cause(ctx))
	}
	return Figure{
		Name: contender.Name, PerSecond: float64(n) / wall.Seconds(),
		CPU: (c.CPU() - used) / time.Duration(n),
	}, nil
}

type run struct {
	contender Contender
	cycles    atomic.Int64
	errs      []error
}

func (w *run) call(ctx context.Context, caller int, deadline time.Time) error {
	n := int64(0)
	defer func() { w.cycles.Add(n) }()
	for ; time.Now().Before(deadline); n++ {
		if err := w.contender.Cycle(ctx, caller); err != nil {
			return err
		}
	}
	return nil
}
