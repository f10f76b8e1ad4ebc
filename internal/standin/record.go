package standin

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// A Request is one request as it came in. Its body is shared: read it, do not change it.
type Request struct {
	Time   time.Time `json:"time"`
	Method string    `json:"method"`
	Path   string    `json:"path"` // without the query, where gemini may put a key
	API    string    `json:"api"`  // Anthropic, Responses, Gemini or Chat when it asks a model for an answer, else ""
	Auth   bool      `json:"auth"` // a credential came with it
	Size   int       `json:"size"` // of the body, in bytes
	Body   any       `json:"body"` // the parsed JSON, or a string where it is not JSON

	// Tokens are what the request cost, once it has been answered without an error.
	Tokens Tokens `json:"-"`
}

// Tokens are counts of tokens, of four bytes each.
type Tokens struct {
	Input  int // all that was sent, the cached part included
	Cached int // the part that an earlier request had sent already
	Output int
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

// record keeps a request and returns its number, from 1.
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

// charge notes what the request of that number cost.
func (s *Server) charge(serial int, t Tokens) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[serial-1].Tokens = t
}

// newRequest describes a request of which the body has been read.
func newRequest(r *http.Request, raw []byte) Request {
	request := Request{Time: time.Now(), Method: r.Method, Path: r.URL.Path, Size: len(raw), Auth: credential(r)}
	if d := dialectOf(r); d != nil {
		request.API = d.name
	}
	if len(raw) > 0 && json.Unmarshal(raw, &request.Body) != nil {
		request.Body = string(raw)
	}
	return request
}

// credential reports whether the request carries one, wherever the four CLIs put it.
func credential(r *http.Request) bool {
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
		if r.Header.Get(name) != "" {
			return true
		}
	}
	return r.URL.Query().Has("key")
}

// LastUser is the text of the last user message that has a text of its own: tool results are skipped, and so
// are the texts that claude and gemini add beside the prompt (reminders, the session's context).
func LastUser(r Request) string { return conversationOf(r).prompt() }

// StartsTurn reports whether the request is the first one about its last prompt: no tool has answered since.
func StartsTurn(r Request) bool { return !conversationOf(r).toolRan() }

// Messages is the number of messages in the conversation that was sent.
func Messages(r Request) int { return len(conversationOf(r)) }

// AllText is every text of the conversation, tool results and reminders included, but not the system prompt
// where the API sends that beside the conversation.
func AllText(r Request) string { return conversationOf(r).text() }
