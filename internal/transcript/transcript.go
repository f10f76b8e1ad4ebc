// Package transcript reads the first prompt of a session from the tool's own file.
//
// It never writes to these files and stores nothing of them. Only shimctl uses it, to make rules
// from calls. Invariant: it returns the whole text of the first message, or none.
package transcript

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"strings"

	"reprise/rewrite"
)

// maxPromptLine bounds the lines that are read for a prompt: a longer one ends the search.
const maxPromptLine = 4 << 20

// messages return the content of a line that is a message of the caller, by tool: claude 2.1.329,
// codex 0.169.0, copilot 1.0.102, droid 0.225.2, gemini 0.61.0 and qwen 0.24.4. testdata/sessions
// contains one file of each but droid's.
var messages = map[string]func(line) (content json.RawMessage, ok bool){
	"claude": func(l line) (json.RawMessage, bool) {
		return l.Message.Content, l.Type == "user" && !l.IsMeta && !l.Sidechain
	},
	"codex": func(l line) (json.RawMessage, bool) {
		return l.Payload.Item.Content, l.Payload.Item.Type == "UserMessage"
	},
	"copilot": func(l line) (json.RawMessage, bool) {
		return l.Data.Content, l.Type == "user.message" && l.Data.Parent == ""
	},
	"droid": func(l line) (json.RawMessage, bool) {
		return l.Message.Content, l.Type == "message" && l.Message.Role == "user" &&
			!strings.HasPrefix(l.ID, "context-")
	},
	"gemini": func(l line) (json.RawMessage, bool) {
		return l.Content, l.Type == "user"
	},
	"qwen": func(l line) (json.RawMessage, bool) {
		return l.Message.Parts, l.Type == "user" &&
			(l.Provenance == "" || l.Provenance == "real_user")
	},
}

// FirstPrompt returns the first prompt of the session in a tool's file, "" if the file contains
// none that can be read.
func FirstPrompt(tool, path string) (string, error) {
	message, ok := messages[tool]
	if !ok || path == "" {
		return "", nil
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxPromptLine)
	for lines.Scan() {
		var l line
		_ = json.Unmarshal(lines.Bytes(), &l) // a field of another type is left out
		if content, ok := message(l); ok {
			if text, _ := rewrite.PlainContent(content); text != "" {
				return text, nil
			}
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return "", err
	}
	return "", nil
}

type line struct {
	Type, ID, Provenance string
	IsMeta               bool
	Sidechain            bool            `json:"isSidechain"`
	Content              json.RawMessage // gemini's
	Message              struct {
		Role           string
		Content, Parts json.RawMessage
	}
	Payload struct { // codex's
		Item struct {
			Type    string
			Content json.RawMessage
		}
	}
	Data struct { // copilot's
		Content json.RawMessage
		Parent  string `json:"parentToolCallId"`
	}
}
