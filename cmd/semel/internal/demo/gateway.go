package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/semel-go/semel/cmd/semel/internal/proxy"
	"github.com/semel-go/semel/cmd/semel/internal/settings"
)

// credential is what the demo's only customer authenticates with.
const credential = "Bearer demo-customer"

// gateway is a gateway as `semel proxy` runs it.
type gateway struct {
	server *proxy.Server
	flags  []string
	stop   context.CancelFunc
	done   chan error // of Run, once
}

// startGateway runs semel proxy with flags that a person could have typed.
func startGateway(ctx context.Context, shop, file string, o Options) (*gateway, error) {
	g := &gateway{done: make(chan error, 1), flags: []string{
		"--upstream=http://" + shop,
		"--principal=header:Authorization",
		"--require-key",
		"--wait=" + o.Wait.String(),
	}}
	fs := pflag.NewFlagSet("proxy", pflag.ContinueOnError)
	settings.AddProxyFlags(fs)
	places := []string{"--store=sqlite:" + file, "--listen=" + anyPort, "--admin=" + anyPort, "--shutdown-timeout=3s"}
	if err := fs.Parse(append(places, g.flags...)); err != nil {
		return nil, fmt.Errorf("the gateway: %w", err)
	}
	cfg, err := settings.Read(fs)
	if err != nil {
		return nil, fmt.Errorf("the gateway: %w", err)
	}
	if g.server, err = proxy.Start(ctx, cfg, o.Version, o.Log); err != nil {
		return nil, fmt.Errorf("the gateway: %w", err)
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	g.stop = stop
	go func() { g.done <- g.server.Run(running) }()
	return g, nil
}

// command is what starts such a gateway in front of a service of one's own.
func (g *gateway) command() string { return "semel proxy " + strings.Join(g.flags, " ") }

func (g *gateway) close() error {
	g.stop()
	return <-g.done
}
