package proxy

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"

	"github.com/semel-go/semel"
)

// upstream sends requests to the guarded service.
//
// Guarded requests go over HTTP/1.1 alone: there, what was written of a request
// is known exactly, and that decides whether it can be run again. All others may
// use HTTP/2 where a TLS upstream offers it.
type upstream struct {
	guarded, plain *http.Transport
	patience       patience
}

// patience is how long the upstream is waited for; 0 is for ever.
type patience struct {
	idle   time.Duration // of a connection that nobody uses
	answer time.Duration // until an answer begins
	stall  time.Duration // of a guarded exchange that has begun, without progress
	stream time.Duration // the same of an event stream
}

func newUpstream(p patience) *upstream {
	unguarded := p
	unguarded.stall = 0 // it holds no key, and may be a conversation
	return &upstream{guarded: newTransport(p, false), plain: newTransport(unguarded, true), patience: p}
}

// newTransport returns a transport tuned for one upstream: as many idle
// connections as there is concurrency, bodies passed on as they are, no proxy
// from the environment.
func newTransport(p patience, http2 bool) *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(http2)
	return &http.Transport{
		DialContext:            counted(dialer.DialContext, p.stall),
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    5 * time.Second,
		MaxIdleConnsPerHost:    1024,
		IdleConnTimeout:        p.idle,
		ResponseHeaderTimeout:  p.answer,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
		Protocols:              &protocols,
	}
}

// close frees idle connections.
func (u *upstream) close() {
	u.guarded.CloseIdleConnections()
	u.plain.CloseIdleConnections()
}

// RoundTrip sends r once. Its error is a *silence.
func (u *upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	if isGuarded(r) {
		return u.watched(r)
	}
	return roundTrip(u.plain, r)
}

func roundTrip(transport *http.Transport, r *http.Request) (*http.Response, error) {
	var s sent
	res, err := transport.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), s.trace())))
	if err != nil {
		return nil, &silence{written: s.anything(), err: err}
	}
	return res, nil
}

func isGuarded(r *http.Request) bool {
	_, ok := semel.FenceFrom(r.Context())
	return ok
}

// silence is an upstream that gave no whole answer.
type silence struct {
	written bool // bytes of the request may have reached the upstream
	err     error
}

func (s *silence) Error() string { return s.err.Error() }
func (s *silence) Unwrap() error { return s.err }
