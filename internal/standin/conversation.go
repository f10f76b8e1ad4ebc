package standin

import (
	"slices"
	"strings"
)

// A turn is one message as the stand-in reads it.
type turn struct {
	role    string
	texts   []string
	results []string // of tools, a text each
}

// A conversation is the turns that one request sends, the oldest first.
type conversation []turn

func newConversation(r Request) conversation {
	body, _ := r.Body.(object)
	d := firstDialect(func(d *dialect) bool { return d.name == r.API })
	if d == nil {
		return nil
	}
	list := asList(body[d.messages])
	if text, ok := body[d.messages].(string); ok { // a bare string is one user message
		list = []any{object{"role": "user", "content": text}}
	}
	var c conversation
	for _, m := range list {
		c = append(c, d.turn(asObject(m)))
	}
	return c
}

// lastPrompt returns the index of the last user turn with a separate text, -1 if there is none.
func (c conversation) lastPrompt() int {
	for i := len(c) - 1; i >= 0; i-- {
		if c[i].role == "user" && len(own(c[i].texts)) > 0 {
			return i
		}
	}
	return -1
}

// LastUser returns the text of the last user message that has a separate text. It skips tool
// results and the texts that claude and gemini add to the prompt (reminders, the session's
// context).
func LastUser(r Request) string {
	c := newConversation(r)
	i := c.lastPrompt()
	if i < 0 {
		return ""
	}
	return strings.Join(own(c[i].texts), "\n")
}

// StartsTurn reports whether the request is the first one about the last prompt: there is no tool
// result after it.
func StartsTurn(r Request) bool {
	c := newConversation(r)
	return !slices.ContainsFunc(c[max(0, c.lastPrompt()):],
		func(t turn) bool { return len(t.results) > 0 })
}

// AllText returns every text of the conversation, tool results and reminders included, but not the
// system prompt if the API sends it separately.
func AllText(r Request) string {
	var all []string
	for _, t := range newConversation(r) {
		all = append(append(all, t.texts...), t.results...)
	}
	return strings.Join(all, "\n")
}

// own removes the texts that a CLI adds to the user's message.
func own(texts []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool {
		text = strings.TrimSpace(text)
		return strings.HasPrefix(text, "<system-reminder>") || // claude 2.1.329
			strings.HasPrefix(text, "<session_context>") // gemini 0.61.0
	})
}

type object = map[string]any

func asObject(v any) object { o, _ := v.(object); return o }
func asList(v any) []any    { l, _ := v.([]any); return l }
func asString(v any) string { s, _ := v.(string); return s }

// contentTexts returns the texts of a message's content: a string, or parts, some with a text.
func contentTexts(content any) []string {
	if s, ok := content.(string); ok {
		return []string{s}
	}
	var texts []string
	for _, part := range asList(content) {
		if s, ok := asObject(part)["text"].(string); ok {
			texts = append(texts, s)
		}
	}
	return texts
}
