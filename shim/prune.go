package shim

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// startPrune starts shimctl prune once a day, where the configuration asks for it.
// The call has ended and nothing waits for it: it is a process in a session of its
// own, without the caller's streams.
func (c *call) startPrune() {
	if !c.config.Prune.Auto {
		return
	}
	due, err := c.ledger.ClaimPrune(millis(c.env.Now()))
	if err != nil {
		c.log.fault("see whether to prune", err)
	}
	if !due {
		return
	}
	cmd := exec.Command(filepath.Join(filepath.Dir(executablePath()), "shimctl"), "prune")
	cmd.Env, cmd.Dir = c.env.Environ, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	keepInherited()
	if err := cmd.Start(); err != nil {
		c.log.fault("start prune", err)
	}
}

// keepInherited lets no descriptor that the caller left open get into processes
// that we start from now on: somebody may be waiting for its end.
func keepInherited() {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // a system without it
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
