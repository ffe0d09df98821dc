// Command bench compares Semel with the code that people write without it. Each
// suite runs its contenders in interleaved windows and prints a table of ratios.
//
//	go run ./bench -only sqlite
//	go run ./integration/cmd/engines -- go run ./bench -only postgres,mariadb
//	go run ./integration/cmd/engines -- go run ./bench -write docs/performance.md # make bench
//
// Suites of a server find it by the variables of integration/cmd/engines, and are
// skipped without them. A suite is a function in a file of its own; add it to the list
// in suites. Measure on an idle machine: other load spoils wall times first,
// then ratios of them, and CPU times last.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/semel-go/semel/bench/internal/cpu"
	"github.com/semel-go/semel/bench/internal/window"
)

// suite is one table of docs/performance.md.
type suite struct {
	name string
	run  func(ctx context.Context, cfg window.Config) (*window.Table, error)
}

func suites() []suite {
	return []suite{
		{"postgres", postgresSuite},
		{"mariadb", mariadbSuite},
		{"sqlite", sqliteSuite},
		{"redis", redisSuite},
		{"postgres-replay", postgresReplaySuite},
		{"mariadb-replay", mariadbReplaySuite},
		{"sqlite-replay", sqliteReplaySuite},
		{"redis-replay", redisReplaySuite},
		{"lock", lockSuite},
		{"replay", replaySuite},
		{"postgres-growth", postgresGrowthSuite},
		{"mariadb-growth", mariadbGrowthSuite},
		{"sqlite-growth", sqliteGrowthSuite},
		{"postgres-hot", postgresHotSuite},
		{"mariadb-hot", mariadbHotSuite},
		{"business-pgx", businessPGXSuite},
		{"business-postgres", businessPostgresSuite},
		{"business-mariadb", businessMariaDBSuite},
		{"business-sqlite", businessSQLiteSuite},
		{"purge", purgeSuite},
		{"ids", idsSuite},
		{"memory", memorySuite},
		{"http", httpSuite},
		{"gateway", gatewaySuite},
	}
}

func main() {
	only := flag.String("only", "", "run these suites, separated by commas; all by default")
	length := flag.Duration("window", 400*time.Millisecond, "length of a window")
	rounds := flag.Int("rounds", 7, "windows of each contender; the best counts")
	file := flag.String("write", "", "put the tables into this file, each in its section")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cfg := window.Config{Window: *length, Rounds: *rounds, CPU: cpu.NewMeter().Used}
	if err := runSuites(ctx, *only, cfg, *file); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func runSuites(ctx context.Context, only string, cfg window.Config, file string) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	for _, s := range chosen {
		table, err := s.run(ctx, cfg)
		if missing, ok := errors.AsType[missingError](err); ok {
			fmt.Fprintf(os.Stderr, "%s: %v\n", s.name, missing)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Println(table.Markdown())
		if file == "" {
			continue
		}
		if err := writeSection(file, s.name, table.Markdown()+"\n"+measuredOn()); err != nil {
			return err
		}
	}
	return nil
}

// choose returns the suites named in only, or all.
func choose(only string) ([]suite, error) {
	if only == "" {
		return suites(), nil
	}
	var chosen []suite
	for name := range strings.SplitSeq(only, ",") {
		s, ok := find(name)
		if !ok {
			return nil, fmt.Errorf("there is no suite %q", name)
		}
		chosen = append(chosen, s)
	}
	return chosen, nil
}

func find(name string) (suite, bool) {
	for _, s := range suites() {
		if s.name == name {
			return s, true
		}
	}
	return suite{}, false
}
