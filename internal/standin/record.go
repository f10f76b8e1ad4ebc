package standin

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

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
