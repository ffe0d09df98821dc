package security

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/semel-go/semel/integration/internal/gateway"
)

const mib = 1 << 20

var peakLine = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`)

// peak is the most memory in bytes that the process has had so far.
func peak(t *testing.T, p *gateway.Process) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	line := peakLine.FindSubmatch(status)
	if line == nil {
		t.Fatalf("no peak in %s", status)
	}
	kib, err := strconv.ParseInt(string(line[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// wantPeak reports the peak, which must not be over limit bytes.
func wantPeak(t *testing.T, p *gateway.Process, what string, limit int64) {
	t.Helper()
	got := peak(t, p)
	fmt.Printf("figures: %s: peak memory of the gateway %d MiB\n", what, got/mib)
	if got > limit {
		t.Errorf("%s took %d MiB, at most %d are allowed", what, got/mib, limit/mib)
	}
}
