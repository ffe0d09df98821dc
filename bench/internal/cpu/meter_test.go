package cpu

import (
	"io"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

func TestMeterCountsDescendantsOfAServer(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("servers are counted on Linux only")
	}
	// The shell's child is busy until it is told to end.
	server := exec.CommandContext(t.Context(), "sh", "-c", "(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done; read end) & wait")
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	with, without := NewMeter(server.Process.Pid), NewMeter()
	begin, beginWithout := with.Used(), without.Used()
	if _, err := io.ReadFull(out, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	if extra := (with.Used() - begin) - (without.Used() - beginWithout); extra < 10*time.Millisecond {
		t.Errorf("a busy grandchild counts %v", extra)
	}
}
