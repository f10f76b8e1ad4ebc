package ledger

import (
	"database/sql"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Process names a process beyond the life of its pid.
type Process struct {
	Boot  string // id of the boot it runs under
	PID   int
	Start int64 // its start time in the system's ticks, 0 where that is not known
}

// ThisProcess names the calling process.
func ThisProcess() Process { return ProcessOf(os.Getpid()) }

// ProcessOf names the process that has pid now.
func ProcessOf(pid int) Process {
	return Process{Boot: bootID(), PID: pid, Start: startTime(pid)}
}

// Alive reports whether the process still runs. A pid that another process has
// taken over, and one of an earlier boot, is not alive.
func (p Process) Alive() bool { return p.aliveIn(bootID(), exists, startTime) }

func (p Process) aliveIn(boot string, exists func(pid int) bool, start func(pid int) int64) bool {
	return p.PID > 0 && p.Boot == boot && exists(p.PID) && (p.Start == 0 || p.Start == start(p.PID))
}

func exists(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// bootID is "" on systems that do not tell; there pid and liveness must do.
var bootID = sync.OnceValue(func() string {
	return strings.TrimSpace(systemFile("/proc/sys/kernel/random/boot_id"))
})

// systemFile returns a short file of the system's, "" where it is not there: os.ReadFile
// makes nine calls of the system for what takes three.
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

// stat returns the fields of /proc/PID/stat from the third on, the state; none where
// the system does not tell. The command's name before it may hold spaces and
// brackets.
func stat(pid int) []string {
	text := systemFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
}

// startTime is a process's start in the system's ticks, 0 where that is not known.
// A process that is dead but not yet waited for counts as gone.
func startTime(pid int) int64 {
	fields := stat(pid)
	if len(fields) == 0 {
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

type queryer interface {
	QueryRow(query string, args ...any) *sql.Row
}

// A lease is who holds a session: the shim that took it, and the tool it started,
// which may outlive it.
type lease struct{ shim, child Process }

// held reports whether one of them lives. Both run under the boot of the first.
func (l lease) held() bool {
	l.child.Boot = l.shim.Boot
	return l.shim.Alive() || l.child.Alive()
}

// held reports whether a live process holds the session.
func held(q queryer, session int64) (bool, error) {
	var l lease
	err := q.QueryRow("SELECT boot, pid, pid_start, child, child_start FROM leases WHERE session_id = ?", session).
		Scan(&l.shim.Boot, &l.shim.PID, &l.shim.Start, &l.child.PID, &l.child.Start)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil && l.held(), err
}

func takeLease(tx *sql.Tx, session int64, p Process, now Millis) error {
	_, err := tx.Exec("INSERT OR REPLACE INTO leases (session_id, boot, pid, pid_start, taken) VALUES (?, ?, ?, ?, ?)",
		session, p.Boot, p.PID, p.Start, now)
	return err
}
