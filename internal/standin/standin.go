// Package standin is a stand-in for the model APIs that the tools use: Anthropic Messages, OpenAI
// Responses, Gemini generateContent and chat completions. The demo and the tests run the real CLIs
// against it, without an account and without a network.
//
// Invariant: an answer depends only on the request. Only usage figures depend on the past: a prompt
// that begins like an earlier one is reported as read from the cache.
//
// It never connects to another address, listens only on a loopback address, and never stores or
// logs a credential.
package standin

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Options configure a Server. The zero value is the usual configuration.
type Options struct {
	// Addr is the loopback address to listen on, 127.0.0.1:0 if empty.
	Addr string
	// Log receives one line of JSON for each request, if it is not nil.
	Log io.Writer
	// Measure counts the tokens of a prompt, and the tokens among them that the provider's cache
	// has. An error is the provider's about the request. If it is nil, the cache has all that was
	// sent before.
	Measure func(Prompt) (Tokens, error)
	// Reply returns the model's answer, if it is not nil and returns true; else that is "ok".
	Reply func(Request) (Reply, bool)
}

// A Server is a running stand-in.
type Server struct {
	options Options
	url     string
	http    *http.Server
	done    chan error

	mu       sync.Mutex
	requests []Request
	logErr   error
}

// Start starts a stand-in. The caller closes it.
func Start(options Options) (*Server, error) {
	listener, err := listen(options.Addr)
	if err != nil {
		return nil, err
	}
	s := &Server{
		options: options,
		url:     "http://" + listener.Addr().String(),
		done:    make(chan error, 1),
	}
	if options.Measure == nil {
		s.options.Measure = (&cache{seen: map[digest]bool{}}).measure
	}
	s.http = &http.Server{Handler: s}
	go func() { s.done <- s.http.Serve(listener) }()
	return s, nil
}

// listen rejects everything but a literal loopback address: a name could resolve to any address.
func listen(addr string) (net.Listener, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	literal, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, fmt.Errorf("parse address: %w", err)
	}
	if !literal.Addr().IsLoopback() {
		return nil, fmt.Errorf("listen on %s: not a loopback address", addr)
	}
	return net.Listen("tcp", addr)
}

// URL returns the stand-in's address, without a trailing slash.
func (s *Server) URL() string { return s.url }

// Close stops the stand-in, ends hanging requests, and returns the first failure to write the log.
func (s *Server) Close() error {
	err := s.http.Close()
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s.done <- http.ErrServerClosed // a second Close receives the same result
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(err, s.logErr)
}
