package rewrite

import (
	"encoding/json"
	"strings"

	"reprise/rewrite/jsonline"
)

// StoresTurn reports whether the end of claude's session file holds a turn: the caller's message,
// and the answer that ends with the message with the ID last. Claude writes the file before it
// prints the result (2.1.329).
func StoresTurn(tail []byte, message, last string) bool {
	answered := false
	for line := range jsonline.Backwards(tail) {
		var entry struct {
			Type      string `json:"type"`
			UUID      string `json:"uuid"`
			Sidechain bool   `json:"isSidechain"`
			Meta      bool   `json:"isMeta"`
			Message   struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		}
		if json.Unmarshal(line, &entry) != nil {
			return false
		}
		switch {
		case entry.Sidechain || entry.Meta:
		case entry.Type == "assistant" && !answered:
			if answered = last != "" && entry.UUID == last; !answered {
				return false
			}
		case entry.Type == "user":
			if text, plain := plainContent(entry.Message.Content); plain {
				return answered && text == message
			}
		}
	}
	return false
}

// plainContent returns the text of a message that is nothing else: a string, or parts of type text.
func plainContent(content json.RawMessage) (text string, ok bool) {
	if json.Unmarshal(content, &text) == nil {
		return text, true
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(content, &parts) != nil {
		return "", false
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		if part.Type != "text" {
			return "", false
		}
		texts[i] = part.Text
	}
	return strings.Join(texts, "\n\n"), true
}
