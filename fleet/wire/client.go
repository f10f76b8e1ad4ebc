package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"reprise/fleet/store"
)

// A Client asks the helper. It implements store.Registers and store.Bundles. The methods are safe for
// concurrent use, and answers can arrive in any order.
type Client struct {
	config Config
	helper *os.Process   // nil if Start has not started it
	ended  chan struct{} // closed when it has

	writing sync.Mutex // one line at a time
	out     io.WriteCloser

	mu      sync.Mutex
	last    int64
	waiting map[int64]chan answer
	err     error         // why the helper answers no more
	dead    chan struct{} // closed when err is set
}

var (
	_ store.Registers = (*Client)(nil)
	_ store.Bundles   = (*Client)(nil)
)

// NewClient returns a client of a helper that reads out and writes in. It sends the configuration, so
// that the helper connects before the first request.
func NewClient(in io.Reader, out io.WriteCloser, config Config) *Client {
	c := &Client{config: config, out: out, waiting: map[int64]chan answer{}, dead: make(chan struct{})}
	go c.receive(in)
	if err := c.send(greeting{protocol, c.config}, time.Now().Add(c.config.Timeout)); err != nil {
		c.fail(err)
	}
	return c
}

// Close tells the helper to end once it has carried out all requests. It does not wait for that.
func (c *Client) Close() error { return c.out.Close() }

// Hello returns, without asking the store, the key for digests of prompts.
func (c *Client) Hello(ctx context.Context) ([]byte, error) {
	a, err := c.call(ctx, request{Verb: verbHello}, nil)
	if err == nil && len(a.Digests) == 0 {
		err = fmt.Errorf("%w: the helper answered without a key", store.ErrUnreachable)
	}
	return a.Digests, err
}

// Read implements store.Registers.
func (c *Client) Read(ctx context.Context, name store.Name) (store.Register, error) {
	a, err := c.call(ctx, request{Verb: verbRead, Register: store.Register{Name: name}}, nil)
	return a.Register, err
}

// List implements store.Registers.
func (c *Client) List(ctx context.Context, name store.Name, limit int) (registers []store.Register, more bool, err error) {
	a, err := c.call(ctx, request{Verb: verbList, Register: store.Register{Name: name}, Limit: limit}, func(a answer) {
		registers = append(registers, a.Register)
	})
	return registers, a.Others, err
}

// Swap implements store.Registers. If the helper does not answer, the error is both ErrUnknown and ErrUnreachable.
func (c *Client) Swap(ctx context.Context, name store.Name, old string, value []byte) (version string, err error) {
	a, err := c.call(ctx, request{Verb: verbSwap, Register: store.Register{Name: name, Version: old, Value: value}}, nil)
	if err == nil && a.Version == "" {
		err = lost(verbSwap, errors.New("the helper answered without a version"))
	}
	return a.Version, err
}

// Registers returns all registers of a kind, without those that this key does not unseal.
func (c *Client) Registers(ctx context.Context, kind string) (registers []store.Register, err error) {
	_, err = c.call(ctx, request{Verb: verbRegisters, Register: store.Register{Name: store.Name{Kind: kind}}}, func(a answer) {
		registers = append(registers, a.Register)
	})
	return registers, err
}

// Remove removes a register if it still has this version. It fails with ErrMoved otherwise.
func (c *Client) Remove(ctx context.Context, r store.Register) error {
	_, err := c.call(ctx, request{Verb: verbRemove, Register: r}, nil)
	return err
}

// Save implements store.Bundles.
func (c *Client) Save(ctx context.Context, root string, paths []string) (store.Bundle, error) {
	a, err := c.call(ctx, request{Verb: verbSave, Root: []byte(root), Paths: paths}, nil)
	if err == nil && a.Bundle.Name == "" {
		err = fmt.Errorf("%w: the helper answered without a bundle", store.ErrUnreachable)
	}
	return a.Bundle, err
}

// Load implements store.Bundles.
func (c *Client) Load(ctx context.Context, b store.Bundle, root string, paths, replace []string) error {
	_, err := c.call(ctx, request{Verb: verbLoad, Bundle: b, Root: []byte(root), Paths: paths, Replace: replace}, nil)
	return err
}

// Drop implements store.Bundles.
func (c *Client) Drop(ctx context.Context, names ...string) error {
	_, err := c.call(ctx, request{Verb: verbDrop, Names: names}, nil)
	return err
}

// call sends a request and returns the last answer; each is called with those before it. The time
// limit starts again with every answer.
func (c *Client) call(ctx context.Context, q request, each func(answer)) (answer, error) {
	limit := c.limit(ctx, q.Verb)
	if limit <= 0 || ctx.Err() != nil {
		return answer{}, fmt.Errorf("%w: %w", store.ErrUnreachable, context.Cause(ctx))
	}
	q.Timeout = limit - limit/20 // the helper knows best what became of the request: it answers first
	answers, err := c.register(&q)
	if err != nil {
		return answer{}, err
	}
	defer c.forget(q.ID)
	if err := c.send(q, time.Now().Add(limit)); err != nil {
		c.fail(err)
		return answer{}, lost(q.Verb, err)
	}
	for {
		a, err := c.next(ctx, answers, limit)
		if err != nil {
			return answer{}, lost(q.Verb, err)
		}
		if err := a.decodeError(); err != nil {
			return answer{}, err
		}
		if !a.More {
			return a, nil
		}
		if each == nil {
			return answer{}, lost(q.Verb, errors.New("the helper answered twice"))
		}
		each(a)
	}
}

// next returns the next answer of a request.
func (c *Client) next(ctx context.Context, answers <-chan answer, limit time.Duration) (answer, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case a := <-answers:
		return a, nil
	case <-timer.C:
		return answer{}, fmt.Errorf("no answer within %s", limit.Round(time.Millisecond))
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) { // which is the limit
			return answer{}, fmt.Errorf("no answer within %s", limit.Round(time.Millisecond))
		}
		return answer{}, context.Cause(ctx)
	case <-c.dead:
	}
	select {
	case a := <-answers: // it arrived before the helper ended
		return a, nil
	default:
		return answer{}, c.err
	}
}

// limit returns how long a request can take.
func (c *Client) limit(ctx context.Context, verb string) time.Duration {
	limit := c.config.Timeout
	if verb == verbSave || verb == verbLoad {
		limit = c.config.UploadTimeout
	}
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline))
	}
	return limit
}

// lost returns the error of a request that was sent and has no answer.
func lost(verb string, err error) error {
	if verb == verbSwap || verb == verbRemove {
		return fmt.Errorf("%w: %w: %w", store.ErrUnknown, store.ErrUnreachable, err)
	}
	return fmt.Errorf("%w: %w", store.ErrUnreachable, err)
}

// register numbers a request and returns where the answers arrive.
func (c *Client) register(q *request) (<-chan answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrUnreachable, c.err)
	}
	c.last++
	q.ID = c.last
	answers := make(chan answer, 1)
	c.waiting[q.ID] = answers
	return answers, nil
}

func (c *Client) forget(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answers := c.waiting[id]; answers != nil {
		delete(c.waiting, id)
		select {
		case <-answers: // frees receive if it waits for room
		default:
		}
	}
}

// send writes one line.
func (c *Client) send(message any, deadline time.Time) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if pipe, ok := c.out.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = pipe.SetWriteDeadline(deadline) // where it is not supported the helper reads anyway
	}
	_, err = c.out.Write(append(line, '\n'))
	return err
}

// receive passes answers on until the helper ends.
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
		c.mu.Lock()
		answers := c.waiting[a.ID]
		c.mu.Unlock()
		if answers != nil {
			answers <- a
		}
	}
}

// fail ends all requests: after half a line, or nonsense, nothing that follows can be trusted.
func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
		close(c.dead)
	}
}
