package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"reprise/fleet/store"
)

// A Client asks the helper. The methods are safe for concurrent use: a request waits until the one
// before has its answer, or waits for it no more.
type Client struct {
	helper *os.Process   // nil if Start has not started it
	ended  chan struct{} // closed when it has

	mu      sync.Mutex // one request at a time
	last    int64
	out     io.WriteCloser
	answers chan answer

	live context.Context // its cause is why the helper answers no more
	// fail ends all requests: after half a line, or nonsense, nothing that follows can be trusted.
	fail context.CancelCauseFunc
}

var _ store.Shared = (*Client)(nil)

// NewClient returns a client of a helper that reads out and writes in. It sends the configuration,
// so that the helper connects before the first request.
func NewClient(in io.Reader, out io.WriteCloser, config Config) *Client {
	c := &Client{out: out, answers: make(chan answer)}
	c.live, c.fail = context.WithCancelCause(context.Background())
	go c.receive(in)
	if err := c.send(greeting{protocol, config}, time.Now().Add(longest)); err != nil {
		c.fail(err)
	}
	return c
}

// Close tells the helper to end once it has carried out all requests. It does not wait for that.
func (c *Client) Close() error { return c.out.Close() }

// List implements store.Shared.
func (c *Client) List(ctx context.Context,
	name store.Name, limit int) (registers []store.Register, more bool, err error) {
	a, err := c.call(ctx, request{Verb: verbList,
		Register: store.Register{Name: name}, Limit: limit})
	return a.Registers, a.Others, err
}

// Swap implements store.Shared. Without an answer the error is ErrUnknown and ErrUnreachable.
func (c *Client) Swap(ctx context.Context, name store.Name,
	old string, value []byte) (version string, err error) {
	a, err := c.call(ctx, request{Verb: verbSwap,
		Register: store.Register{Name: name, Version: old, Value: value}})
	if err == nil && a.Version == "" {
		err = lost(verbSwap, errors.New("the helper answered without a version"))
	}
	return a.Version, err
}

// Remove implements store.Shared.
func (c *Client) Remove(ctx context.Context, r store.Register) error {
	_, err := c.call(ctx, request{Verb: verbRemove, Register: r})
	return err
}

// Save implements store.Shared.
func (c *Client) Save(ctx context.Context, root string, paths []string) (store.Bundle, error) {
	a, err := c.call(ctx, request{Verb: verbSave, Root: []byte(root), Paths: paths})
	if err == nil && a.Bundle.Name == "" {
		err = fmt.Errorf("%w: the helper answered without a bundle", store.ErrUnreachable)
	}
	return a.Bundle, err
}

// Load implements store.Shared.
func (c *Client) Load(ctx context.Context, b store.Bundle, root string,
	paths, replace []string) error {
	_, err := c.call(ctx, request{Verb: verbLoad, Bundle: b, Root: []byte(root),
		Paths: paths, Replace: replace})
	return err
}

// Drop implements store.Shared.
func (c *Client) Drop(ctx context.Context, names ...string) error {
	_, err := c.call(ctx, request{Verb: verbDrop, Names: names})
	return err
}

// longest is the limit of a request if the context has no deadline.
const longest = time.Minute

func (c *Client) call(ctx context.Context, q request) (answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, longest)
		defer cancel()
	}
	if err := cmp.Or(context.Cause(c.live), context.Cause(ctx)); err != nil {
		return answer{}, fmt.Errorf("%w: %w", store.ErrUnreachable, err)
	}
	c.last++
	q.ID = c.last
	deadline, _ := ctx.Deadline()
	limit := time.Until(deadline)
	// the helper knows best how the request ended: it answers first
	q.Timeout = (limit - limit/20).Round(time.Millisecond)
	if err := c.send(q, deadline); err != nil {
		c.fail(err)
		return answer{}, lost(q.Verb, err)
	}
	a, err := c.wait(ctx, q.ID, limit)
	if err != nil {
		return answer{}, lost(q.Verb, err)
	}
	return a, a.decodeError()
}

// wait returns the answer to the request with this ID. Other answers came too late.
func (c *Client) wait(ctx context.Context, id int64, limit time.Duration) (answer, error) {
	for {
		select {
		case a := <-c.answers:
			if a.ID == id {
				return a, nil
			}
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), context.DeadlineExceeded) { // which is the limit
				return answer{}, fmt.Errorf("no answer within %s", limit.Round(time.Millisecond))
			}
			return answer{}, context.Cause(ctx)
		case <-c.live.Done():
			return answer{}, context.Cause(c.live)
		}
	}
}

// lost returns the error of a request that was sent and has no answer.
func lost(verb string, err error) error {
	if verb == verbSwap || verb == verbRemove {
		return fmt.Errorf("%w: %w: %w", store.ErrUnknown, store.ErrUnreachable, err)
	}
	return fmt.Errorf("%w: %w", store.ErrUnreachable, err)
}

func (c *Client) send(message any, deadline time.Time) error {
	if pipe, ok := c.out.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = pipe.SetWriteDeadline(deadline) // where it is not supported the helper reads anyway
	}
	return json.NewEncoder(c.out).Encode(message)
}

// receive passes answers on until the helper ends. The last one is taken before the end is known.
func (c *Client) receive(in io.Reader) {
	decoder := json.NewDecoder(in)
	for {
		var a answer
		if err := decoder.Decode(&a); err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the helper has ended")
			}
			c.fail(err)
			return
		}
		c.answers <- a
	}
}

// Start starts the helper at path and returns a client of it without waiting for an answer. The
// helper has a separate session, so that no signal for the caller's process group reaches it, and
// ends when the client is closed or the process ends. It writes to none of the caller's streams.
// start starts a command without the descriptors that the caller has left open.
func Start(path string, environ []string, start func(*exec.Cmd) error,
	config Config) (*Client, error) {
	in, answers, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrUnreachable, err)
	}
	defer answers.Close()
	cmd := exec.Command(path)
	cmd.Env, cmd.Stdout = environ, answers
	cmd.Dir = "/" // nothing that the caller removes or unmounts is in use
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdinPipe()
	if err == nil {
		err = start(cmd)
	}
	if err != nil {
		in.Close()
		return nil, fmt.Errorf("%w: start the helper: %w", store.ErrUnreachable, err)
	}
	c := NewClient(in, out, config)
	c.helper, c.ended = cmd.Process, make(chan struct{})
	go func() {
		_ = cmd.Wait() // the end shows on the pipe
		close(c.ended)
	}()
	return c, nil
}

// Stop ends the helper and waits for that: the program that this one becomes must not find a child.
func (c *Client) Stop() {
	_ = c.helper.Kill() // fails only if it has ended
	<-c.ended
}
