package standin

import (
	"crypto/sha256"
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

// A cache has the beginnings of all prompts, in steps.
type cache struct {
	mu   sync.Mutex
	seen map[digest]bool
}

type digest = [sha256.Size]byte

// step is the size of a step in bytes, the size of a block of Mistral's.
const step = 256

var breakpoint = regexp.MustCompile(`,"cache_control":\{[^}]*\}|"cache_control":\{[^}]*\},`)

// measure counts the tokens of a prompt, four bytes each. All that was not read is written.
func (c *cache) measure(p Prompt) (u Tokens, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var body map[string]json.RawMessage
	if err := json.Unmarshal(p.Body, &body); err != nil {
		return u, err
	}
	var text []byte // without breakpoints, which move on with a conversation
	for _, name := range append(slices.Clone(p.Head), p.Messages) {
		var list []json.RawMessage
		if json.Unmarshal(body[name], &list) != nil {
			list = []json.RawMessage{body[name]}
		}
		for _, part := range list { // without the brackets: a conversation goes on
			text = append(text, breakpoint.ReplaceAll(part, nil)...)
		}
	}
	begin, hit := sha256.Sum256([]byte(p.API+"\x00"+p.Model)), true
	for end := step; end <= len(text); end += step {
		begin = sha256.Sum256(append(begin[:], text[end-step:end]...))
		if hit = hit && c.seen[begin]; hit {
			u.Cached = end / 4
		}
		c.seen[begin] = true
	}
	u.Input = len(text)/4 + 1
	u.Written = u.Input - u.Cached
	return u, nil
}
