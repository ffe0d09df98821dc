package proxy

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/semel-go/semel"
)

// announce logs the line that says what runs here, then what an operator should
// know of it.
func (s *Server) announce(ctx context.Context) {
	scheme := "http"
	if s.cfg.TLS.Cert != "" {
		scheme = "https"
	}
	admin := s.AdminAddr()
	if admin == "" {
		admin = "off"
	}
	s.log.Info(fmt.Sprintf("listening on %s://%s, guarding %s, records in %s", scheme, s.Addr(), s.guarding(), s.store.Name),
		"listen", s.Addr(), "admin", admin, "routes", len(s.cfg.Routes), "principal", s.cfg.Principal.String(), "on-unknown", s.onUnknown())
	for _, sentence := range s.cfg.Warnings() {
		s.log.Warn(sentence)
	}
	if admin != "off" && !isLoopback(admin) {
		s.log.Warn("the admin address " + admin + " can be reached from other machines: keep it inside a trusted network")
	}
	s.announceStore(ctx)
}

// announceStore logs what the store promises, in its own words.
func (s *Server) announceStore(ctx context.Context) {
	for _, sentence := range s.store.Warnings {
		s.log.Warn(sentence)
	}
	g, err := s.store.Store.Guarantees(ctx, semel.GuaranteesParams{})
	if err != nil {
		s.log.Warn("the store does not say what it promises", "error", err)
		return
	}
	s.log.Info("what the store keeps", "after-a-kill", g.SurvivesProcess.String(), "after-a-power-loss", g.SurvivesPowerLoss.String())
	for _, fact := range g.Facts {
		s.log.Info(fact)
	}
	for _, note := range g.Notes {
		s.log.Warn(note)
	}
}

func (s *Server) guarding() string {
	return fmt.Sprintf("%s of %s", strings.Join(s.cfg.Methods, ", "), s.cfg.Upstream)
}

func (s *Server) onUnknown() string {
	if s.cfg.Hold {
		return "hold"
	}
	return "retry"
}

func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}
