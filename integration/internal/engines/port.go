package engines

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// freePort finds a port of the loopback that no other server of this process has, even
// if that is down. It lies below those that the kernel gives to outgoing connections, so
// that nobody gets it while its server is down.
func (g *group) freePort() (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ports == nil {
		g.ports = make(map[int]bool)
	}
	var last error
	for range 100 {
		port := 15000 + rand.IntN(15000)
		if g.ports[port] {
			continue
		}
		g.ports[port] = true
		l, err := net.Listen("tcp", loopback(port))
		if err == nil {
			return port, l.Close()
		}
		last = err
	}
	return 0, fmt.Errorf("no free port: %w", last)
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
