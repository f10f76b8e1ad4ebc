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
// It returns once all requests have been carried out. open must return without waiting for the
// store; the error is the answer to every request.
func Serve(ctx context.Context, in io.Reader, out io.Writer,
	open func(context.Context, Config) (store.Shared, error)) error {
	lines := json.NewDecoder(bufio.NewReader(in))
	var g greeting
	if err := lines.Decode(&g); err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	s := &server{out: json.NewEncoder(out)}
	if g.Protocol != protocol {
		s.openError = fmt.Errorf("%w: the helper is of another version than the program that "+
			"started it",
			store.ErrUnreachable)
	} else {
		s.service, s.openError = open(ctx, g.Config)
	}
	defer s.running.Wait()
	for {
		var q request
		if err := lines.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		s.running.Go(func() { s.serve(ctx, q) })
	}
}

type server struct {
	service   store.Shared
	openError error
	running   sync.WaitGroup

	writing sync.Mutex // one line at a time
	out     *json.Encoder
}

func (s *server) serve(ctx context.Context, q request) {
	cause := fmt.Errorf("%w: no answer within %s", store.ErrUnreachable, q.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, q.Timeout, cause)
	defer cancel()
	a, err := s.do(ctx, q)
	if err != nil {
		a.encodeError(err)
	}
	a.ID = q.ID
	s.writing.Lock()
	defer s.writing.Unlock()
	_ = s.out.Encode(a) // a client that has gone needs no answer
}

// do carries a request out.
func (s *server) do(ctx context.Context, q request) (a answer, err error) {
	if s.openError != nil {
		return a, s.openError
	}
	name, root := q.Register.Name, string(q.Root)
	switch q.Verb {
	case verbList:
		a.Registers, a.Others, err = s.service.List(ctx, name, q.Limit)
	case verbSwap:
		a.Version, err = s.service.Swap(ctx, name, q.Register.Version, q.Register.Value)
	case verbRemove:
		err = s.service.Remove(ctx, q.Register)
	case verbSave:
		a.Bundle, err = s.service.Save(ctx, root, q.Paths)
	case verbLoad:
		err = s.service.Load(ctx, q.Bundle, root, q.Paths, q.Replace)
	case verbDrop:
		err = s.service.Drop(ctx, q.Names...)
	default:
		err = fmt.Errorf("unknown request %q", q.Verb)
	}
	return a, err
}
