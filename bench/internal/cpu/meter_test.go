package cpu

import (
	"io"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

func TestMeterCountsLivingAndEndedDescendantsOfAServer(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("servers are counted on Linux only")
	}
	const busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done"
	for what, script := range map[string]string{
		"living": "read begin; (" + busy + "; exec cat) & wait",
		"ended":  "read begin; (" + busy + " >/dev/null) & wait; echo done; read end",
	} {
		if used := extra(t, script); used < 50*time.Millisecond {
			t.Errorf("a busy child that has %s counts %v", what, used)
		}
	}
}

// extra runs a shell as a server until it says done, and returns its part of the
// CPU time.
func extra(t *testing.T, script string) time.Duration {
	server := exec.CommandContext(t.Context(), "sh", "-c", script)
	in, inErr := server.StdinPipe()
	out, outErr := server.StdoutPipe()
	if inErr != nil || outErr != nil {
		t.Fatal(inErr, outErr)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Wait()
	defer in.Close()
	m := NewMeter(server.Process.Pid)
	before := tree(server.Process.Pid)
	if _, err := io.WriteString(in, "\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	if m.Used() < tree(server.Process.Pid) {
		t.Error("the server is not part of the sum")
	}
	return tree(server.Process.Pid) - before
}
