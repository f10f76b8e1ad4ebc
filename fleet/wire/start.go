package wire

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"reprise/fleet/store"
)

// Start starts the helper at path and returns a client of it without waiting for an answer. The helper
// has a separate session, so that no signal for the caller's process group reaches it, and ends when
// the client is closed or the process ends. It writes to none of the caller's streams.
func Start(path string, environ []string, config Config) (*Client, error) {
	requests, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrUnreachable, err)
	}
	defer requests.Close()
	in, answers, err := os.Pipe()
	if err != nil {
		out.Close()
		return nil, fmt.Errorf("%w: %w", store.ErrUnreachable, err)
	}
	defer answers.Close()
	cmd := exec.Command(path)
	cmd.Env = environ
	cmd.Dir = "/" // nothing that the caller removes or unmounts is in use
	cmd.Stdin, cmd.Stdout = requests, answers
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		out.Close()
		in.Close()
		return nil, fmt.Errorf("%w: start the helper: %w", store.ErrUnreachable, err)
	}
	c := NewClient(in, out, config)
	c.helper, c.ended = cmd.Process, make(chan struct{})
	go func() {
		_ = cmd.Wait() // its end shows on the pipe
		close(c.ended)
	}()
	return c, nil
}

// farewell is how long the helper has to end by itself.
const farewell = 100 * time.Millisecond

// Stop ends the helper and waits for that: a program that this process becomes would wonder at a child.
func (c *Client) Stop() {
	_ = c.Close() // fails only if it is closed
	select {
	case <-c.ended:
		return
	case <-time.After(farewell):
	}
	_ = c.helper.Kill() // fails only if it has ended
	<-c.ended
}
