// Package admin serves what operators and orchestrators ask the gateway:
//
//	/healthz  the process is alive
//	/readyz   a claim, a finish and a replay work on the store, right now
//	/metrics  Prometheus
//
// It answers nobody's business data and belongs on a loopback or internal
// address.
package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
)

// Admin is the admin address's handler.
type Admin struct {
	mux      *http.ServeMux
	check    func(context.Context) error
	stopping atomic.Bool
}

// New serves metrics, and readiness by check, which should be a [Checker]'s.
func New(check func(context.Context) error, metrics http.Handler) *Admin {
	a := &Admin{mux: http.NewServeMux(), check: check}
	a.mux.HandleFunc("GET /healthz", a.healthz)
	a.mux.HandleFunc("GET /readyz", a.readyz)
	a.mux.Handle("GET /metrics", metrics)
	return a
}

// Stopping makes /readyz answer 503 from here on, so that no new traffic comes.
func (a *Admin) Stopping() { a.stopping.Store(true) }

// ServeHTTP serves one request. Nothing here may be cached.
func (a *Admin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	a.mux.ServeHTTP(w, r)
}

func (a *Admin) healthz(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") }

func (a *Admin) readyz(w http.ResponseWriter, r *http.Request) {
	if a.stopping.Load() {
		http.Error(w, "not ready: stopping", http.StatusServiceUnavailable)
		return
	}
	if err := a.check(r.Context()); err != nil {
		http.Error(w, fmt.Sprintf("not ready: %v", err), http.StatusServiceUnavailable)
		return
	}
	io.WriteString(w, "ready\n")
}
