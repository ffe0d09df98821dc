package demo

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// world is a running demo, fast enough for tests.
type world struct {
	*Demo
	t      *testing.T
	client *http.Client
	stop   func() error // ends it once; the error is Run's
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldWith(t, 20*time.Millisecond)
}

// newWorldWith is a world whose shop stays down for so long.
func newWorldWith(t *testing.T, down time.Duration) *world {
	t.Helper()
	return newWorldOf(t, Options{CardTime: 30 * time.Millisecond, RestartTime: down})
}

func newWorldOf(t *testing.T, o Options) *world {
	t.Helper()
	o.Listen = anyPort
	d, err := Start(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	transport := &http.Transport{}
	w := &world{Demo: d, t: t, client: &http.Client{Transport: transport, Timeout: 20 * time.Second}}
	w.stop = sync.OnceValue(func() error { transport.CloseIdleConnections(); cancel(); return <-done })
	t.Cleanup(func() {
		if err := w.stop(); err != nil {
			t.Errorf("the demo did not stop cleanly: %v", err)
		}
	})
	return w
}

// lane returns one side of a story as it is now.
func (w *world) lane(story, side string) lane {
	for _, l := range w.board.snapshot() {
		if l.story == story && l.side == side {
			return l
		}
	}
	w.t.Fatalf("there is no lane %s %s", story, side)
	return lane{}
}

// answer is what a client sees; status 0 is none.
type answer struct {
	status   int
	replayed bool
	code     string
	body     string
}

// pay sends a lane's order as the page does.
func (w *world) pay(l lane, header ...string) answer {
	body, err := json.Marshal(charge{Order: l.order, Customer: "Lin Mei", Item: "Tea set", Amount: price})
	if err != nil {
		w.t.Error(err)
	}
	header = append(header, "Authorization", credential, "Content-Type", "application/json", "Idempotency-Key", l.key)
	return w.send("POST", "/"+l.side+"/charges", string(body), header...)
}

func (w *world) send(method, path, body string, header ...string) answer {
	r, err := http.NewRequest(method, w.URL()+path, strings.NewReader(body))
	if err != nil {
		w.t.Error(err)
		return answer{}
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	res, err := w.client.Do(r)
	if err != nil {
		return answer{}
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}
	}
	a := answer{status: res.StatusCode, replayed: res.Header.Get("Idempotent-Replayed") == "true", body: string(data)}
	var problem struct{ Code string }
	if json.Unmarshal(data, &problem) == nil {
		a.code = problem.Code
	}
	return a
}

// retry sends until the service is back.
func (w *world) retry(l lane) answer {
	for {
		if a := w.pay(l); a.status != 0 && a.status != http.StatusBadGateway {
			return a
		}
	}
}

// check compares a lane with what it should have come to. The charges are asked
// of the shop too.
func (w *world) check(l lane, charges int, at stage) {
	w.t.Helper()
	now := w.lane(l.story, l.side)
	if now.charges != charges || now.total != int64(charges)*price || now.stage != at {
		w.t.Errorf("%s: %d charges of %d fen, stage %s; want %d charges, stage %s", l.id(), now.charges, now.total, now.stage, charges, at)
	}
	var b books
	if err := json.Unmarshal([]byte(w.send("GET", "/shop/charges?order="+l.order, "").body), &b); err != nil || b.Count != charges {
		w.t.Errorf("%s: the shop's table holds %+v (%v), want %d charges", l.id(), b, err, charges)
	}
}

func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.post("/trials/no-key", "")
	w.vote(w.lane(storyVotes, sideLibrary))
	w.post("/schemes/lock/right", "")                // under way for a second or more
	events, err := w.client.Get(w.URL() + "/events") // held open
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(w.Folder()); !os.IsNotExist(err) {
		t.Errorf("the folder is left: %v", err)
	}
	for _, url := range []string{w.URL(), w.ShopURL(), w.GatewayURL(), w.AdminURL(), w.OfficeURL()} {
		if conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://")); err == nil {
			conn.Close()
			t.Errorf("%s still listens", url)
		}
	}
	if _, err := io.ReadAll(events.Body); err != nil && !strings.Contains(err.Error(), "EOF") {
		t.Errorf("the stream of events was not ended: %v", err)
	}
}

// Whoever opens a printed address in a browser is told where to look.
func TestPrintedAddressesAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, url := range []string{w.ShopURL(), w.GatewayURL(), w.OfficeURL()} {
		res, err := w.client.Get(url + "/")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != 200 || !strings.Contains(string(text), "the page whose address semel demo printed first") {
			t.Errorf("%s: %d %q %v", url, res.StatusCode, text, err)
		}
	}
}

// A demo that ends while the shop is down does not wait for it to come back.
func TestEndsWhileTheShopIsDown(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, time.Hour)
	w.pay(w.lane(storyDeadShop, sideShop), faultHeader, faultDie)
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", anyPort)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for addr, want := range map[string]string{
		"0.0.0.0:0":           "can be reached from other machines",
		"example.com:80":      "can be reached from other machines",
		"8088":                "is no address",
		taken.Addr().String(): "choose another port",
	} {
		d, err := Start(t.Context(), &Options{Listen: addr})
		if err == nil {
			d.closers.close()
			t.Errorf("--listen %s was accepted", addr)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("--listen %s: %v, want %q in it", addr, err, want)
		}
	}
}

// The default address is a wish: where it is taken, a free one is as good.
func TestDefaultAddressTaken(t *testing.T) {
	taken, err := net.Listen("tcp", defaultListen)
	if err == nil {
		defer taken.Close()
	}
	l, err := listen("")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.Addr().String() == defaultListen || !isLoopback(hostOf(l.Addr().String())) {
		t.Errorf("listening on %s", l.Addr())
	}
}
