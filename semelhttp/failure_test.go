package semelhttp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// recoverer is an outer layer that keeps what it recovers.
type recoverer struct{ values []any }

func (rc *recoverer) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if v := recover(); v != nil {
				rc.values = append(rc.values, v)
				w.WriteHeader(http.StatusInternalServerError)
				io.WriteString(w, "recovered")
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// The panic value reaches the outer recoverer once, unwrapped; what the handler
// had written before is not sent, and the key is free at once.
// Field fault: panic, Goexit or abort leaves the key locked.
func TestPanicPassesThrough(t *testing.T) {
	t.Parallel()
	value := errors.New("the handler's own")
	var rc recoverer
	fail := true
	w := newWorld(t, &setup{outer: rc.wrap}, func(rw http.ResponseWriter, r *http.Request) {
		if fail {
			rw.Header().Set("Content-Length", "1000")
			rw.WriteHeader(http.StatusCreated)
			io.WriteString(rw, "half an answer")
			panic(value)
		}
		echo(rw, r)
	})
	w.post("b").is(t, 500, "recovered")
	if len(rc.values) != 1 || rc.values[0] != value {
		t.Errorf("recovered %v", rc.values)
	}
	w.state(semel.StateReleased)
	fail = false
	w.post("b").is(t, 201, "b")
	w.ran(2)
}

func TestPanicUnderAtMostOnceLeavesADoubt(t *testing.T) {
	t.Parallel()
	var rc recoverer
	w := newWorld(t, &setup{outer: rc.wrap, http: semelhttp.Options{Policy: semel.AtMostOnce}}, func(http.ResponseWriter, *http.Request) { panic("x") })
	w.post("b").is(t, 500, "recovered")
	w.state(semel.StateInDoubt)
	w.post("b").isProblem(t, 409, "outcome-unknown")
	w.ran(1)
}

func TestAbortHandlerAndGoexit(t *testing.T) {
	t.Parallel()
	ends := map[string]func(){
		"abort":  func() { panic(http.ErrAbortHandler) },
		"goexit": func() { runtime.Goexit() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := true
			w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
				if first {
					first = false
					io.WriteString(rw, "never sent")
					end()
				}
				echo(rw, r)
			})
			w.store.bend(func(s *faultStore) { s.finished = make(chan semel.FinishParams, 2) })
			w.breaks("b")
			if f := <-w.store.finished; f.State != semel.StateReleased {
				t.Errorf("finished with %v", f.State)
			}
			w.post("b").is(t, 201, "b")
			w.ran(2)
		})
	}
}

// A live answer that breaks off is in doubt: its client has seen a part of it.
func TestPanicAfterFlushLeavesADoubt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		io.WriteString(rw, "part")
		rw.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	w.breaks("b")
	w.state(semel.StateInDoubt)
	w.post("b").isProblem(t, 409, "outcome-unknown")
	w.ran(1)
}

// The client of a timed out request is told so; the handler goes on, and the
// retry gets its answer.
func TestTimeoutHandlerOutside(t *testing.T) {
	t.Parallel()
	g := newGate()
	outer := func(next http.Handler) http.Handler {
		return http.TimeoutHandler(next, 50*time.Millisecond, "too slow")
	}
	w := newWorld(t, &setup{outer: outer}, g.ServeHTTP)
	w.store.bend(func(s *faultStore) { s.finished = make(chan semel.FinishParams, 2) })
	w.post("b").is(t, 503, "too slow")
	w.post("b").isProblem(t, 409, "in-progress")
	close(g.leave)
	<-w.store.finished
	again := w.post("b")
	again.is(t, 201, "b")
	if !again.replayed() {
		t.Error("not replayed")
	}
	w.ran(1)
}

// A deadline that an outer layer set is the handler's as well; the client's
// disappearance is not.
func TestHandlerContext(t *testing.T) {
	t.Parallel()
	type outerKey struct{}
	deadline := time.Now().Add(time.Hour).Round(0)
	outer := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithDeadline(context.WithValue(r.Context(), outerKey{}, "kept"), deadline)
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
	w := newWorld(t, &setup{outer: outer}, func(rw http.ResponseWriter, r *http.Request) {
		got, ok := r.Context().Deadline()
		fence, fenced := semel.FenceFrom(r.Context())
		fmt.Fprint(rw, ok && got.Equal(deadline), r.Context().Value(outerKey{}), fenced && fence > 0)
	})
	w.post("b").is(t, 200, "truekepttrue")
}

// Field fault: client disconnects, result lost, retry runs again or key wedged.
func TestClientDisconnects(t *testing.T) {
	t.Parallel()
	clientGone, entered := make(chan struct{}, 1), make(chan struct{})
	outer := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			context.AfterFunc(r.Context(), func() {
				select {
				case clientGone <- struct{}{}:
				default:
				}
			})
			next.ServeHTTP(w, r)
		})
	}
	w := newWorld(t, &setup{outer: outer}, func(rw http.ResponseWriter, r *http.Request) {
		close(entered)
		<-clientGone
		if r.Context().Err() != nil {
			t.Errorf("the handler was cancelled: %v", context.Cause(r.Context()))
		}
		echo(rw, r)
	})
	w.store.bend(func(s *faultStore) { s.finished = make(chan semel.FinishParams, 1) })
	ctx, cancel := context.WithCancel(t.Context())
	req := w.request("POST", "/charges", "b").WithContext(ctx)
	sent := make(chan error)
	go func() { _, err := w.srv.Client().Do(req); sent <- err }()
	<-entered
	cancel()
	if err := <-sent; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	<-w.store.finished
	again := w.post("b")
	again.is(t, 201, "b")
	if !again.replayed() {
		t.Error("not replayed")
	}
	w.ran(1)
}

// A client that has gone before the claim, or while it was made, starts nothing.
func TestClientGoneBeforeTheWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &setup{http: semelhttp.Options{Wait: time.Hour}}, echo)
	send := func(ctx context.Context) *httptest.ResponseRecorder {
		out := httptest.NewRecorder()
		w.whole.ServeHTTP(out, w.request("POST", "/charges", "b").WithContext(ctx))
		return out
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.store.bend(func(s *faultStore) { s.claimed = cancel })
	read(send(ctx).Result()).isProblem(t, 503, "overloaded")
	w.state(semel.StateReleased)
	w.store.bend(func(s *faultStore) { s.claim = errors.New("not to be asked") })
	read(send(ctx).Result()).isProblem(t, 503, "overloaded")
	w.ran(0)
	w.store.bend(func(s *faultStore) { s.claim, s.claimed = nil, nil })
	w.post("b").is(t, 201, "b")
}

// Field fault: error on read lets the request through unguarded.
func TestStoreDownAtClaim(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"unavailable": semel.ErrStoreUnavailable, "no reply": semel.ErrNoReply, "undocumented": io.ErrUnexpectedEOF} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, echo)
			w.store.bend(func(s *faultStore) { s.claim = err })
			w.post("b").isProblem(t, 503, "store-unavailable")
			w.ran(0)
			w.store.bend(func(s *faultStore) { s.claim = nil })
			w.post("b").is(t, 201, "b")
			w.ran(1)
		})
	}
}

// Field fault: saving fails after success: client told 500 and work runs twice.
func TestStoreDownAtCompletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		echo(rw, r)
	})
	saved := make(chan semel.FinishParams, 1)
	w.store.bend(func(s *faultStore) { s.finish = semel.ErrStoreUnavailable })
	first := w.post("b")
	first.is(t, 201, "b")
	w.post("b").isProblem(t, 409, "in-progress")
	w.store.bend(func(s *faultStore) { s.finish, s.finished = nil, saved })
	<-saved
	replays(t, first, w.post("b"))
	w.ran(1)
}

// A run that lost its record answers with the winner's response, never its own.
// Field fault: handler outlives the lease: two runs, both callers get 503.
func TestFencedRunAnswersWithTheWinner(t *testing.T) {
	t.Parallel()
	outcomes := map[string]struct {
		resolve semel.ResolveParams
		check   func(t *testing.T, r reply)
	}{
		"the winner is done": {
			semel.ResolveParams{Resolution: semel.ResolveDone, Result: semelhttp.EncodeResponse(semelhttp.Response{
				Status: 202, Header: []semelhttp.HeaderPair{{Name: "X-Winner", Value: "yes"}}, Body: []byte("the winner's"),
			})},
			func(t *testing.T, r reply) {
				r.is(t, 202, "the winner's")
				if !r.replayed() || r.Header.Get("X-Winner") != "yes" || r.Header.Get("X-Loser") != "" {
					t.Errorf("header: %v", r.Header)
				}
			},
		},
		"nobody is done": {
			semel.ResolveParams{Resolution: semel.ResolveDelete},
			func(t *testing.T, r reply) {
				r.isProblem(t, 409, "in-progress")
				if r.Header.Get("X-Loser") != "" || r.Header.Get("Retry-After") == "" {
					t.Errorf("header: %v", r.Header)
				}
			},
		},
	}
	for name, tt := range outcomes {
		for _, flush := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, flush %v", name, flush), func(t *testing.T) {
				t.Parallel()
				var w *world
				w = newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
					w.usurp(tt.resolve)
					rw.Header().Set("X-Loser", "yes")
					io.WriteString(rw, "the loser's own")
					if flush {
						if err := http.NewResponseController(rw).Flush(); !errors.Is(err, semel.ErrFenced) {
							t.Errorf("Flush: %v", err)
						}
					}
				})
				tt.check(t, w.post("b"))
			})
		}
	}
}

// A run that was told to be fenced when it wanted to go live never sends its own
// answer, whatever the store says later.
func TestFencedBeforeLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		io.WriteString(rw, "the loser's own")
		rw.(http.Flusher).Flush()
		if _, err := io.WriteString(rw, "more"); !errors.Is(err, semel.ErrFenced) {
			t.Errorf("Write: %v", err)
		}
	})
	w.store.bend(func(s *faultStore) { s.renew = semel.ErrFenced })
	w.post("b").isProblem(t, 409, "in-progress")
}

// usurp takes alice's record from its running owner, as an operator may once the
// owner counts as dead.
func (w *world) usurp(p semel.ResolveParams) {
	rec := w.record(alice, "", key1)
	p.Key, p.Fence, p.Token, p.Retention = rec.Key, rec.Fence, semel.NewToken(), time.Hour
	w.store.lapse()
	if res, err := w.store.Resolve(context.Background(), p); err != nil || !res.Resolved {
		w.t.Errorf("resolve: %+v, %v", res, err)
	}
}

// Requests under way finish and are recorded when the server shuts down.
func TestGracefulShutdown(t *testing.T) {
	t.Parallel()
	g := newGate()
	w := newWorld(t, nil, g.ServeHTTP)
	down := make(chan error)
	first := w.runMeanwhile(g, func() {
		go func() { down <- w.srv.Config.Shutdown(context.Background()) }()
	})
	first.is(t, 201, "b")
	if err := <-down; err != nil {
		t.Fatal(err)
	}
	w.state(semel.StateDone)
}

// A client that leaves while it waits for the running one ends its wait, and owns
// nothing.
// Field fault: a waiter that loses patience deletes the running winner's claim.
func TestWaiterLeaves(t *testing.T) {
	t.Parallel()
	g, served := newGate(), make(chan struct{}, 3)
	outer := after(func(r *http.Request) { served <- struct{}{} })
	w := newWorld(t, &setup{outer: outer, http: semelhttp.Options{Wait: time.Hour}}, g.ServeHTTP)
	first := w.runMeanwhile(g, func() {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := w.srv.Client().Do(w.request("POST", "/charges", "b").WithContext(ctx)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the waiter got %v", err)
		}
		<-served // long before the hour is over
		w.state(semel.StateRunning)
	})
	first.is(t, 201, "b")
	replays(t, first, w.post("b"))
	w.ran(1)
}

func TestWaiterReplays(t *testing.T) {
	t.Parallel()
	g := newGate()
	w := newWorld(t, &setup{http: semelhttp.Options{Wait: time.Hour}}, g.ServeHTTP)
	second := make(chan reply)
	req := w.request("POST", "/charges", "b")
	first := w.runMeanwhile(g, func() { go func() { second <- w.do(req) }() })
	replays(t, first, <-second)
	w.ran(1)
}

// rawExchange sends bytes over a connection of its own and reads one answer.
func (w *world) rawExchange(request string) (*http.Response, net.Conn) {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.srv.Listener.Addr().String())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, strings.ReplaceAll(request, "\n", "\r\n")); err != nil {
		w.t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp, conn
}
