package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"reprise/fleet/store"
)

// Serve reads the configuration and requests from in until it ends, and writes the answers to out. It
// returns once all requests have been carried out. open must return without waiting for the store; the
// error is the answer to every request.
func Serve(ctx context.Context, in io.Reader, out io.Writer, open func(context.Context, Config) (Service, error)) error {
	lines := json.NewDecoder(bufio.NewReader(in))
	var g greeting
	if err := lines.Decode(&g); err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	s := &server{out: out}
	if g.Protocol != protocol {
		s.openError = fmt.Errorf("%w: the helper and the program that started it are of different versions", store.ErrUnreachable)
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
	service   Service
	openError error
	running   sync.WaitGroup

	writing sync.Mutex
	out     io.Writer
}

// serve answers one request.
func (s *server) serve(ctx context.Context, q request) {
	if s.openError != nil {
		a := answer{}
		a.encodeError(s.openError)
		_ = s.write(q.ID, a)
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(q.Timeout, func() {
		cancel(fmt.Errorf("%w: no answer within %s", store.ErrUnreachable, q.Timeout))
	})
	defer timer.Stop()
	a, err := s.do(ctx, q, func(a answer) error {
		timer.Reset(q.Timeout)
		a.More = true
		return s.write(q.ID, a)
	})
	if err != nil {
		a.encodeError(err)
	}
	_ = s.write(q.ID, a) // a client that has gone needs no answer
}

// do carries a request out. It passes all answers but the last to more.
func (s *server) do(ctx context.Context, q request, more func(answer) error) (a answer, err error) {
	name, root := q.Register.Name, string(q.Root)
	send := func(r store.Register) error { return more(answer{Register: r}) }
	switch q.Verb {
	case verbHello:
		a.Digests, err = s.service.Hello(ctx)
	case verbRead:
		a.Register, err = s.service.Read(ctx, name)
	case verbList:
		var list []store.Register
		list, a.Others, err = s.service.List(ctx, name, q.Limit)
		for _, r := range list {
			err = errors.Join(err, send(r))
		}
	case verbSwap:
		a.Version, err = s.service.Swap(ctx, name, q.Register.Version, q.Register.Value)
	case verbRegisters:
		err = s.service.Registers(ctx, name.Kind, send)
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

// write writes one answer.
func (s *server) write(id int64, a answer) error {
	a.ID = id
	line, err := json.Marshal(a)
	if err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err = s.out.Write(append(line, '\n'))
	return err
}
