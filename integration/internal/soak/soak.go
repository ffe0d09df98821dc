// Package soak says how long the tests go on that can go on: those of killed workers and
// servers, of accidents and of many callers. In make test they are short; make soak sets
// the environment for hours.
package soak

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// Kills is the number of workers to kill for each engine: SEMEL_KILLS, or 100.
func Kills(t testing.TB) int { return number(t, "SEMEL_KILLS", 100) }

// Duration is for how long a test repeats itself: SEMEL_SOAK in seconds, or 0, for once.
func Duration(t testing.TB) time.Duration {
	return time.Duration(number(t, "SEMEL_SOAK", 0)) * time.Second
}

func number(t testing.TB, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s=%q is no number", name, text)
	}
	return n
}
