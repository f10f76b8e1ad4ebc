package standin

import (
	"crypto/sha256"
	"encoding/json"
	"sync"
)

// A cache stores the digests of all conversations so far, and of every beginning of them. Unlike a
// provider's, it never expires by itself. It is the stand-in's only memory.
type cache struct {
	mu   sync.Mutex
	seen map[[sha256.Size]byte]bool
}

// measure counts a request's tokens and stores its conversation. What comes before the messages
// (system prompt, tools) is the first element of the chain of digests: if it differs, nothing is
// cached.
func (c *cache) measure(d *dialect, body object) Tokens {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[[sha256.Size]byte]bool{}
	}
	var u Tokens
	var digest [sha256.Size]byte
	hit, size := true, 0
	for _, part := range parts(d, body) {
		raw, _ := json.Marshal(part) // parsed from JSON, so it marshals
		digest = sha256.Sum256(append(digest[:], raw...))
		size += len(raw)
		hit = hit && c.seen[digest]
		if hit {
			u.Cached = size / 4
		}
		c.seen[digest] = true
	}
	u.Input = size/4 + 1
	return u
}

// ForgetCache expires the cache, so that the next requests pay for their whole input.
func (s *Server) ForgetCache() {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	clear(s.cache.seen)
}

// parts returns what a provider's cache compares, in its order.
func parts(d *dialect, body object) []any {
	head := []any{d.name, body["model"]}
	for _, name := range d.head {
		head = append(head, plain(body[name]))
	}
	all := []any{head}
	for _, m := range messages(d, body) {
		all = append(all, plain(m))
	}
	return all
}

// plain removes Anthropic's cache_control marks. They move from message to message as a
// conversation grows, and turn a bare string into a text block (claude 2.1.329), while the marked
// content stays the same.
func plain(v any) any {
	switch v := v.(type) {
	case object:
		kept := object{}
		for key, value := range v {
			if text, ok := value.(string); ok && key == "content" {
				value = []any{object{"type": "text", "text": text}}
			}
			if key != "cache_control" {
				kept[key] = plain(value)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, value := range v {
			kept[i] = plain(value)
		}
		return kept
	}
	return v
}
