package demo

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

// A second Ctrl-C does not wait for what the first one lets finish.
func TestSecondInterrupt(t *testing.T) {
	t.Parallel()
	d := start(t)
	page := strings.TrimPrefix(d.url, "http://")
	conn, err := net.Dial("tcp", page)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// A request without its body keeps the page from stopping.
	fmt.Fprintf(conn, "POST /shop/charges HTTP/1.1\r\nHost: %s\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n", page)
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	d.cmd.Process.Signal(os.Interrupt)
	for { // until the first is being acted on
		probe, err := net.Dial("tcp", page)
		if err != nil {
			break
		}
		probe.Close()
	}
	d.cmd.Process.Signal(os.Interrupt)
	state, err := ended(d.cmd)
	if err != nil {
		t.Fatal(err)
	}
	if status, ok := state.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Errorf("the demo ended by itself (%v), not by the second signal", state)
	}
}
