package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/semel-go/semel/integration/internal/gateway"
)

const (
	keys       = 200
	duplicates = 50 // of each key, at once
	atOnce     = 8  // keys
	killAfter  = 20 // effects by way of the gateway that is killed
	patience   = 3 * time.Minute
)

// Three gateways on one database are one: a key takes effect once, whichever of them
// a duplicate reaches, and all get the same answer. One is killed by SIGKILL in the
// middle of requests: what it had under way is in doubt and does not run again until
// an operator decides; everything else goes on.
//
// Field faults: two replicas race; killed half-way, the work runs twice; an operator
// cannot find or free a stuck key.
func TestThreeGatewaysAreOne(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) { threeGateways(t, e.name, e.shared(t)) })
}

func threeGateways(t *testing.T, name, url string) {
	t.Helper()
	shop := newShop(t)
	flags := []string{"--wait", "5s", "--lease", "15s", "--store-key-text"}
	var gateways []*gateway.Process
	for range 3 {
		gateways = append(gateways, gateway.StartOn(t, binary, shop.URL, url, flags...))
	}
	killed := killInTheMiddle(t, shop, gateways[0])
	answers := payAll(t, newClient(t, gateways...))
	if !killed() {
		t.Fatal("no gateway was killed: too few requests went through it")
	}
	doubts := checkAnswers(t, shop, answers)
	checkRecords(t, url, doubts)
	for _, key := range doubts {
		decide(t, url, key, shop.effectsOf(key))
	}
	anew := gateway.StartOn(t, binary, shop.URL, url, flags...)
	checkDecided(t, shop, newClient(t, gateways[1], gateways[2], anew), answers)
	fmt.Printf("figures: three gateways on %s, one killed: %d requests for %d keys, %d effects, %d keys in doubt\n",
		name, keys*duplicates, keys, shop.total, len(doubts))
}

// killInTheMiddle kills a gateway that has requests at the service, which are
// answered when it is dead.
func killInTheMiddle(t *testing.T, shop *shop, g *gateway.Process) (killed func() bool) {
	var seen atomic.Int64
	reached, dead := make(chan struct{}), make(chan struct{})
	shop.holding(func(r *http.Request) {
		if r.Header.Get("X-Via") != "0" {
			return
		}
		switch n := seen.Add(1); {
		case n < killAfter:
			return
		case n == killAfter:
			close(reached)
		}
		<-dead
	})
	ended := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		defer close(dead)
		select {
		case <-reached:
			g.Kill(t)
		case <-ended:
		}
	})
	return func() bool {
		close(ended)
		wait.Wait()
		return seen.Load() >= killAfter
	}
}

// payAll asks for every key many times at once, over all gateways.
func payAll(t *testing.T, c *client) map[string][]answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	all := map[string][]answer{}
	slots := make(chan struct{}, atOnce)
	var wait sync.WaitGroup
	for k := range keys {
		key := keyOf(k)
		answers := make([]answer, duplicates)
		all[key] = answers
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			payOften(ctx, t, c, key, answers)
		})
	}
	wait.Wait()
	return all
}

func keyOf(k int) string { return fmt.Sprintf("order-%03d", k) }

// payOften asks for one key, once for each of answers.
func payOften(ctx context.Context, t *testing.T, c *client, key string, answers []answer) {
	var wait sync.WaitGroup
	for i := range answers {
		wait.Go(func() {
			var err error
			if answers[i], err = c.pay(ctx, i, key); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

// checkAnswers returns the keys in doubt.
func checkAnswers(t *testing.T, shop *shop, all map[string][]answer) (doubts []string) {
	t.Helper()
	for k := range keys {
		key := keyOf(k)
		first, effects := all[key][0], shop.effectsOf(key)
		for _, got := range all[key] {
			if got != first && !(got.unknown() && first.unknown()) {
				t.Errorf("%s: one duplicate got %v, another %v", key, first, got)
			}
		}
		switch {
		case first.unknown() && effects <= 1:
			doubts = append(doubts, key)
		case first.status != http.StatusCreated || effects != 1:
			t.Errorf("%s: %d effects, and the answer %v", key, effects, first)
		}
	}
	if len(doubts) == 0 {
		t.Error("nothing is in doubt, though a gateway was killed under a request")
	}
	return doubts
}

// checkRecords holds the records against what clients were told.
func checkRecords(t *testing.T, url string, doubts []string) {
	t.Helper()
	want := map[string]string{}
	for k := range keys {
		want[keyOf(k)] = "done"
	}
	for _, key := range doubts {
		want[key] = "in-doubt"
	}
	out := must(t, "keys", "list", "--json", "--store", url)
	for line := range strings.Lines(out) {
		var record struct{ Key, State string }
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if want[record.Key] != record.State {
			t.Errorf("the record of %s is %s, want %q", record.Key, record.State, want[record.Key])
		}
		delete(want, record.Key)
	}
	if len(want) > 0 {
		t.Errorf("no record of %v", want)
	}
}

// decide does what an operator does who has asked the shop.
func decide(t *testing.T, url, key string, effects int) {
	t.Helper()
	args := []string{"keys", "resolve", key, "--principal", "global", "--store", url, "--yes", "--reason", "asked the shop"}
	if effects == 0 {
		must(t, append(args, "--did-not-happen")...)
		return
	}
	file := filepath.Join(t.TempDir(), "answer.http")
	if err := os.WriteFile(file, []byte("HTTP/1.1 201 Created\r\n\r\nfound in the books: "+key), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, append(args, "--done", file)...)
}

// checkDecided asks for everything once more, also at a gateway that has just
// started: nothing runs again but what did not happen.
func checkDecided(t *testing.T, shop *shop, c *client, before map[string][]answer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for k := range keys {
		key := keyOf(k)
		got, err := c.pay(ctx, k, key)
		if err != nil {
			t.Fatal(err)
		}
		if was := before[key][0]; !was.unknown() && got != was {
			t.Errorf("%s: got %v, before it was %v", key, got, was)
		}
		if n := shop.effectsOf(key); got.status != http.StatusCreated || n != 1 {
			t.Errorf("%s: %d effects in the end, and the answer %v", key, n, got)
		}
	}
}
