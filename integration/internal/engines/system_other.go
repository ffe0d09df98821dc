//go:build !linux

package engines

import (
	"os"
	"syscall"
)

// Elsewhere than on Linux nothing is started: group.open says so before any of these
// are called.

func (a account) attributes(syscall.Signal) *syscall.SysProcAttr { return nil }

func tree(pid int) []int { return []int{pid} }

func gone(int) bool { return true }

func halted(int) bool { return true }

func lock(*os.File, bool) error { return nil }

func removeSharedMemory(int) {}
