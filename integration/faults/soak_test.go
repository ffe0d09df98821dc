package faults

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// soak is for how long the tests go on that can.
func soak(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("SEMEL_SOAK")
	if text == "" {
		return 0
	}
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < 0 {
		t.Fatalf("SEMEL_SOAK=%q is no number of seconds", text)
	}
	return time.Duration(seconds) * time.Second
}
