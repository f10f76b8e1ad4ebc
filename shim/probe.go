package shim

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"

	"reprise/rewrite"
)

// probeTimeout bounds the one --help that a new binary is asked for; gemini takes
// more than two seconds to start.
const probeTimeout = 10 * time.Second

// learn asks the real binary's own help for the options it knows. Each binary is
// asked once; the answer is kept in the ledger.
func (c *call) learn() rewrite.Probe {
	if _, err := c.target(); err != nil {
		return rewrite.Probe{}
	}
	if c.openLedger() != "" {
		return rewrite.Probe{} // asking at every call would be felt
	}
	fingerprint := c.real.fingerprint()
	probe, known, err := c.ledger.Probe(fingerprint)
	if err != nil {
		c.log.fault("read probe", err)
		return rewrite.Probe{}
	}
	if known {
		return probe
	}
	probe = Ask(c.tool, c.real.path, c.env.Environ)
	if c.preview {
		return probe
	}
	if err := c.ledger.SetProbe(fingerprint, probe, millis(c.env.Now())); err != nil {
		c.log.fault("keep probe", err)
	}
	return probe
}

// Ask runs a binary for its help, without stdin and terminal, and reads the answer.
func Ask(tool rewrite.Tool, path string, environ []string) rewrite.Probe {
	help, err := ask(path, environ, probeTimeout, tool.HelpArgs()...)
	if err != nil {
		return rewrite.Probe{}
	}
	return tool.Options(string(help))
}

// ask returns what a program prints. It takes no longer than the limit, whatever the program leaves behind: what
// still holds its output is not waited for, and what runs when the time is up is killed. A session of its own
// keeps it from the terminal, and makes it and its children one group.
func ask(path string, environ []string, limit time.Duration, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = limit / 20
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it has ended well, and left a child with its output
	}
	return out, err
}
