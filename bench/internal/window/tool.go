package window

import (
	"context"
	"fmt"
	"time"
)

// Tool measures a program that runs by itself: the best of three runs. The CPU time
// includes its start and end.
func (c Config) Tool(ctx context.Context, name string, run func(context.Context) (cycles int, perSecond float64, err error)) (Figure, error) {
	c = c.withDefaults()
	var best Figure
	for range 3 {
		before := c.CPU()
		cycles, perSecond, err := run(ctx)
		if err != nil {
			return Figure{}, fmt.Errorf("%s: %w", name, err)
		}
		best = better(best, Figure{Name: name, PerSecond: perSecond, CPU: (c.CPU() - before) / time.Duration(cycles)})
	}
	return best, nil
}
