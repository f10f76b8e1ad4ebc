package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"reprise/fleet/store"
)

// Serve reads the configuration and requests from in until it ends, and writes the answers to out.
// It returns once all requests have been carried out, and reads on meanwhile: a client can have
// given one up. open must return without waiting for the store; the error is the answer to every
// request.
func Serve(ctx context.Context, in io.Reader, out io.Writer,
	open func(context.Context, Config) (store.Shared, error)) error {
	lines, answers := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	var g greeting
	if err := lines.Decode(&g); err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	var opened store.Shared
	failed := fmt.Errorf("%w: the helper is of another version than the program that started it",
		store.ErrUnreachable)
	if g.Protocol == protocol {
		opened, failed = open(ctx, g.Config)
	}
	var writing sync.Mutex // one line at a time
	var running sync.WaitGroup
	defer running.Wait()
	for {
		var q request
		if err := lines.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		running.Go(func() {
			a, err := answer{}, failed
			if err == nil {
				a, err = do(ctx, opened, q)
			}
			if err != nil {
				a.encodeError(err)
			}
			a.ID = q.ID
			writing.Lock()
			defer writing.Unlock()
			_ = answers.Encode(a) // a client that has gone needs no answer
		})
	}
}

// do carries a request out.
func do(ctx context.Context, s store.Shared, q request) (a answer, err error) {
	cause := fmt.Errorf("%w: no answer within %s", store.ErrUnreachable, q.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, q.Timeout, cause)
	defer cancel()
	name, root := q.Register.Name, string(q.Root)
	switch q.Verb {
	case verbList:
		a.Registers, a.Others, err = s.List(ctx, name, q.Limit)
	case verbSwap:
		a.Version, err = s.Swap(ctx, name, q.Register.Version, q.Register.Value)
	case verbRemove:
		err = s.Remove(ctx, q.Register)
	case verbSave:
		a.Bundle, err = s.Save(ctx, root, q.Paths)
	case verbLoad:
		err = s.Load(ctx, q.Bundle, root, q.Paths, q.Replace)
	case verbDrop:
		err = s.Drop(ctx, q.Names...)
	default:
		err = fmt.Errorf("unknown request %q", q.Verb)
	}
	return a, err
}
