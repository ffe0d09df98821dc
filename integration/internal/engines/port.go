package engines

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// freePort finds a port of the loopback. It lies below those that the kernel gives to
// outgoing connections, so that nobody gets it while its server is down.
func freePort() (int, error) {
	var last error
	for range 100 {
		port := 15000 + rand.IntN(15000)
		l, err := net.Listen("tcp", loopback(port))
		if err == nil {
			return port, l.Close()
		}
		last = err
	}
	return 0, fmt.Errorf("no free port: %w", last)
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
