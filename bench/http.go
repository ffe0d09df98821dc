package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/bench/internal/window"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semelhttp"
)

// httpSuite compares a handler behind the middleware, on the memory store, with
// the bare handler.
func httpSuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	handler := http.HandlerFunc(answerRequest)
	once, err := memoryMiddleware()
	if err != nil {
		return nil, err
	}
	bare, closeBare := serveHTTP(handler)
	defer closeBare()
	guarded, closeGuarded := serveHTTP(once(handler))
	defer closeGuarded()
	table := &window.Table{
		Title: "HTTP middleware",
		Notes: []string{
			"A cycle is a POST of 200 bytes that is answered with 300, over loopback; client and server share the measuring process, and all requests",
			"carry a key. *New* sends a new key each time, on the memory store; *replay* the same key again.",
		},
	}
	return table, underLoad(ctx, cfg, table, []window.Contender{
		{Name: "bare handler", Cycle: bare.poster(true)},
		{Name: "Semel, new", Cycle: guarded.poster(true)},
		{Name: "Semel, replay", Cycle: guarded.poster(false)},
	}, 1, 16, 64)
}

func answerRequest(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, answerBody)
}

func memoryMiddleware() (func(http.Handler) http.Handler, error) {
	store, err := memstore.New(nil)
	if err != nil {
		return nil, err
	}
	engine, err := semel.New(store, nil)
	if err != nil {
		return nil, err
	}
	return semelhttp.New(engine, semelhttp.Global, &semelhttp.Options{Retention: 31 * time.Second})
}

func serveHTTP(h http.Handler) (*server, func()) {
	srv := httptest.NewServer(h)
	return &server{url: srv.URL, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024}}}, srv.Close
}
