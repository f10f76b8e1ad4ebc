package harness

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// leftovers counts the processes that still work in the world after a moment, and ends them.
func (w *World) leftovers() int {
	var pids []int
	Until(time.Second, func() bool { pids = w.Processes(); return len(pids) == 0 })
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it might have ended at this moment
	}
	return len(pids)
}

// Processes returns the processes in the world's working directory.
func (w *World) Processes() (pids []int) {
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
