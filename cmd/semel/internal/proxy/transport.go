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
}

func newUpstream(idle, answer time.Duration) *upstream {
	return &upstream{guarded: newTransport(idle, answer, false), plain: newTransport(idle, answer, true)}
}

// newTransport returns a transport tuned for one upstream: as many idle
// connections as there is concurrency, bodies passed on as they are, no proxy
// from the environment.
func newTransport(idle, answer time.Duration, http2 bool) *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(http2)
	return &http.Transport{
		DialContext:            counted(dialer.DialContext),
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    5 * time.Second,
		MaxIdleConnsPerHost:    1024,
		IdleConnTimeout:        idle,
		ResponseHeaderTimeout:  answer,
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
	transport := u.plain
	if isGuarded(r) {
		transport = u.guarded
	}
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
