package prompt

import (
	"encoding/json"
	"strings"
)

// A message is a turn of a conversation that a prompt contains as JSON.
type message struct {
	speaker speaker
	label   string
	text    string // the name on a separate line, then the text
	more    bool   // it has parts that are no text
}

// The names of the fields that hold the speaker and the text.
var (
	speakerKeys = []string{"role", "speaker", "author", "sender", "from", "by", "name"}
	contentKeys = []string{"content", "text", "message", "body", "value", "parts"}
	historyKeys = []string{"messages", "history", "conversation", "turns", "transcript", "chat"}
)

// maxHistories bounds how many places of a prompt are tried as JSON.
const maxHistories = 64

// cutMessages finds conversations in JSON and cuts each into one block a message, so that they are
// compared turn by turn even if the text around them moves. Everything else is cut by lines.
func cutMessages(text string) []block {
	var blocks []block
	var open fence
	// from is the start of the text not yet cut, rest the text not yet searched
	from, rest := 0, text
	for tries := 0; rest != "" && tries < maxHistories; {
		full := rest
		_, rest, _ = strings.Cut(rest, "\n")
		at := jsonAt(full[:len(full)-len(rest)])
		if at < 0 {
			continue
		}
		tries++
		line := full[at:]
		start := len(text) - len(line)
		if found, behind := readMessages(line, start); len(found) > 0 {
			blocks = append(blocks, cut(&open, text[from:start], from)...)
			blocks = append(blocks, found...)
			from, rest = len(text)-len(behind), behind
		}
	}
	return append(blocks, cut(&open, text[from:], from)...)
}

// jsonAt returns where JSON can begin in a line: at the start, or behind a name or a tag. It
// returns -1 if nowhere.
func jsonAt(line string) int {
	at := strings.IndexAny(line, "[{")
	if at < 0 || at > longestLabel {
		return -1
	}
	before := strings.TrimRight(line[:at], " \t")
	if before == "" || strings.ContainsRune(":=>", rune(before[len(before)-1])) {
		return at
	}
	return -1
}

// readMessages parses the conversation that a text begins with and returns the text after it. It
// returns no blocks if there is none. at is the text's place in the prompt.
func readMessages(text string, at int) (blocks []block, rest string) {
	decoder := json.NewDecoder(strings.NewReader(text))
	var value json.RawMessage
	if decoder.Decode(&value) != nil {
		return nil, ""
	}
	frame, messages := unfold(value)
	if frame != "" {
		blocks = append(blocks, block{text: frame, at: at})
	}
	for _, one := range messages {
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(one, &fields) // only an object can be a message
		m := parseMessage(fields)
		if m == nil {
			return nil, ""
		}
		if toolPart().Match(one) {
			m.speaker = toolOutput
		}
		blocks = append(blocks, block{text: string(one), at: at, message: m})
	}
	return blocks, text[decoder.InputOffset():]
}

// toolPart matches a JSON string that is the name of a tool's call or result: "tool_use",
// "functionResponse". Such a string within a text has backslashes.
var toolPart = compiled(`"(?:tool|function)[A-Za-z_]*"`)

// unfold returns the messages of a conversation: the elements of an array; the elements of an array
// in an object, with the object's other fields as the frame; or the object itself. It does not
// check that they are messages.
func unfold(value json.RawMessage) (frame string, messages []json.RawMessage) {
	if json.Unmarshal(value, &messages) == nil {
		return "", messages
	}
	var object map[string]json.RawMessage
	_ = json.Unmarshal(value, &object) // not an array
	if parseMessage(object) == nil {
		for _, key := range historyKeys {
			if json.Unmarshal(object[key], &messages) == nil && len(messages) > 0 {
				delete(object, key)
				rest, _ := json.Marshal(object) // it came from JSON
				return string(rest), messages
			}
		}
	}
	return "", []json.RawMessage{value}
}

// parseMessage parses one message; it returns nil if the object is none.
func parseMessage(fields map[string]json.RawMessage) *message {
	who, _, named := firstText(fields, speakerKeys)
	said, more, ok := firstText(fields, contentKeys)
	if !named || !ok {
		return nil
	}
	kind := nameWords()[strings.ToLower(who)].speaker
	if kind == noTurn {
		kind = unknownName
	}
	return &message{speaker: kind, label: normalLabel(who), text: who + "\n" + said,
		more: more}
}

// firstText returns the first of the fields that holds text: a string, or a list of parts with a
// text each. more reports that the list has other parts.
func firstText(fields map[string]json.RawMessage, keys []string) (text string, more, ok bool) {
	for _, key := range keys {
		var parts []map[string]json.RawMessage
		value, ok := fields[key]
		switch {
		case !ok:
		case json.Unmarshal(value, &text) == nil:
			return text, false, true
		case json.Unmarshal(value, &parts) == nil && len(parts) > 0:
			var all []string
			for _, part := range parts {
				if text, _, ok := firstText(part, []string{"text"}); ok {
					all = append(all, text)
				}
			}
			return strings.Join(all, "\n"), len(all) < len(parts), true
		}
	}
	return "", false, false
}
