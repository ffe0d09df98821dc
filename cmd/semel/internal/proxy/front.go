package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/semel-go/semel/cmd/semel/internal/settings"
)

// front is a server on its listener.
type front struct {
	server   *http.Server
	listener net.Listener
}

func (f *front) addr() string { return f.listener.Addr().String() }

// serve returns nil once the front was stopped.
func (f *front) serve() error {
	serve := f.server.Serve
	if f.server.TLSConfig != nil {
		serve = func(l net.Listener) error { return f.server.ServeTLS(l, "", "") }
	}
	if err := serve(f.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("the listener on %s failed: %w", f.addr(), err)
	}
	return nil
}

// stop lets running requests finish until ctx ends, then cuts them.
func (f *front) stop(ctx context.Context) error {
	defer f.listener.Close() // which the server does not know before serve
	if err := f.server.Shutdown(ctx); err != nil {
		f.server.Close()
		return fmt.Errorf("requests that still ran on %s at the end of --shutdown-timeout were cut: %w", f.addr(), err)
	}
	return nil
}

// newServer speaks HTTP/1.1 and HTTP/2, the latter also without TLS. Bodies have
// their time limit where they are waited for.
func newServer(h http.Handler, tlsConfig *tls.Config, log *slog.Logger) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(tlsConfig != nil)
	protocols.SetUnencryptedHTTP2(tlsConfig == nil)
	return &http.Server{
		Handler:           h,
		TLSConfig:         tlsConfig,
		Protocols:         &protocols,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// loadTLS returns nil where no certificate is named.
func loadTLS(files settings.TLS) (*tls.Config, error) {
	if files.Cert == "" {
		return nil, nil
	}
	cert, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}}
	if files.ClientCA == "" {
		return config, nil
	}
	config.ClientAuth = tls.VerifyClientCertIfGiven
	config.ClientCAs, err = loadPool(files.ClientCA)
	return config, err
}

func loadPool(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--tls-client-ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("--tls-client-ca: %s holds no certificate in PEM form", file)
	}
	return pool, nil
}
