// Package cpu reads how much CPU time processes have used.
package cpu

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Meter adds up the CPU time of this process, of the children that it has waited
// for, and of servers with all their processes and threads. Servers count on Linux
// only. What a server's thread used after the last reading, before it ended, is lost.
type Meter struct {
	mu      sync.Mutex
	servers []int
	last    map[string]time.Duration // of each thread, by its file in /proc
	total   time.Duration            // of the servers
}

// NewMeter counts this process and the servers with these process ids.
func NewMeter(servers ...int) *Meter {
	return &Meter{servers: servers, last: map[string]time.Duration{}}
}

// Used is the CPU time used so far. Only differences between two readings mean
// something.
func (m *Meter) Used() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, pid := range m.servers {
		m.read(pid)
	}
	return m.total + used(syscall.RUSAGE_SELF) + used(syscall.RUSAGE_CHILDREN)
}

// read adds what the threads of a process and of its descendants have used since the
// last reading.
func (m *Meter) read(pid int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, t := range threads {
		now := onCPU(t)
		m.total += max(0, now-m.last[t])
		m.last[t] = now
		for _, child := range children(t) {
			m.read(child)
		}
	}
}

// onCPU is the CPU time of a thread, 0 when it has ended.
func onCPU(thread string) time.Duration {
	text, err := os.ReadFile(filepath.Join(thread, "schedstat"))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	ns, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(ns)
}

// children are the processes that a thread has started.
func children(thread string) (pids []int) {
	text, err := os.ReadFile(filepath.Join(thread, "children"))
	if err != nil {
		return nil
	}
	for field := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func used(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
