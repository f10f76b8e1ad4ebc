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
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
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
	s := &Server{options: options, url: "http://" + listener.Addr().String()}
	if options.Measure == nil {
		s.options.Measure = (&cache{seen: map[digest]bool{}}).measure
	}
	s.http = &http.Server{Handler: s}
	go func() { _ = s.http.Serve(listener) }() // until it is closed
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
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(err, s.logErr)
}

// A Request is one received request. The body is shared: callers must not change it.
type Request struct {
	Time   time.Time `json:"time"`
	Method string    `json:"method"`
	Path   string    `json:"path"` // without the query, which can contain gemini's key
	// Anthropic, Responses, Gemini or Chat if it asks a model for an answer, else ""
	API  string `json:"api"`
	Size int    `json:"size"` // of the body, in bytes
	Body any    `json:"body"` // the parsed JSON, or a string if it is not JSON

	// Tokens are the request's tokens, once it has been answered without an error.
	Tokens Tokens `json:"-"`
}

// Tokens are counts of tokens, of four bytes each.
type Tokens struct {
	Input   int // the whole input, the cached part included
	Cached  int // the part that was read from the cache
	Written int // the part that was written to a cache with breakpoints
	ForHour int // of these, tokens kept for an hour
	Output  int
}

// Add adds more tokens.
func (t *Tokens) Add(more Tokens) {
	t.Input += more.Input
	t.Cached += more.Cached
	t.Written += more.Written
	t.ForHour += more.ForHour
	t.Output += more.Output
}

// Requests returns all requests so far, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Asked returns the requests that asked a model for an answer, in order of arrival.
func (s *Server) Asked() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.API == "" })
}

// record stores a request and returns the number, from 1.
func (s *Server) record(r Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if s.options.Log != nil {
		err := json.NewEncoder(s.options.Log).Encode(r)
		s.logErr = cmp.Or(s.logErr, err)
	}
	return len(s.requests)
}

func (s *Server) charge(serial int, t Tokens) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[serial-1].Tokens = t
}

// newRequest describes a request after the body has been read.
func newRequest(r *http.Request, raw []byte) Request {
	request := Request{Time: time.Now(), Method: r.Method, Path: r.URL.Path, Size: len(raw)}
	if d := findDialect(r); d != nil {
		request.API = d.name
	}
	if len(raw) > 0 && json.Unmarshal(raw, &request.Body) != nil {
		request.Body = string(raw)
	}
	return request
}

// A Reply is how the stand-in answers one request.
type Reply struct {
	Text    string        // the model's text
	Command string        // a shell command that the model requests instead, "" for none
	Instead Answer        // sent instead of a model's answer, if it has a status
	Pause   time.Duration // the text comes in about ten pieces, this far apart
	Hang    bool          // nothing comes after the first piece
}

// An Answer is sent as it is, as an API's error.
type Answer struct {
	Status int
	Stream bool // of events
	Body   string
}

// beforeTool is the model's text before it requests a tool, as models write.
const beforeTool = "Let me run it."
