// Package proc identifies processes beyond the life of their PIDs. It knows nothing of their work.
//
// Invariant: two processes that had the same PID one after the other are never equal.
package proc

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Process identifies a process beyond the life of the PID.
type Process struct {
	Boot      string `json:"boot"`      // ID of the boot it runs under
	Namespace string `json:"namespace"` // of the PID, "" if not known
	PID       int    `json:"pid"`
	Start     int64  `json:"start"` // the start time in the system's ticks, 0 if not known
}

// This identifies the calling process.
func This() Process { return ByPID(os.Getpid()) }

// ByPID identifies the process that has pid now.
func ByPID(pid int) Process {
	return Process{Boot: BootID(), Namespace: namespace(), PID: pid, Start: startTime(pid)}
}

// Alive reports whether the process still runs, as far as this process can see it. If another
// process has taken over the PID, or the system was rebooted, it does not.
func (p Process) Alive() bool { return !p.Hidden() && p.aliveIn(BootID(), exists, startTime) }

// Hidden reports whether the process belongs to another PID namespace of the current boot, as a
// container has one: whether it still runs is not known here.
func (p Process) Hidden() bool {
	return p.PID > 0 && p.Boot == BootID() && p.Namespace != "" && p.Namespace != namespace()
}

// namespace identifies the PID namespace of this process, "" if the system has none.
var namespace = sync.OnceValue(func() string {
	name, _ := os.Readlink("/proc/self/ns/pid") // "" if it fails
	return name
})

func (p Process) aliveIn(boot string, exists func(pid int) bool, start func(pid int) int64) bool {
	return p.PID > 0 && p.Boot == boot && exists(p.PID) && (p.Start == 0 || p.Start == start(p.PID))
}

func exists(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// BootID identifies the current boot, "" if the system does not report it. There, the PID and
// whether it exists must suffice.
var BootID = sync.OnceValue(func() string {
	return strings.TrimSpace(systemFile("/proc/sys/kernel/random/boot_id"))
})

// systemFile returns the content of a short system file, "" if it does not exist. It makes three
// system calls where os.ReadFile makes nine.
func systemFile(path string) string {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	var text [1024]byte
	n, _ := unix.Read(fd, text[:])
	return string(text[:max(n, 0)])
}

// startTime returns a process's start time in the system's ticks, 0 if not known. A zombie counts
// as gone.
func startTime(pid int) int64 {
	text := systemFile("/proc/" + strconv.Itoa(pid) + "/stat")
	// from the state on: the command's name before it can contain spaces and parentheses
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) == 0 { // the system has no such file
		return 0
	}
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return -1
	}
	start, err := strconv.ParseInt(fields[19], 10, 64)
	if err != nil {
		return 0
	}
	return start
}
