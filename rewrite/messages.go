package rewrite

import (
	"encoding/json"
	"strings"
)

// A message is a turn of a conversation that a prompt gives as JSON.
type message struct {
	speaker speaker
	label   string
	text    string // the name on a line of its own, then what is said
}

// The names of the fields that say who speaks and what.
var (
	speakerKeys = []string{"role", "speaker", "author", "sender", "from", "by", "name"}
	contentKeys = []string{"content", "text", "message", "body", "value", "parts"}
	historyKeys = []string{"messages", "history", "conversation", "turns", "transcript", "chat"}
)

// maxHistories bounds how many places of a prompt are tried as JSON.
const maxHistories = 64

// cutMessages finds conversations given as JSON and cuts each into a block a message, so that they are compared turn by
// turn however the text around them moves. Everything else is cut by lines.
func cutMessages(text string) []block {
	if !strings.Contains(text, `":`) && !strings.Contains(text, `" :`) {
		return cut(text, 0)
	}
	var blocks []block
	from := 0
	for at, tries := 0, 0; at < len(text) && tries < maxHistories; {
		line := text[at:]
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i+1]
		}
		start := at + len(line) - len(strings.TrimLeft(line, " \t"))
		at += len(line)
		if start >= len(text) || text[start] != '[' && text[start] != '{' {
			continue
		}
		tries++
		found, end := readMessages(text, start)
		if len(found) == 0 {
			continue
		}
		blocks = append(blocks, cut(text[from:start], from)...)
		blocks = append(blocks, found...)
		from, at = end, end
	}
	return append(blocks, cut(text[from:], from)...)
}

// readMessages reads a conversation that begins at start: an array of messages, an object that holds one, or one message.
// It returns where the conversation ends, and none where there is none.
func readMessages(text string, start int) (blocks []block, end int) {
	decoder := json.NewDecoder(strings.NewReader(text[start:]))
	var raw json.RawMessage
	if decoder.Decode(&raw) != nil {
		return nil, 0
	}
	end = start + int(decoder.InputOffset())
	var array []json.RawMessage
	var object map[string]json.RawMessage
	switch {
	case raw[0] == '[':
		_ = json.Unmarshal(raw, &array)
	case json.Unmarshal(raw, &object) == nil:
		if m := messageOf(object); m != nil {
			return []block{{text: string(raw), at: start, message: m}}, end
		}
		for _, key := range historyKeys {
			if inner, ok := object[key]; ok && json.Unmarshal(inner, &array) == nil && len(array) > 0 {
				delete(object, key)
				frame, _ := json.Marshal(object)
				blocks = append(blocks, block{text: string(frame), at: start})
				break
			}
		}
	}
	for _, element := range array {
		var fields map[string]json.RawMessage
		m := (*message)(nil)
		if json.Unmarshal(element, &fields) == nil {
			m = messageOf(fields)
		}
		if m == nil {
			return nil, 0
		}
		blocks = append(blocks, block{text: string(element), at: start, message: m})
	}
	if len(array) == 0 {
		return nil, 0
	}
	return blocks, end
}

// messageOf reads one message, nil where the object is none.
func messageOf(fields map[string]json.RawMessage) *message {
	who, ok := firstText(fields, speakerKeys)
	if !ok {
		return nil
	}
	said, ok := firstText(fields, contentKeys)
	if !ok {
		return nil
	}
	kind := speakerNamed(strings.ToLower(who))
	if kind == nobody {
		kind = stranger
	}
	return &message{speaker: kind, label: normalLabel(who), text: who + "\n" + said}
}

// firstText returns the first of the fields that holds text: a string, or a list of parts with a text each.
func firstText(fields map[string]json.RawMessage, keys []string) (string, bool) {
	for _, key := range keys {
		var text string
		var parts []map[string]json.RawMessage
		value, ok := fields[key]
		switch {
		case !ok:
		case json.Unmarshal(value, &text) == nil:
			return text, true
		case json.Unmarshal(value, &parts) == nil && len(parts) > 0:
			var all []string
			for _, part := range parts {
				if text, ok := firstText(part, []string{"text"}); ok {
					all = append(all, text)
				}
			}
			return strings.Join(all, "\n"), true
		}
	}
	return "", false
}
