package client

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"

	built "github.com/semel-go/semel/integration/internal/gateway"
)

// binary is the semel that all tests run. TestMain builds it.
var binary string

func TestMain(m *testing.M) { os.Exit(built.Main(m, &binary)) }

// gateway is a semel proxy in a process of its own.
type gateway struct {
	t      *testing.T
	args   []string
	listen string // the address, once it is known
	cmd    *exec.Cmd
	log    *output
}

// startGateway runs the gateway before upstream until the test ends.
func startGateway(t *testing.T, upstream string, args ...string) *gateway {
	t.Helper()
	g := &gateway{t: t, listen: "127.0.0.1:0"}
	g.args = append([]string{
		"proxy", "--upstream", upstream, "--principal", "header:Authorization",
		"--store", "sqlite:" + filepath.Join(t.TempDir(), "semel.db"), "--admin", "off",
	}, args...)
	g.start()
	t.Cleanup(g.stop)
	return g
}

func (g *gateway) start() {
	g.t.Helper()
	g.cmd = exec.Command(binary, append(g.args, "--listen", g.listen)...)
	out, err := g.cmd.StderrPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	if err := g.cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.log = &output{ended: make(chan struct{})}
	address := make(chan string, 1)
	go g.log.hear(out, address)
	select {
	case g.listen = <-address:
	case <-g.log.ended:
		g.t.Fatalf("the gateway ended before it listened; it said:\n%s", g.log)
	}
}

// stop is SIGTERM: what is running is finished.
func (g *gateway) stop() {
	g.t.Helper()
	if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		g.t.Error(err)
	}
	<-g.log.ended
	if err := g.cmd.Wait(); err != nil {
		g.t.Errorf("the gateway ended with %v; it said:\n%s", err, g.log)
	}
}

func (g *gateway) url() string { return "http://" + g.listen }

// output is what a process says.
type output struct {
	ended chan struct{}
	mu    sync.Mutex
	text  string
}

var listening = regexp.MustCompile(`listening on http://(127\.0\.0\.1:[0-9]+)`)

// hear reads to the end, and tells the first address that is listened on.
func (o *output) hear(r io.Reader, address chan<- string) {
	defer close(o.ended)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		o.mu.Lock()
		o.text += lines.Text() + "\n"
		o.mu.Unlock()
		if found := listening.FindStringSubmatch(lines.Text()); found != nil {
			select {
			case address <- found[1]:
			default:
			}
		}
	}
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text
}

// upstream is a service that ignores keys: each request that reaches it is an effect.
type upstream struct {
	mu      sync.Mutex
	effects map[string]int
	silent  bool // cut the connection after the effect
}

func newUpstream(t *testing.T) (*upstream, string) {
	t.Helper()
	u := &upstream{effects: map[string]int{}}
	srv := httptest.NewUnstartedServer(u)
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	srv.Start()
	t.Cleanup(srv.Close)
	return u, srv.URL
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	u.mu.Lock()
	u.effects[string(body)]++
	n, silent := u.effects[string(body)], u.silent
	u.mu.Unlock()
	if silent {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, "execution %d of %s", n, body)
}

// each fails unless there are n orders, with one effect each.
func (u *upstream) each(t *testing.T, n int) {
	t.Helper()
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.effects) != n {
		t.Errorf("%d orders were executed, want %d", len(u.effects), n)
	}
	for order, times := range u.effects {
		if times != 1 {
			t.Errorf("%s was executed %d times", order, times)
		}
	}
}

// freeAddress is an address on which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
