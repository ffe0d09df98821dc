package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"

	"github.com/go-sql-driver/mysql"
	"github.com/semel-go/semel/bench/internal/window"
)

// slapCycles is the work of one run.
const slapCycles = 8000

var slapSeconds = regexp.MustCompile(`Average number of seconds to run all queries: ([\d.]+)`)

// runSlap measures the engine's own tool, which sends statements as text.
func runSlap(ctx context.Context, cfg window.Config, dsn *mysql.Config) (window.Figure, error) {
	host, port, err := net.SplitHostPort(dsn.Addr)
	if err != nil {
		return window.Figure{}, err
	}
	args := []string{
		"--no-defaults", "--protocol=tcp", "--host=" + host, "--port=" + port, "--user=" + dsn.User, "--create-schema=" + dsn.DBName,
		"--concurrency=" + strconv.Itoa(min(cfg.Callers, connections)), "--number-of-queries=" + strconv.Itoa(2*slapCycles),
		"--delimiter=;", "--query=" + mariadbScript(),
	}
	return cfg.Tool(ctx, "mariadb-slap, single statements", func(ctx context.Context) (int, float64, error) {
		cmd := exec.CommandContext(ctx, "mariadb-slap", args...)
		cmd.Env = append(os.Environ(), "MYSQL_PWD="+dsn.Passwd)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return 0, 0, fmt.Errorf("%w\n%s", err, out)
		}
		found := slapSeconds.FindSubmatch(out)
		if found == nil {
			return 0, 0, fmt.Errorf("no figure in the report of mariadb-slap:\n%s", out)
		}
		seconds, err := strconv.ParseFloat(string(found[1]), 64)
		return slapCycles, slapCycles / seconds, err
	})
}
