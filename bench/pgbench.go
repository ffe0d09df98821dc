package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/semel-go/semel/bench/internal/window"
)

// pgbenchScript is the single statements on the table of naivePGX.
const pgbenchScript = `\set key random(1, 9000000000000000000)
INSERT INTO idempotency_keys (idem_key, status, created_at, expires_at) VALUES (:key::text, 'started', now(), now() + interval '1 day') ON CONFLICT (idem_key) DO NOTHING;
UPDATE idempotency_keys SET status = 'finished', response = :response::bytea WHERE idem_key = :key::text AND status = 'started';
`

// runPgbench measures the engine's own tool.
func runPgbench(ctx context.Context, cfg window.Config, url string) (window.Figure, error) {
	tool, err := pgbench()
	if err != nil {
		return window.Figure{}, err
	}
	script, err := os.CreateTemp("", "semel-bench-*.sql")
	if err != nil {
		return window.Figure{}, err
	}
	defer os.Remove(script.Name())
	_, err = script.WriteString(pgbenchScript)
	if err := errors.Join(err, script.Close()); err != nil {
		return window.Figure{}, err
	}
	return cfg.Tool(ctx, "pgbench, single statements", func(ctx context.Context) (int, float64, error) {
		out, err := exec.CommandContext(ctx, tool, "--no-vacuum", "--protocol=prepared", "--file="+script.Name(), "--time=2",
			"--client="+strconv.Itoa(min(cfg.Callers, connections)), "--jobs="+strconv.Itoa(min(cfg.Callers, 2)),
			"--define=response="+strings.Repeat("r", payload), url).CombinedOutput()
		if err != nil {
			return 0, 0, fmt.Errorf("%w\n%s", err, out)
		}
		return pgbenchFigures(out)
	})
}

// pgbench finds the newest one of Debian, which is not in PATH.
func pgbench() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if len(found) > 0 {
		return slices.Max(found), nil
	}
	return exec.LookPath("pgbench")
}

var (
	pgbenchCycles = regexp.MustCompile(`transactions actually processed: (\d+)`)
	pgbenchSpeed  = regexp.MustCompile(`tps = ([\d.]+) \(without initial`)
)

func pgbenchFigures(out []byte) (cycles int, perSecond float64, err error) {
	n, speed := pgbenchCycles.FindSubmatch(out), pgbenchSpeed.FindSubmatch(out)
	if n == nil || speed == nil {
		return 0, 0, fmt.Errorf("no figures in the report of pgbench:\n%s", out)
	}
	cycles, err = strconv.Atoi(string(n[1]))
	perSecond, bad := strconv.ParseFloat(string(speed[1]), 64)
	return cycles, perSecond, errors.Join(err, bad)
}
