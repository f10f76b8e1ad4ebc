package shim

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// feed writes what was read of a stdin, and then what is still to come of it, until the end or until nobody reads
// it any more.
func (s staged) feed(to, rest *os.File) error {
	defer to.Close()
	if _, err := io.WriteString(to, s.data); err != nil {
		return err
	}
	_, err := io.Copy(to, rest)
	return err
}

// carry runs the real binary as it was called, on a stdin of which a part has been read already: becoming it would
// leave nobody to hand on that part before the rest.
func (c *call) carry() int {
	t, err := c.target()
	if err != nil {
		return c.cannotRun(err)
	}
	if err := c.signals.catch(); err != nil {
		return c.cannotRun(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return c.cannotRun(err)
	}
	environ := with(c.env.Environ, guardEnv, c.guard.with(t.id, os.Getpid()))
	p, err := start(t.path, c.env.Args, environ, [3]*os.File{r, c.env.Stdout, c.env.Stderr}, false)
	r.Close()
	if err != nil {
		return c.cannotRun(err)
	}
	go func() {
		err := c.stdin.feed(w, c.env.Stdin)
		if err != nil && !errors.Is(err, syscall.EPIPE) {
			c.log.fault("hand on stdin", err)
		}
		c.env.Stdin.Close() // so that who writes it learns that nobody reads
	}()
	for {
		select {
		case <-c.signals.arrived:
			if sig := c.signals.take(); sig != nil {
				p.forward(sig)
			}
		case <-c.signals.children:
			if st, ended := p.look(); ended {
				p.witness.dismiss()
				p.witness.close()
				return st.leave()
			}
		}
	}
}
