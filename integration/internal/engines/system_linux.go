package engines

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes make a process that ends with the thread that started it, stands in a
// group of its own, so that Ctrl-C does not reach it before its owner, and is not root.
func (a account) attributes(death syscall.Signal) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: death}
	if a.other {
		attr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
	return attr
}

// tree is a process and all that descend from it.
func tree(pid int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		if s, ok := readStat(path); ok {
			children[s.parent] = append(children[s.parent], s.pid)
		}
	}
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// stat is what the kernel says of a process or thread; see proc_pid_stat(5).
type stat struct {
	pid, parent int
	state       byte
}

func readStat(path string) (s stat, ok bool) {
	text, err := os.ReadFile(path)
	// The name stands in brackets and may hold anything.
	end := bytes.LastIndexByte(text, ')')
	if err != nil || end < 0 {
		return stat{}, false
	}
	if s.pid, err = strconv.Atoi(filepath.Base(filepath.Dir(path))); err != nil {
		return stat{}, false
	}
	_, err = fmt.Sscanf(string(text[end+1:]), " %c %d", &s.state, &s.parent)
	return s, err == nil
}

// ended says that it runs no more, though its parent may not have waited for it.
func (s stat) ended() bool { return s.state == 'Z' || s.state == 'X' }

// gone says that a process runs no more.
func gone(pid int) bool {
	s, ok := readStat(fmt.Sprintf("/proc/%d/stat", pid))
	return !ok || s.ended()
}

// halted says that no thread of a process runs.
func halted(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, path := range threads {
		if s, ok := readStat(path); ok && s.state != 'T' && !s.ended() {
			return false
		}
	}
	return true
}

// lock waits for the exclusive lock of a folder, or with wait false tries to take it.
// It ends with the file.
func lock(dir *os.File, wait bool) error {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	return unix.Flock(int(dir.Fd()), how)
}

// removeSharedMemory removes a segment that a killed process has left.
func removeSharedMemory(id int) {
	// It may be gone already, which is as well.
	_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
}
