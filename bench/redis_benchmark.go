package main

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strconv"

	"github.com/redis/go-redis/v9"
	"github.com/semel-go/semel/bench/internal/window"
)

// benchmarkCycles is the work of one run, two commands a cycle.
const benchmarkCycles = 100_000

var requestsPerSecond = regexp.MustCompile(`([\d.]+) requests per second`)

// runRedisBenchmark measures the engine's own tool.
func runRedisBenchmark(ctx context.Context, cfg window.Config, o *redis.Options) (window.Figure, error) {
	host, port, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return window.Figure{}, err
	}
	args := []string{
		"-h", host, "-p", port, "-a", o.Password, "-c", strconv.Itoa(min(cfg.Callers, connections)), "-n", strconv.Itoa(2 * benchmarkCycles),
		"-P", "16", "-t", "set", "-d", strconv.Itoa(payload), "-r", "1000000", "-q",
	}
	return cfg.Tool(ctx, "redis-benchmark -P 16", func(ctx context.Context) (int, float64, error) {
		out, err := exec.CommandContext(ctx, "redis-benchmark", args...).CombinedOutput()
		if err != nil {
			return 0, 0, fmt.Errorf("%w\n%s", err, out)
		}
		found := requestsPerSecond.FindAllSubmatch(out, -1)
		if found == nil {
			return 0, 0, fmt.Errorf("no figure in the report of redis-benchmark:\n%s", out)
		}
		commands, err := strconv.ParseFloat(string(found[len(found)-1][1]), 64)
		return benchmarkCycles, commands / 2, err
	})
}
