// Package promptcache counts the tokens that a provider's prompt cache would read and write, by the
// rules that the providers document. The stand-in for the model APIs reports them.
//
// It knows the prompts that it was asked about, and no other. Invariant: only a beginning that was
// sent before, byte for byte, counts as read.
package promptcache

import (
	"crypto/sha256"
	"sync"
	"time"

	"reprise/internal/standin"
)

// Options say which providers the caches are of. The zero value is the usual one.
type Options struct {
	// Now is the clock, time.Now if nil.
	Now func() time.Time
	// Backends is how many caches there are, one if it is 0. The header that has a claude's session
	// ID selects one, as a gateway does that balances sessions.
	Backends int
}

// New returns a measure of the prompts that a stand-in is sent. An error is the provider's about
// the request.
func New(o Options) func(standin.Prompt) (standin.Tokens, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	var caches []*cache
	for range max(o.Backends, 1) {
		caches = append(caches, &cache{now: o.Now, entries: map[digest]entry{}})
	}
	return func(p standin.Prompt) (standin.Tokens, error) {
		id := sha256.Sum256([]byte(p.Header.Get("X-Claude-Code-Session-Id")))
		c := caches[int(id[0])%len(caches)]
		c.mu.Lock()
		defer c.mu.Unlock()
		return measures[p.API](c, prompt{p, members(p.Body)})
	}
}

// measures are the caches of the APIs.
var measures = map[string]func(*cache, prompt) (standin.Tokens, error){
	standin.Anthropic: cachedAtBreakpoints, standin.Responses: openaiCache.cached,
	standin.Gemini: geminiCache.cached, standin.Chat: mistralCache.cached,
	standin.OpenAIChat: openaiCache.cached,
}

// A cache is a provider's prompt cache: digests of the beginnings of prompts, each until it
// expires. A beginning is cached only if it is sent again byte for byte. An entry exists as soon as
// the request has been read, not only when the answer begins.
type cache struct {
	mu      sync.Mutex
	now     func() time.Time
	entries map[digest]entry
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

// write stores an entry. An entry that is kept for longer stays.
func (c *cache) write(key digest, life time.Duration) {
	until := c.now().Add(life)
	if until.After(c.entries[key].until) {
		c.entries[key] = entry{until, life}
	}
}

// A prompt is the input of a request for a model.
type prompt struct {
	standin.Prompt
	body sent
}

// begin returns the digest of the empty beginning: no two models share a cache.
func (p prompt) begin() digest { return sha256.Sum256([]byte(p.API + "\x00" + p.Model)) }

// after returns the digest of a beginning that goes on with more text.
func after(beginning digest, more []byte) digest {
	return sha256.Sum256(append(beginning[:], more...))
}

// tokens returns how many tokens so many bytes are.
func tokens(size int) int { return size / 4 }
