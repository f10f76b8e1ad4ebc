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
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
)

// Options configure a Server.
type Options struct {
	// Measure counts the tokens of a prompt, and the tokens among them that the provider's cache
	// has. An error is the provider's about the request. If it is nil, the cache has all that was
	// sent before.
	Measure func(Prompt) (Tokens, error)
	// Reply returns the model's answer.
	Reply func(Request) Reply
}

// A Server is a running stand-in.
type Server struct {
	options Options
	url     string
	http    *http.Server

	mu       sync.Mutex
	requests []Request
}

// Start starts a stand-in. The caller closes it.
func Start(options Options) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{options: options, url: "http://" + listener.Addr().String()}
	if options.Measure == nil {
		s.options.Measure = (&cache{sent: map[[2]string][][]byte{}}).measure
	}
	s.http = &http.Server{Handler: s}
	go func() { _ = s.http.Serve(listener) }() // until it is closed
	return s, nil
}

// URL returns the stand-in's address, without a trailing slash.
func (s *Server) URL() string { return s.url }

// Close stops the stand-in and ends hanging requests.
func (s *Server) Close() error { return s.http.Close() }

// A Request is one received request. The body is shared: callers must not change it.
type Request struct {
	Method string
	Path   string // without the query, which can contain gemini's key
	API    string // Anthropic, for example, if it asks a model for an answer, else ""
	Size   int    // of the body, in bytes
	Body   any    // the parsed JSON, or a string if it is not JSON
	Tokens Tokens // once it has been answered without an error
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
	return len(s.requests)
}

func (s *Server) charge(serial int, t Tokens) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[serial-1].Tokens = t
}

// A Reply is how the stand-in answers one request.
type Reply struct {
	Text    string // the model's text
	Command string // a shell command that the model requests instead, "" for none
	// Tool and Input call the tool that runs the command, "" for the usual tool of the API.
	Tool  string
	Input map[string]any
	// Say passes the text to emit piece by piece, if it is not nil.
	Say func(ctx context.Context, emit func(piece string))
	// Instead sends something instead of a model's answer, if it is not nil.
	Instead http.HandlerFunc
}

// beforeTool is the model's text before it requests a tool, as models write.
const beforeTool = "Let me run it."
