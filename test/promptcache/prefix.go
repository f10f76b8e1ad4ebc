package promptcache

import (
	"bytes"

	"reprise/internal/standin"
)

// An automatic cache needs no breakpoints: every whole number of steps from the beginning of a
// prompt is stored, if the prompt is long enough.
type automatic struct {
	step     int  // tokens
	shortest int  // prompt that is stored, in tokens, if the model's is not known
	key      bool // only requests with a prompt_cache_key are stored
}

// The rules that the providers document, in November 2026. A prompt_cache_key directs requests to
// the machine that has the prefix. The stand-in has one machine, so it finds a prefix under any
// key, as a lucky request would.
var (
	// OpenAI, models before GPT-5.6: prompts of 1024 tokens and more, in steps of 128.
	// https://developers.openai.com/api/docs/guides/prompt-caching
	openaiCache = automatic{step: 128, shortest: 1024}
	// Google's implicit cache: 2048 tokens for Gemini 2.5, else 4096. It documents no step.
	// https://ai.google.dev/gemini-api/docs/caching
	geminiCache = automatic{step: 128, shortest: 4096}
	// Mistral: blocks of 64 tokens, for requests with a prompt_cache_key.
	// https://docs.mistral.ai/studio-api/conversations/advanced/prompt-caching
	mistralCache = automatic{step: 64, shortest: 64, key: true}
)

func (a automatic) cached(c *cache, p prompt) (u standin.Tokens, err error) {
	text, begin := p.text(), p.begin()
	u.Input = tokens(len(text)) + 1
	shortest := shortestPrompt(p.Model, a.shortest)
	if u.Input <= shortest || a.key && p.body.get("prompt_cache_key") == nil {
		return u, nil
	}
	life := usualLife
	if bytes.Equal(p.body.get("prompt_cache_retention"), []byte(`"24h"`)) {
		life = dayLife
	}
	hit := true
	for end := a.step; end <= tokens(len(text)); end += a.step {
		begin = after(begin, text[4*(end-a.step):4*end])
		if hit = hit && c.read(begin); hit {
			u.Cached = end
		}
		c.write(begin, life)
	}
	if u.Cached < shortest {
		u.Cached = 0
	}
	return u, nil
}

// text returns all of a prompt. Without the lists' own brackets, a prompt that goes on begins with
// the one before.
func (p prompt) text() (text []byte) {
	for _, name := range append(p.Head[:len(p.Head):len(p.Head)], p.Messages) {
		for _, part := range elements(p.body.get(name)) {
			text = append(text, part...)
		}
	}
	return text
}
