package proxy

import (
	"github.com/semel-go/semel/cmd/semel/internal/settings"
	"github.com/semel-go/semel/cmd/semel/internal/webhook"
)

// readSenders reads the secrets of all senders of webhooks whose signatures are
// checked.
func (g *Gateway) readSenders() error {
	g.senders = map[string]*webhook.Verifier{}
	for _, route := range g.cfg.Routes {
		if route.Verify == "" {
			continue
		}
		if err := g.readSender(route); err != nil {
			return inRoute(route, err)
		}
	}
	return nil
}

func (g *Gateway) readSender(route settings.Route) error {
	text, err := g.deps.ReadFile(route.Verify)
	if err != nil {
		return err
	}
	g.senders[route.Verify], err = webhook.Parse(string(text))
	return err
}
