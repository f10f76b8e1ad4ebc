package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"reprise/ledger"

	"golang.org/x/sys/unix"
)

// steps are the system calls with which a shim changes anything, or starts or ends a process. A
// call is killed before each of them.
var steps = []uint64{unix.SYS_OPENAT, unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_FTRUNCATE,
	unix.SYS_FSYNC, unix.SYS_FDATASYNC,
	unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_UNLINKAT, unix.SYS_MKDIRAT, unix.SYS_FCNTL,
	unix.SYS_FLOCK, unix.SYS_FCHMOD,
	unix.SYS_MEMFD_CREATE, unix.SYS_PIPE2, unix.SYS_CLONE, unix.SYS_CLONE3, unix.SYS_WAITID,
	unix.SYS_WAIT4, unix.SYS_EXIT_GROUP}

var crashKinds = []kind{
	killed("while it makes the ledger", 1, func(w *world) {
		w.must(os.RemoveAll(w.state("")))
	}, nil),
	killed("in a fresh call", 1, func(w *world) {}, nil),
	killed("in a resumed call", 2, func(w *world) {
		w.call(call{prompt: job(0), task: "killed"})
	}, nil),
	killed("while its outcome waits for the ledger", 2,
		func(w *world) { w.call(call{prompt: job(0), task: "killed"}) }, (*world).lockAtEnd),
	killed("while it records another's outcome", 3, (*world).spooled, nil),
	failing("a write fails once", unix.EIO, unix.SYS_PWRITE64),
	failing("the disk is full once", unix.ENOSPC, unix.SYS_PWRITE64, unix.SYS_FTRUNCATE),
	failing("fsync fails once", unix.EIO, unix.SYS_FSYNC, unix.SYS_FDATASYNC),
	failing("a read fails once", unix.EIO, unix.SYS_PREAD64),
	failing("a lock fails once", unix.ENOLCK, unix.SYS_FCNTL, unix.SYS_FLOCK),
	failing("a file cannot be opened once", unix.EMFILE, unix.SYS_OPENAT),
	failing("no pipe and no memory file can be made", unix.EMFILE, unix.SYS_PIPE2,
		unix.SYS_MEMFD_CREATE),
}

// killed is a call that is killed at each of its steps. prepare restores the world before each, and
// during, if not nil, runs at every step.
func killed(name string, round int, prepare, during func(*world)) kind {
	return kind{"kill -9", name, func(w *world) {
		w.use()
		c := call{prompt: job(round), task: "killed"}
		for step := rand.IntN(stride); ; step += stride {
			prepare(w)
			n := 0
			died, err := w.trace(c, func(_ int, info *syscallInfo) (kill bool) {
				if during != nil {
					during(w)
				}
				if info.op == opEntry && slices.Contains(steps, info.nr) {
					n++
				}
				return n > step
			})
			w.release()
			if err != nil {
				w.skip(err)
				return
			}
			w.settled(round, died)
			if !died {
				return
			}
		}
	}}
}

// settled checks the state that a killed call has left.
func (w *world) settled(round int, died bool) {
	l, err := ledger.Open(w.Ledger())
	if err != nil {
		w.lose("%v", err)
		return
	}
	w.wait(func() bool { return !w.held(l) })
	if err := errors.Join(l.Check(), l.Close()); err != nil {
		w.lose("%v", err)
	}
	// Half a file of an outcome goes after an hour.
	half, _ := filepath.Glob(w.Ledger() + ".spool/*.tmp") // a constant pattern
	for _, path := range half {
		w.must(os.Chtimes(path, time.Time{}, time.Now().Add(-2*time.Hour)))
	}
	w.call(call{prompt: job(round + 1), task: "killed"})
	w.resumes(call{prompt: job(round + 2), task: "killed"}, true)
	if slices.ContainsFunc(w.runs(), midTurn) {
		w.lose("a session was resumed in the midst of a turn")
	}
	for _, dir := range []string{w.Ledger() + ".spool", w.Tmp} {
		if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
			w.lose("%s is left, %v", entries[0].Name(), died)
		}
	}
}

// lockAtEnd locks the ledger, as another program would, once the tool runs.
func (w *world) lockAtEnd() {
	if w.unlock != nil || w.begun == w.started() {
		return
	}
	db := w.open()
	// The call itself is stopped meanwhile, so waiting for it would never end.
	if _, err := db.Exec("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE"); err != nil {
		w.must(db.Close())
		return // the call is just writing: try at the next step
	}
	w.unlock = func() { w.must(db.Close()) }
}

// release releases the lock of lockAtEnd.
func (w *world) release() {
	if w.unlock != nil {
		w.unlock()
		w.unlock = nil
	}
}

// spooled makes a call with an outcome that goes to the spool.
func (w *world) spooled() {
	w.call(call{prompt: job(0), task: "killed"})
	if _, err := w.trace(call{prompt: job(1), task: "killed"}, func(int, *syscallInfo) bool {
		w.lockAtEnd()
		return false
	}); err != nil {
		w.skip(err)
	}
	w.release()
}

// failing is a call in which each of the system calls fails in turn.
func failing(name string, errno unix.Errno, calls ...uint64) kind {
	return kind{"errors", name, func(w *world) {
		w.use()
		round := 1
		for step := rand.IntN(max(1, stride/4)); ; step += max(1, stride/4) {
			n, failed, runs := 0, false, false
			died, err := w.trace(call{prompt: job(round), task: "failing"},
				func(tid int, info *syscallInfo) bool {
					// before, the program is only being loaded
					runs = runs || info.nr == unix.SYS_CLONE || info.nr == unix.SYS_CLONE3
					if runs && info.op == opEntry && slices.Contains(calls, info.nr) {
						if n++; n == step+1 {
							failed = true
							if err := skipSyscall(tid, errno); err != nil {
								w.skip(err)
							}
						}
					}
					return false
				})
			if err != nil {
				w.skip(err)
				return
			}
			if died {
				w.lose("it died")
			}
			if !failed || w.skips != nil {
				break
			}
			round++
			w.call(call{prompt: job(round), task: "failing"})
		}
		w.whole()
	}}
}

// trace makes a call and passes every system call of the shim to look. It kills the shim if look
// returns true. A call that survives must end as the tool would.
func (w *world) trace(c call, look func(tid int, info *syscallInfo) (kill bool)) (died bool,
	err error) {
	runtime.LockOSThread() // only the thread that starts a process can trace it
	defer runtime.UnlockOSThread()
	w.begun = w.started()
	out, err := os.Create(filepath.Join(w.Root, "out"))
	if err != nil {
		return false, err
	}
	defer out.Close()
	cmd := w.command(c)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return false, fmt.Errorf("trace a process: %w", err)
	}
	status, err := follow(cmd, look)
	if err != nil {
		return false, errors.Join(err, cmd.Process.Kill())
	}
	if status.Signaled() && status.Signal() == syscall.SIGKILL {
		return true, nil
	}
	text, err := os.ReadFile(out.Name())
	if err != nil || string(text) != answer+"\n" || !status.Exited() || status.ExitStatus() != 0 {
		w.lose("a traced call ended with %#x and %q, %v", status, text, err)
	}
	return false, nil
}

func follow(cmd *exec.Cmd, look func(int, *syscallInfo) bool) (status syscall.WaitStatus,
	err error) {
	pid := cmd.Process.Pid
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		return status, err
	}
	if err := syscall.PtraceSetOptions(pid,
		unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL); err != nil {
		return status, fmt.Errorf("trace a process: %w", err)
	}
	for tid, sig := pid, 0; ; {
		if err := syscall.PtraceSyscall(tid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return status, err
		}
		for {
			if tid, err = syscall.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil); err == nil {
				break
			} else if !errors.Is(err, syscall.EINTR) {
				return status, err
			}
		}
		sig = 0
		switch {
		case status.Exited(), status.Signaled():
			if tid == pid {
				return status, nil
			}
		case status.StopSignal() == syscall.SIGTRAP|0x80:
			if info := readSyscall(tid); info != nil && look(tid, info) {
				if err := cmd.Process.Kill(); err != nil {
					return status, err
				}
			}
		case status.StopSignal() != syscall.SIGTRAP && status.StopSignal() != syscall.SIGSTOP:
			sig = int(status.StopSignal())
		}
	}
}

// A syscallInfo is the start of struct ptrace_syscall_info.
type syscallInfo struct {
	op   uint8
	_    [3]uint8
	_    uint32
	_, _ uint64
	nr   uint64 // at an entry
	args [6]uint64
	_, _ uint64
}

const opEntry = 1

func readSyscall(tid int) *syscallInfo {
	var info syscallInfo
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO,
		uintptr(tid),
		unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		return nil // it was killed at this moment
	}
	return &info
}
