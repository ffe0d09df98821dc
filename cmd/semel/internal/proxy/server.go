package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/admin"
	"github.com/semel-go/semel/cmd/semel/internal/crash"
	"github.com/semel-go/semel/cmd/semel/internal/metrics"
	"github.com/semel-go/semel/cmd/semel/internal/settings"
	"github.com/semel-go/semel/cmd/semel/internal/storeurl"
	"github.com/semel-go/semel/cmd/semel/internal/token"
)

// Server is a running gateway: listeners, engine and store.
type Server struct {
	log     *slog.Logger
	timeout time.Duration // of stopping
	metrics *metrics.Metrics
	store   *storeurl.Handle
	engine  *semel.Engine
	admin   *admin.Admin
	keys    *token.Keys // nil where no token is read
	fronts  []*front
	failed  chan error // of a listener

	reloading sync.Mutex // guards cfg and keys once the server runs
	cfg       *settings.Proxy
	current   atomic.Pointer[Gateway]
}

// Start opens the store, listens and serves. [Server.Run] has to follow.
func Start(ctx context.Context, cfg *settings.Proxy, version string, log *slog.Logger) (*Server, error) {
	s := &Server{cfg: cfg, timeout: cfg.ShutdownTimeout, log: log, metrics: metrics.New(version), failed: make(chan error, 2)}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	for _, f := range s.fronts {
		go func() { s.failed <- f.serve() }()
	}
	s.announce(ctx)
	return s, nil
}

func (s *Server) open(ctx context.Context) error {
	secret, err := settings.ReadSecret(s.cfg.SecretFile)
	if err != nil {
		return err
	}
	if s.store, err = openStore(ctx, s.cfg); err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	if ask := s.store.Connections; ask != nil {
		s.metrics.StoreConnections(func() (inUse, idle, most int) { c := ask(); return c.InUse, c.Idle, c.Max })
	}
	if s.engine, err = semel.New(crash.Store(s.store.Store), EngineOptions(s.cfg, secret, s.log, newDoubtLog(s.metrics, s.log))); err != nil {
		return err
	}
	if s.keys, err = s.openKeys(ctx, s.cfg); err != nil {
		return err
	}
	if err := s.install(s.cfg); err != nil {
		return err
	}
	s.admin = admin.New(admin.NewChecker(s.engine, s.store.Present, s.metrics.SelfChecked).Check, s.metrics.Handler())
	return s.listen(http.HandlerFunc(s.serve))
}

func openStore(ctx context.Context, cfg *settings.Proxy) (*storeurl.Handle, error) {
	if cfg.NoMigrate {
		return storeurl.OpenMigrated(ctx, cfg.Store)
	}
	return storeurl.Open(ctx, cfg.Store)
}

// serve takes a request through the configuration of the moment.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) { s.current.Load().ServeHTTP(w, r) }

// install makes a configuration the one of new requests. Those under way stay on
// the one that they began with.
func (s *Server) install(cfg *settings.Proxy) error {
	gateway, err := New(cfg, Deps{Engine: s.engine, Log: s.log, Metrics: s.metrics, Keys: s.keys, ReadFile: os.ReadFile})
	if err != nil {
		return err
	}
	s.metrics.Expect(operations(cfg))
	if former := s.current.Swap(gateway); former != nil {
		former.Close()
	}
	return nil
}

// openKeys reads the key set, if tokens are to be read.
func (s *Server) openKeys(ctx context.Context, cfg *settings.Proxy) (*token.Keys, error) {
	if cfg.JWT.Keys == "" {
		return nil, nil
	}
	keys, err := token.Open(ctx, cfg.JWT.Keys, s.keysRead)
	if err != nil {
		return nil, fmt.Errorf("--jwks: %w", err)
	}
	return keys, nil
}

func (s *Server) keysRead(err error) {
	s.metrics.KeySetRead(err)
	if err != nil {
		s.log.Warn("the key set could not be read; the last good keys count", "error", err)
	}
}

func (s *Server) listen(handler http.Handler) error {
	tlsConfig, err := loadTLS(s.cfg.TLS)
	if err != nil {
		return err
	}
	if err := s.addFront("listen", s.cfg.Listen, newServer(handler, tlsConfig, s.log)); err != nil {
		return err
	}
	if s.cfg.Admin == "" {
		return nil
	}
	return s.addFront("admin", s.cfg.Admin, newServer(s.admin, nil, s.log))
}

func (s *Server) addFront(flag, addr string, server *http.Server) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("--%s: %w; choose another address", flag, err)
	}
	s.fronts = append(s.fronts, &front{server: server, listener: listener})
	return nil
}

// Addr is where clients connect.
func (s *Server) Addr() string { return s.fronts[0].addr() }

// AdminAddr is where the admin endpoints are, empty if they are off.
func (s *Server) AdminAddr() string {
	if len(s.fronts) < 2 {
		return ""
	}
	return s.fronts[1].addr()
}

// Run serves until ctx ends or a listener fails, then stops: no new requests,
// running ones finish and are recorded, pending saves get through, the store is
// closed. An error says what was left.
func (s *Server) Run(ctx context.Context) error {
	var err error
	select {
	case err = <-s.failed:
	case <-ctx.Done():
		s.log.Info("stopping: running requests finish and are recorded", "timeout", s.timeout)
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	err = errors.Join(err, s.close(stop))
	if err == nil {
		s.log.Info("stopped: all requests are recorded")
	}
	return err
}

// close stops what is open, in the order in which one needs the other. The admin
// address answers until the end.
func (s *Server) close(ctx context.Context) error {
	var errs []error
	if s.admin != nil {
		s.admin.Stopping()
	}
	if len(s.fronts) > 0 {
		errs = append(errs, s.fronts[0].stop(ctx))
	}
	if s.engine != nil {
		errs = append(errs, s.engine.Close(ctx))
	}
	if len(s.fronts) > 1 {
		errs = append(errs, s.fronts[1].stop(ctx))
	}
	if gateway := s.current.Load(); gateway != nil {
		gateway.Close()
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	return errors.Join(errs...)
}
