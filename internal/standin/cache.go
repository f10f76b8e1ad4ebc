package standin

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"sync"
)

// A Prompt is the input of a request, as a provider's cache sees it.
type Prompt struct {
	API, Model string
	Header     http.Header
	Body       []byte   // of the request
	Head       []string // the fields that count as coming before the conversation
	Messages   string   // the field of the conversation
}

// A cache has the prompts that were sent, by API and model.
type cache struct {
	mu   sync.Mutex
	sent map[[2]string][][]byte
}

// step is the size of a cached block in bytes, as Mistral's is.
const step = 256

var breakpoint = regexp.MustCompile(`,"cache_control":\{[^}]*\}|"cache_control":\{[^}]*\},`)

// measure counts the tokens of a prompt, four bytes each. The beginning that an earlier prompt has
// too was read, all else is written.
func (c *cache) measure(p Prompt) (u Tokens, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var body map[string]json.RawMessage
	_ = json.Unmarshal(p.Body, &body) // the server has read it as an object
	var text []byte                   // without breakpoints, which move on with a conversation
	for _, name := range append(slices.Clone(p.Head), p.Messages) {
		var list []json.RawMessage
		if json.Unmarshal(body[name], &list) != nil {
			list = []json.RawMessage{body[name]}
		}
		for _, part := range list { // without the brackets: a conversation goes on
			text = append(text, breakpoint.ReplaceAll(part, nil)...)
		}
	}
	key := [2]string{p.API, p.Model}
	for _, before := range c.sent[key] {
		same := 0
		for same < min(len(before), len(text)) && before[same] == text[same] {
			same++
		}
		u.Cached = max(u.Cached, same/step*step/4)
	}
	c.sent[key] = append(c.sent[key], text)
	u.Input = len(text)/4 + 1
	u.Written = u.Input - u.Cached
	return u, nil
}
