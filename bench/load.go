package main

import (
	"context"

	"github.com/semel-go/semel/bench/internal/window"
)

// underLoad runs the contenders under several loads, and adds their figures to the
// table.
func underLoad(ctx context.Context, cfg window.Config, table *window.Table, contenders []window.Contender, callers ...int) error {
	for _, n := range callers {
		cfg.Callers = n
		figures, err := window.Run(ctx, cfg, contenders...)
		if err != nil {
			return err
		}
		table.Add(window.Callers(n), figures)
	}
	return nil
}
