package standin

import (
	"crypto/sha256"
	"sync"
	"time"
)

// A cache is a provider's prompt cache: digests of the beginnings of prompts, each until it
// expires. A beginning is cached only if it is sent again byte for byte. It is the stand-in's only
// memory. An entry exists as soon as the request has been read, not only when the answer begins.
type cache struct {
	mu      sync.Mutex
	now     func() time.Time
	entries map[digest]entry

	sameText bool // see Options
}

type digest = [sha256.Size]byte

type entry struct {
	until time.Time
	life  time.Duration
}

// The lifetimes that the providers document. OpenAI keeps an entry for five to ten minutes of
// inactivity, or for a day if the request asks for that; Google and Mistral name no time.
// https://platform.claude.com/docs/en/build-with-claude/prompt-caching,
// https://developers.openai.com/api/docs/guides/prompt-caching
const (
	usualLife = 5 * time.Minute
	hourLife  = time.Hour
	dayLife   = 24 * time.Hour
)

// read reports whether an entry exists. Reading prolongs it by the lifetime.
func (c *cache) read(key digest) bool {
	e, ok := c.entries[key]
	if !ok || !c.now().Before(e.until) {
		return false
	}
	e.until = c.now().Add(e.life)
	c.entries[key] = e
	return true
}

// write stores an entry. One that is kept for longer stays.
func (c *cache) write(key digest, life time.Duration) {
	until := c.now().Add(life)
	if until.After(c.entries[key].until) {
		c.entries[key] = entry{until, life}
	}
}

// measure counts a request's tokens and caches the parts that the API would. An error is the
// provider's about the request.
func (c *cache) measure(d *dialect, model string, raw []byte) (Tokens, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return d.cached(c, prompt{d, model, members(raw)})
}

// A prompt is the input of a request for a model.
type prompt struct {
	*dialect
	model string
	body  sent
}

// begin returns the digest of the empty beginning: no two models share a cache.
func (p prompt) begin() digest { return sha256.Sum256([]byte(p.name + "\x00" + p.model)) }

// after returns the digest of a beginning that goes on with more text.
func after(beginning digest, more []byte) digest {
	return sha256.Sum256(append(beginning[:], more...))
}

// tokens returns how many tokens so many bytes are.
func tokens(size int) int { return size / 4 }
