package demo

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"
)

// Options are the settings of a [Demo]. The zero value of each field means its
// default.
type Options struct {
	// Listen is the page's address, on loopback. Default 127.0.0.1:8088, or a free
	// port where that one is taken.
	Listen string
	// Version is what the gateway says it is. Default "devel".
	Version string
	// Log receives what the gateway logs. Default: nothing does.
	Log *slog.Logger
	// CardTime is how long the shop's card network takes. Default 400ms.
	CardTime time.Duration
	// RestartTime is how long a dead shop stays down. Default 800ms.
	RestartTime time.Duration
	// Wait is how long the gateway lets a duplicate wait. Default 3s.
	Wait time.Duration
	// Pace is how long a step of a scheme can be read before the next one. Default 500ms.
	Pace time.Duration
}

// slowTime is how long a slow card network takes: longer than a duplicate waits.
func (o *Options) slowTime() time.Duration { return o.Wait + time.Second }

const defaultListen = "127.0.0.1:8088"

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Version == "" {
		c.Version = "devel"
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.CardTime == 0 {
		c.CardTime = 400 * time.Millisecond
	}
	if c.RestartTime == 0 {
		c.RestartTime = 800 * time.Millisecond
	}
	if c.Wait == 0 {
		c.Wait = 3 * time.Second
	}
	return c
}

// listen opens the page's listener. Only an address that nobody asked for may be
// replaced by another one.
func listen(addr string) (net.Listener, error) {
	if addr == "" {
		if l, err := net.Listen("tcp", defaultListen); err == nil {
			return l, nil
		}
		return net.Listen("tcp", anyPort)
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("--listen: %q is no address; write HOST:PORT, such as %s", addr, defaultListen)
	}
	if !isLoopback(host) {
		return nil, fmt.Errorf("--listen: %s can be reached from other machines, and the demo lets everybody charge and resolve; use a loopback address such as %s", addr, defaultListen)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", errors.Join(err, errors.New("choose another port, or leave --listen out for a free one")))
	}
	return l, nil
}

const anyPort = "127.0.0.1:0"

// isLoopback reports whether a host, without port, names this machine alone.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
