package window

import (
	"context"
	"fmt"
	"time"
)

// goodbye is for how long a server's processes end after their client. Until then
// their CPU time may be in none of the kernel's sums.
const goodbye = 100 * time.Millisecond

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
		time.Sleep(goodbye)
		best = better(best, Figure{Name: name, PerSecond: perSecond, CPU: (c.CPU() - before) / time.Duration(cycles)})
	}
	return best, nil
}
