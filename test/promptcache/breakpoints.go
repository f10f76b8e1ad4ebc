package promptcache

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"reprise/internal/standin"
)

// The cache as Anthropic documents it, in November 2026. A prompt is the tools, system blocks and
// the blocks of the messages, in this order. A beginning is stored where a block has cache_control,
// and found from such a block or from one of the nineteen before it. The lifetime begins anew with
// each use. https://platform.claude.com/docs/en/build-with-claude/prompt-caching
const (
	maxBreakpoints = 4
	lookback       = 20
)

// The shortest prompts that are stored, in tokens, by a part of the model's name.
// https://docs.litellm.ai/docs/completion/prompt_caching quotes the same table of Anthropic's.
var shortest = []struct {
	model  string
	tokens int
}{
	{"opus-5", 512}, {"fable", 512}, {"mythos", 512},
	{"haiku-4-5", 4096}, {"opus-4-5", 4096}, {"opus-4-6", 4096}, {"opus-4-7", 4096},
	{"3-5-haiku", 2048}, {"gemini-2.5", 2048},
}

// shortestPrompt returns the shortest prompt that is stored for a model, others for a model that is
// not in the table.
func shortestPrompt(model string, others int) int {
	for _, s := range shortest {
		if strings.Contains(model, s.model) {
			return s.tokens
		}
	}
	return others
}

// A block is a part of a request that can have a breakpoint.
type block struct {
	text []byte        // as it was sent, without the breakpoint
	life time.Duration // of the breakpoint, 0 if it has none
}

// newBlock returns a block. A plain string is not the block with the same text: the documentation
// calls it a short form, but reports say that the cache tells them apart
// (anthropics/claude-code#93490).
func newBlock(before []byte, raw json.RawMessage) block {
	parts := members(raw)
	if parts == nil {
		return block{text: append(before, raw...)}
	}
	return block{append(before, parts.without("cache_control")...),
		life(parts.get("cache_control"))}
}

// life returns the lifetime that a breakpoint asks for, 0 if it is none.
func life(control json.RawMessage) time.Duration {
	var c *struct{ TTL string }
	if len(control) == 0 || json.Unmarshal(control, &c) != nil || c == nil {
		return 0
	}
	if c.TTL == "1h" {
		return hourLife
	}
	return usualLife
}

// blocks returns the blocks of a prompt.
func blocks(p prompt) (all []block) {
	body := p.body
	for _, name := range p.Head {
		for _, raw := range elements(body.get(name)) {
			all = append(all, newBlock(nil, raw))
		}
	}
	// A change of these keeps tools and system, but no message.
	before := sent{{"tool_choice", body.get("tool_choice")},
		{"thinking", body.get("thinking")}}.without("")
	for _, raw := range elements(body.get(p.Messages)) {
		message := members(raw)
		before = append(before, message.without("content")...)
		for _, part := range elements(message.get("content")) {
			all = append(all, newBlock(before, part))
			before = nil
		}
	}
	if n := len(all); n > 0 && all[n-1].life == 0 {
		all[n-1].life = life(body.get("cache_control")) // of the whole request: the last block
	}
	return all
}

// checkBreakpoints returns the provider's error about the breakpoints, nil if they are right.
func checkBreakpoints(all []block) error {
	marked, short := 0, false
	for _, b := range all {
		if b.life == 0 {
			continue
		}
		marked++
		if b.life == hourLife && short {
			return errors.New("a ttl='1h' cache_control block must not come after a ttl='5m' " +
				"cache_control block")
		}
		short = short || b.life == usualLife
	}
	if marked > maxBreakpoints {
		return errors.New("a maximum of 4 blocks with cache_control may be provided")
	}
	return nil
}

// cachedAtBreakpoints measures a prompt of Anthropic's API.
func cachedAtBreakpoints(c *cache, p prompt) (u standin.Tokens, err error) {
	all, begin := blocks(p), p.begin()
	if err := checkBreakpoints(all); err != nil {
		return u, err
	}
	keys, sizes := make([]digest, len(all)), make([]int, len(all)+1)
	for i, b := range all {
		begin = after(begin, b.text)
		keys[i], sizes[i+1] = begin, sizes[i]+len(b.text)
	}
	hit := 0 // blocks
	for i, b := range all {
		if b.life == 0 {
			continue
		}
		for j := i; j >= 0 && j > i-lookback; j-- {
			if c.read(keys[j]) {
				hit = max(hit, j+1)
				break
			}
		}
	}
	end, hour := hit, hit
	for i, b := range all {
		if b.life == 0 || tokens(sizes[i+1]) < shortestPrompt(p.Model, 1024) {
			continue
		}
		c.write(keys[i], b.life)
		end = max(end, i+1)
		if b.life == hourLife {
			hour = max(hour, i+1)
		}
	}
	u.Input = tokens(sizes[len(all)]) + 1
	u.Cached = tokens(sizes[hit])
	u.Written = tokens(sizes[end]) - u.Cached
	u.ForHour = tokens(sizes[hour]) - u.Cached
	return u, nil
}
