package proxy

import (
	"context"
	"fmt"
	"os"

	"github.com/semel-go/semel/cmd/semel/internal/settings"
)

// Reload makes cfg the configuration of all requests that come from now on; those
// under way finish on the one that they began with, and none is dropped. What
// cannot change while the process runs stays as it is and is named in the log.
// An error changes nothing.
func (s *Server) Reload(ctx context.Context, cfg *settings.Proxy) error {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	err := s.reload(ctx, cfg)
	s.metrics.Reloaded(err)
	return err
}

func (s *Server) reload(ctx context.Context, cfg *settings.Proxy) error {
	former := s.keys
	if err := s.reloadKeys(ctx, cfg); err != nil {
		return err
	}
	if err := s.install(cfg); err != nil {
		s.keys = former
		return err
	}
	for _, name := range cfg.RestartNeeded(s.cfg) {
		s.log.Warn("a changed setting counts after a restart only", "setting", name)
	}
	cfg.KeepFixed(s.cfg)
	s.cfg = cfg
	s.log.Info(fmt.Sprintf("reloaded: guarding %s", s.guarding()), "routes", len(cfg.Routes), "principal", cfg.Principal.String(), "on-unknown", s.onUnknown())
	for _, sentence := range cfg.Warnings() {
		s.log.Warn(sentence)
	}
	return nil
}

// reloadKeys reads the key set anew. One that cannot be read now goes on with its
// last good keys; another one has to be there.
func (s *Server) reloadKeys(ctx context.Context, cfg *settings.Proxy) error {
	if s.keys != nil && cfg.JWT.Keys == s.cfg.JWT.Keys {
		s.keys.Refresh(ctx) // reports its failure itself
		return nil
	}
	keys, err := s.openKeys(ctx, cfg)
	if err == nil {
		s.keys = keys
	}
	return err
}

// Watch reloads at each signal until ctx ends, with the settings that load
// returns then. If they are wrong the old ones stay, and the log says why.
func (s *Server) Watch(ctx context.Context, signals <-chan os.Signal, load func() (*settings.Proxy, error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
		}
		cfg, err := load()
		if err == nil {
			err = s.Reload(ctx, cfg)
		} else {
			s.metrics.Reloaded(err)
		}
		if err != nil {
			s.log.Error("not reloaded: the configuration is as it was", "error", err)
		}
	}
}
