package main

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

// measuredOn says when and on what a table was measured.
func measuredOn() string {
	memory := ""
	if gigabytes := memoryGB(); gigabytes > 0 {
		memory = fmt.Sprintf(", %.0f GB of memory", gigabytes)
	}
	return fmt.Sprintf("*Measured on %s: %d cores%s, %s/%s, %s.*\n", time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), memory,
		runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// memoryGB is 0 where there is no /proc.
func memoryGB() float64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	kilobytes := 0.0
	if _, err := fmt.Sscanf(string(text), "MemTotal: %f kB", &kilobytes); err != nil {
		return 0
	}
	return kilobytes / (1 << 20)
}
