package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/semel-go/semel/bench/internal/cpu"
	"github.com/semel-go/semel/bench/internal/window"
)

// gatewaySuite compares requests with a new key through `semel proxy` on its
// memory store with the same requests through a bare reverse proxy, each a
// process of its own in front of one service.
func gatewaySuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	dir, err := os.MkdirTemp("", "semel-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	service := httptest.NewServer(http.HandlerFunc(answerRequest))
	defer service.Close()
	ctx, cancel := context.WithCancel(ctx) // ends the processes
	defer cancel()
	bare, err := startBare(ctx, dir, service.URL)
	if err != nil {
		return nil, err
	}
	guarded, err := startGateway(ctx, dir, service.URL)
	if err != nil {
		return nil, err
	}
	cfg.CPU = cpu.NewMeter(bare.pid, guarded.pid).Used
	table := &window.Table{
		Title: "Gateway",
		Notes: []string{
			"A cycle is a POST of 200 bytes that is answered with 300, over loopback; client and service are in the measuring process. *Bare* is",
			"`httputil.ReverseProxy` on a transport tuned like the gateway's. *New* sends a new key each time, on the memory store; *replay* the same key again.",
		},
	}
	return table, underLoad(ctx, cfg, table, []window.Contender{
		{Name: "bare", Cycle: bare.poster(true)},
		{Name: "Semel, new", Cycle: guarded.poster(true)},
		{Name: "Semel, replay", Cycle: guarded.poster(false)},
	}, 1, 16, 64)
}

var (
	requestBody = strings.Repeat("r", 200)
	answerBody  = strings.Repeat("a", 300)
)

// server is a proxy under test.
type server struct {
	url    string
	pid    int
	client *http.Client
}

func startBare(ctx context.Context, dir, upstream string) (*server, error) {
	binary := filepath.Join(dir, "bareproxy")
	if err := goBuild(ctx, binary, "github.com/semel-go/semel/bench/bareproxy"); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, binary, upstream)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return launch(cmd, out, func(line string) (string, error) { return line, nil })
}

func startGateway(ctx context.Context, dir, upstream string) (*server, error) {
	binary := filepath.Join(dir, "semel")
	if err := goBuild(ctx, binary, "github.com/semel-go/semel/cmd/semel"); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, binary, "proxy", "--upstream="+upstream, "--principal=global", "--store=memory:",
		"--listen=127.0.0.1:0", "--admin=off", "--retention=31s", "--log-format=json")
	out, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	return launch(cmd, out, func(line string) (string, error) {
		var first struct{ Listen string }
		err := json.Unmarshal([]byte(line), &first)
		return first.Listen, err
	})
}

// goBuild builds a program of the workspace.
func goBuild(ctx context.Context, binary, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, pkg)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v (run bench inside the repository): %w\n%s", cmd, err, out)
	}
	return nil
}

// launch starts cmd and reads where it listens from the first line of out.
func launch(cmd *exec.Cmd, out io.Reader, address func(line string) (string, error)) (*server, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	in := bufio.NewReader(out)
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("%v did not start: %w", cmd, err)
	}
	addr, err := address(strings.TrimSpace(line))
	if err != nil {
		return nil, fmt.Errorf("%v: %w: %s", cmd, err, line)
	}
	go io.Copy(io.Discard, in)
	transport := &http.Transport{MaxIdleConnsPerHost: 1024}
	return &server{url: "http://" + addr, pid: cmd.Process.Pid, client: &http.Client{Transport: transport}}, nil
}

// poster returns a cycle: a POST with a new key, or with the same one always.
func (s *server) poster(fresh bool) func(context.Context, int) error {
	return func(ctx context.Context, caller int) error {
		key := fmt.Sprintf("caller-%d", caller)
		if fresh {
			key = rand.Text()
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/charges", strings.NewReader(requestBody))
		if err != nil {
			return err
		}
		r.Header.Set("Idempotency-Key", key)
		res, err := s.client.Do(r)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err == nil && (res.StatusCode != http.StatusOK || string(body) != answerBody) {
			err = fmt.Errorf("got %d %s", res.StatusCode, body)
		}
		return err
	}
}
