package security

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// Threat: the gateway is used to reach other hosts. Whatever a request names, only
// the configured upstream is connected to.
func TestOtherHostsAreNotReached(t *testing.T) {
	t.Parallel()
	elsewhere, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Close()
	up := newStrictUpstream(t)
	host := address(start(t, up.url()))
	addr := elsewhere.Addr().String()
	requests := []string{
		"POST http://" + addr + "/ HTTP/1.1\r\nHost: shop\r\n",
		"POST / HTTP/1.1\r\nHost: " + addr + "\r\n",
		"POST //" + addr + "/ HTTP/1.1\r\nHost: shop\r\n",
		"POST / HTTP/1.1\r\nHost: shop\r\nX-Forwarded-Host: " + addr + "\r\nForwarded: host=" + addr + "\r\n",
		"CONNECT " + addr + " HTTP/1.1\r\nHost: " + addr + "\r\n",
	}
	for i, head := range requests {
		got := exchange(t, host, fmt.Sprintf("%sX-Tenant: alice\r\nIdempotency-Key: k-%d\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", head, i))
		wantStatus(t, got, " 200 ")
	}
	if got := len(up.messages()); got != len(requests) {
		t.Errorf("the upstream got %d requests of %d", got, len(requests))
	}
	for _, m := range up.messages() {
		if !m.has("Host: "+up.Addr().String()) || strings.Contains(m.head, "Forwarded: host") {
			t.Errorf("the upstream got %q", m)
		}
	}
	elsewhere.Close() // whoever had connected would be waiting here
	if conn, err := elsewhere.Accept(); err == nil {
		t.Errorf("%s came", conn.RemoteAddr())
	}
}
