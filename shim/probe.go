package shim

import (
	"context"
	"os/exec"
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
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, tool.HelpArgs()...)
	cmd.Env = environ
	help, err := cmd.Output()
	if err != nil {
		return rewrite.Probe{}
	}
	return tool.Options(string(help))
}
