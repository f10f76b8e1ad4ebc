// Package transcript reads from a tool's own file of a session the prompt with which the session began.
//
// It never writes to these files and stores nothing of them. Only shimctl uses it, to suggest rules and to try them.
package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
)

// maxPromptLine bounds the lines that are read for a prompt: a longer one ends the search.
const maxPromptLine = 4 << 20

// The file formats are those of claude 2.1.329, codex 0.169.0, copilot 1.0.102, droid 0.225.2, gemini 0.61.0 and qwen
// 0.24.4; testdata/sessions contains one file of each but droid's.

// prompts return the prompt that a line of a session's file contains, "" if it contains none. The other tools'
// prompts are not read.
var prompts = map[string]func(line []byte) string{
	"claude": claudePrompt, "codex": codexPrompt, "copilot": copilotPrompt, "droid": droidPrompt, "gemini": geminiPrompt, "qwen": qwenPrompt,
}

// FirstPrompt returns the prompt with which the session in a tool's file began, "" if the file contains none that can be
// read.
func FirstPrompt(tool, path string) (string, error) {
	prompt, ok := prompts[tool]
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
		if text := prompt(lines.Bytes()); text != "" {
			return text, nil
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return "", err
	}
	return "", nil
}

func claudePrompt(line []byte) string {
	var l struct {
		Type      string
		IsMeta    bool
		Sidechain bool `json:"isSidechain"`
		Message   struct{ Content json.RawMessage }
	}
	if !bytes.Contains(line, []byte(`"type":"user"`)) || !decode(line, &l) || l.Type != "user" || l.IsMeta || l.Sidechain {
		return ""
	}
	return contentText(l.Message.Content)
}

func codexPrompt(line []byte) string {
	var l struct {
		Payload struct {
			Item struct {
				Type    string
				Content json.RawMessage
			}
		}
	}
	if !bytes.Contains(line, []byte(`"UserMessage"`)) || !decode(line, &l) || l.Payload.Item.Type != "UserMessage" {
		return ""
	}
	return contentText(l.Payload.Item.Content)
}

func copilotPrompt(line []byte) string {
	var l struct {
		Type string
		Data struct {
			Content string
			Parent  string `json:"parentToolCallId"`
		}
	}
	if !bytes.Contains(line, []byte(`"user.message"`)) || !decode(line, &l) || l.Type != "user.message" || l.Data.Parent != "" {
		return ""
	}
	return l.Data.Content
}

func droidPrompt(line []byte) string {
	var l struct {
		Type, ID string
		Message  struct {
			Role    string
			Content json.RawMessage
		}
	}
	if !decode(line, &l) || l.Type != "message" || l.Message.Role != "user" || strings.HasPrefix(l.ID, "context-") {
		return ""
	}
	return contentText(l.Message.Content)
}

func geminiPrompt(line []byte) string {
	var l struct {
		Type    string
		Content json.RawMessage
	}
	if !bytes.Contains(line, []byte(`"type":"user"`)) || !decode(line, &l) || l.Type != "user" {
		return ""
	}
	return contentText(l.Content)
}

func qwenPrompt(line []byte) string {
	var l struct {
		Type, Provenance string
		Message          struct{ Parts json.RawMessage }
	}
	if !bytes.Contains(line, []byte(`"type":"user"`)) || !decode(line, &l) || l.Type != "user" || l.Provenance != "" && l.Provenance != "real_user" {
		return ""
	}
	return contentText(l.Message.Parts)
}

// contentText returns the text of a message: a string, or parts of which each is a text.
func contentText(content json.RawMessage) string {
	var text string
	if decode(content, &text) {
		return text
	}
	var parts []struct {
		Type string
		Text *string
	}
	if !decode(content, &parts) {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if p.Text == nil || p.Type != "" && p.Type != "text" {
			return ""
		}
		texts = append(texts, *p.Text)
	}
	return strings.Join(texts, "\n\n")
}

func decode(text []byte, v any) bool { return json.Unmarshal(text, v) == nil }
