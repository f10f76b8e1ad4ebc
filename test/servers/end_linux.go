package servers

import (
	"os/exec"
	"syscall"
)

// endWithUs lets the kernel kill a server after the test was killed.
func endWithUs(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
