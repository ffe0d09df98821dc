// Package cpu reads how much CPU time processes have used.
package cpu

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Meter adds up the CPU time of this process, of the children that it has waited
// for, and of servers with all their threads and descendants, living and ended.
// Servers count on Linux only.
type Meter struct{ servers []int }

// NewMeter counts this process and the servers with these process ids.
func NewMeter(servers ...int) *Meter { return &Meter{servers} }

// Used is the CPU time used so far. Only differences between two readings mean
// something.
func (m *Meter) Used() time.Duration {
	used := rusage(syscall.RUSAGE_SELF) + rusage(syscall.RUSAGE_CHILDREN)
	for _, pid := range m.servers {
		used += tree(pid)
	}
	return used
}

func rusage(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// tree is the time of a process, of its living descendants, and of the ended ones
// that were waited for.
func tree(pid int) time.Duration {
	own, ended := ticks(pid)
	exact := time.Duration(0)
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, t := range threads {
		exact += onCPU(t)
	}
	// The kernel's sum is coarse, but does not forget threads that have ended.
	used := max(own, exact) + ended
	for _, t := range threads {
		for _, child := range children(t) {
			used += tree(child)
		}
	}
	return used
}

// tick is the unit of the times in /proc/PID/stat.
const tick = 10 * time.Millisecond

// ticks are the times of a process and of its children that have ended; see
// proc_pid_stat(5).
func ticks(pid int) (own, ended time.Duration) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The name stands in brackets and may hold anything.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if err != nil || len(fields) < 15 {
		return 0, 0
	}
	return number(fields[11])*tick + number(fields[12])*tick, number(fields[13])*tick + number(fields[14])*tick
}

// onCPU is the time of a thread, 0 when it has ended.
func onCPU(thread string) time.Duration {
	text, err := os.ReadFile(filepath.Join(thread, "schedstat"))
	if err != nil {
		return 0
	}
	nanoseconds, _, _ := strings.Cut(string(text), " ")
	return number(nanoseconds)
}

func number(text string) time.Duration {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n)
}

// children are the processes that a thread has started.
func children(thread string) (pids []int) {
	text, err := os.ReadFile(filepath.Join(thread, "children"))
	if err != nil {
		return nil
	}
	for field := range strings.FieldsSeq(string(text)) {
		pids = append(pids, int(number(field)))
	}
	return pids
}
