package demo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"

	"github.com/semel-go/semel/semelhttp"
)

// hop is the way from the page to a service. It passes requests and answers on
// as they are and notes them on the board. Asked to, it loses an answer: the
// service has acted and replied, and the client sees its connection cut.
type hop struct {
	side  string
	board *board
	proxy *httputil.ReverseProxy

	mu     sync.Mutex
	faulty map[string]bool // attempts that asked for a fault
}

func newHop(side, addr string, b *board) *hop {
	target := &url.URL{Scheme: "http", Host: addr}
	h := &hop{side: side, board: b, faulty: map[string]bool{}}
	h.proxy = &httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) { pr.SetURL(target) },
		// A connection for each request: what is sent once arrives at most once.
		Transport:      &http.Transport{DisableKeepAlives: true, DisableCompression: true},
		ModifyResponse: h.answered,
		ErrorHandler:   h.failed,
		ErrorLog:       log.New(io.Discard, "", 0), // it would tell of each cut that the demo makes
	}
	return h
}

func (h *hop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.isResend(r) {
		panic(http.ErrAbortHandler)
	}
	end := func(attempt) {}
	if r.Method == http.MethodPost {
		end = h.board.begin(h.side, laneKey(r.Header))
	}
	h.proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), endKey{}, end)))
}

// laneKey is what the lane of a request is known by: the key, or who votes.
func laneKey(h http.Header) string {
	return cmp.Or(h.Get("Idempotency-Key"), h.Get("Webhook-Id"), strings.TrimPrefix(h.Get("Authorization"), "Bearer "))
}

// attemptHeader tells requests of a script from those that its browser sends by
// itself.
const attemptHeader = "Demo-Attempt"

// isResend reports whether a request with a fault was here before. Browsers send
// a request again unasked when a reused connection is cut before the first byte.
// For such a request the line stays cut: the retry is the client's to make.
func (h *hop) isResend(r *http.Request) bool {
	id := r.Header.Get(attemptHeader)
	if id == "" || r.Header.Get(faultHeader) == "" {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.faulty[id] {
		return true
	}
	if len(h.faulty) >= maxFaulty {
		clear(h.faulty)
	}
	h.faulty[id] = true
	return false
}

const maxFaulty = 1000

type endKey struct{}

func endOf(r *http.Request) func(attempt) {
	return r.Context().Value(endKey{}).(func(attempt))
}

var errLost = errors.New("the answer is lost, as was asked for")

func (h *hop) answered(res *http.Response) error {
	a := attempt{
		fate:       fateDelivered,
		status:     res.StatusCode,
		replayed:   res.Header.Get(replayedHeader) == "true",
		retryAfter: res.Header.Get("Retry-After"),
	}
	var err error
	if a.code, err = problemCode(res); err != nil {
		return err
	}
	if res.Request.Header.Get(faultHeader) == faultLoseAnswer {
		a.fate = fateLost
		endOf(res.Request)(a)
		return errLost
	}
	endOf(res.Request)(a)
	return nil
}

// problemCode reads the gateway's code out of a problem and leaves the body whole.
func problemCode(res *http.Response) (semelhttp.Code, error) {
	if res.Header.Get("Content-Type") != problemType {
		return "", nil
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return "", err
	}
	res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	var p problem
	return p.Code, json.Unmarshal(body, &p)
}

// failed is told of each round trip without an answer to pass on. Where nobody
// listened it says so; a cut is passed on as a cut.
func (h *hop) failed(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, errLost) {
		panic(http.ErrAbortHandler)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		endOf(r)(attempt{fate: fateRefused, status: http.StatusBadGateway})
		semelhttp.WriteProblem(w, semelhttp.NewProblem(semelhttp.CodeUpstreamUnreachable))
		return
	}
	a := attempt{fate: fateCut}
	if r.Context().Err() != nil {
		a.fate = fateLeft
	}
	endOf(r)(a)
	panic(http.ErrAbortHandler)
}
