package twin

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// leftovers counts the processes that still work in the world after a moment, and ends them.
func (w *World) leftovers() int {
	pids := w.processes()
	for deadline := time.Now().Add(time.Second); len(pids) > 0 && time.Now().Before(deadline); pids = w.processes() {
		time.Sleep(20 * time.Millisecond)
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended at this moment
	}
	return len(pids)
}

// processes returns the processes whose working directory is the world's.
func (w *World) processes() (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range dirs {
		dir, err := os.Readlink(link)
		if err != nil || dir != w.Project && !strings.HasPrefix(dir, w.Project+"/") {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// terminal creates a pseudo-terminal.
func terminal() (ours, theirs *os.File, err error) {
	if ours, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	theirs, err = os.OpenFile(filepath.Join("/dev/pts", fmt.Sprint(n)), os.O_RDWR|unix.O_NOCTTY, 0)
	return ours, theirs, err
}
