package rewrite

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"reprise/rewrite/jsonline"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// StartHooks are settings that make claude run something when it starts or ends.
var StartHooks = jsonline.NewMarks("SessionStart", "SessionEnd", "Setup", "enabledPlugins",
	"plugins")

// Opened completes a call by the frames that the conversation begins with. The last one is the
// first message of a user. It fails with a reason.Code if the conversation must not be changed.
// The request to initialize is a setting: it names the caller's hooks and servers and its system
// prompt.
func (c CommandLine) Opened(frames []Frame) (opened CommandLine, prompt string, err error) {
	c.Settings = slices.Clone(c.Settings)
	for _, f := range frames[:len(frames)-1] {
		switch {
		case f.Kind == ResponseFrame, f.Kind == IdleFrame:
		case f.Kind != RequestFrame || f.Subtype != initialize:
			return c, "", reason.MessageContent
		default:
			c.Settings = append(c.Settings, JSONSettings(initialize, jsonline.Compact(f.Body))...)
			// also the hooks of the end, which a scout would run
			c.HookSet = c.HookSet || StartHooks.In([]byte(f.Body))
			c.KeepPrompt = c.KeepPrompt || promptHooks.In([]byte(f.Body))
		}
	}
	last := frames[len(frames)-1]
	prompt, why := last.Prompt()
	_, replaceable := last.WithPrompt("")
	c.KeepPrompt = c.KeepPrompt || !replaceable
	if why != "" {
		return c, prompt, why
	}
	return c, prompt, nil
}

var promptHooks = jsonline.NewMarks("UserPromptSubmit", "UserPromptExpansion")

// claude with --input-format stream-json holds a conversation. Each line, in both directions, is a
// frame. The caller sends user messages and control requests, and receives events and claude's own
// control requests. docs/internals/callers.md has the measurements.

// A FrameKind is the kind of a line of such a conversation.
type FrameKind int

// The kinds that matter here.
const (
	OtherFrame    FrameKind = iota // an event, or a line that is not read
	UserFrame                      // a user's message to the model
	RequestFrame                   // a control request, in either direction
	ResponseFrame                  // the answer to one
	CancelFrame                    // cancels a control request
	IdleFrame                      // keeps the connection alive
)

// A Frame is a line of a conversation. Line has the newline.
type Frame struct {
	Line      []byte
	Kind      FrameKind
	RequestID string // of a request, the answer or the cancellation
	Subtype   string // of a request
	Body      string // of a request, in the bytes of the line
}

var frameKinds = map[string]FrameKind{
	"user": UserFrame, "control_request": RequestFrame, "control_response": ResponseFrame,
	"control_cancel_request": CancelFrame, "keep_alive": IdleFrame,
}

// ReadInput reads a line that the caller sends.
func ReadInput(line []byte) Frame {
	f := Frame{Line: line}
	text := string(line)
	if !json.Valid(line) {
		return f
	}
	f.Kind = frameKinds[jsonline.String(jsonline.Member(text, "type"))]
	switch f.Kind {
	case RequestFrame, CancelFrame:
		f.RequestID = jsonline.String(jsonline.Member(text, "request_id"))
		f.Body = jsonline.Member(text, "request")
		f.Subtype = jsonline.String(jsonline.Member(f.Body, "subtype"))
	case ResponseFrame:
		f.RequestID = jsonline.String(jsonline.Member(jsonline.Member(text, "response"),
			"request_id"))
	}
	return f
}

// Every line of claude that is no event contains one of controlMarks.
var controlMarks = jsonline.NewMarks("control_request", "control_response",
	"control_cancel_request", "keep_alive")

// ReadOutput reads a line that claude sends. An event is of no kind here.
func ReadOutput(line []byte) Frame {
	if !controlMarks.In(line) {
		return Frame{Line: line}
	}
	f := ReadInput(line)
	if f.Kind == UserFrame {
		f.Kind = OtherFrame
	}
	return f
}

// initialize is the subtype of the request that a conversation begins with.
const initialize = "initialize"

// plainRequests do not change the session.
var plainRequests = []string{initialize, "interrupt", "mcp_status"}

// ChangesSession reports whether a frame of the caller can change the session in a way that
// messages alone do not. claude takes an assistant event for an answer of the model (2.1.332).
func (f Frame) ChangesSession() bool {
	return f.Kind == OtherFrame || f.Kind == RequestFrame &&
		!slices.Contains(plainRequests, f.Subtype) && !strings.HasPrefix(f.Subtype, "get_") &&
		!f.answersServer()
}

// answersServer reports whether a request is the answer of one of the caller's own MCP servers. An
// SDK sends one so that has two for the same ID: claude 2.0.50 connects to such a server twice
// (claude-agent-sdk 0.1.44).
func (f Frame) answersServer() bool {
	message, ok := jsonline.Members(jsonline.Member(f.Body, "message"))
	return f.Subtype == "mcp_message" && ok && message["method"] == "" && message["id"] != ""
}

// The known fields of a user message and the parts.
var (
	userFields = []string{"type", "message", "session_id", "parent_tool_use_id", "uuid",
		"timestamp"}
	messageFields = []string{"role", "content"}
	contentFields = []string{"type", "text"}
)

// Prompt returns the text of a user message, "" if it is not known, and the reason why the message
// must not be changed.
func (f Frame) Prompt() (text string, why reason.Code) {
	raw, why := f.rawPrompt()
	text = jsonline.String(raw)
	switch {
	case why != "":
	case strings.TrimSpace(text) == "":
		return "", reason.MessageContent
	case prompt.IsSlashCommand(text):
		why = reason.SlashCommand
	}
	return text, why
}

// rawPrompt returns the JSON string with a message's text, in the bytes of the line: the content,
// or the only part.
func (f Frame) rawPrompt() (raw string, why reason.Code) {
	fields, ok := jsonline.Members(string(f.Line))
	message, plain := jsonline.Members(fields["message"])
	if !ok || !plain || f.Kind != UserFrame {
		return "", reason.MessageContent
	}
	parent := fields["parent_tool_use_id"]
	if within(fields, userFields) && within(message, messageFields) &&
		jsonline.String(message["role"]) == "user" && (parent == "" || parent == "null") {
		raw = textOf(message["content"])
	}
	switch id := jsonline.String(fields["session_id"]); {
	case id != "" && id != "default": // the values that SDKs send without a session
		why = reason.CallerSession
	case raw == "":
		why = reason.MessageContent
	}
	return raw, why
}

// textOf returns the JSON string of a message's content: the content, or the only part. It returns
// "" for any other content.
func textOf(content string) string {
	if strings.HasPrefix(content, "[") {
		var parts []json.RawMessage
		if json.Unmarshal([]byte(content), &parts) != nil || len(parts) != 1 {
			return ""
		}
		part, ok := jsonline.Members(string(parts[0]))
		if !ok || !within(part, contentFields) || jsonline.String(part["type"]) != "text" {
			return ""
		}
		content = part["text"]
	}
	if !strings.HasPrefix(content, `"`) {
		return ""
	}
	return content
}

// WithPrompt returns the line with another text. All other bytes stay. It is not ok, and the line
// unchanged, unless the line contains the text once and claude reads it there.
func (f Frame) WithPrompt(text string) (line []byte, ok bool) {
	raw, why := f.rawPrompt()
	if why != "" || bytes.Count(f.Line, []byte(raw)) != 1 || !utf8.Valid(f.Line) ||
		strings.ContainsRune(jsonline.String(raw), utf8.RuneError) {
		return f.Line, false
	}
	return bytes.Replace(f.Line, []byte(raw), jsonline.RawString(text), 1), true
}

// within reports whether an object has no fields but these.
func within(fields map[string]string, known []string) bool {
	for name := range fields {
		if !slices.Contains(known, name) {
			return false
		}
	}
	return true
}

// inputOfRun are the fields of a hook's input that differ in each run.
var inputOfRun = []string{"session_id", "transcript_path", "prompt_id", "tool_use_id"}

// Key returns a text that is equal for the same request of claude in two runs.
func (f Frame) Key() string {
	body := jsonline.RemoveKey(f.Body, "tool_use_id")
	if input := jsonline.Member(body, "input"); input != "" {
		stripped := input
		for _, name := range inputOfRun {
			stripped = jsonline.RemoveKey(stripped, name)
		}
		body = strings.Replace(body, input, stripped, 1)
	}
	return body
}

// Answering returns an answer's line with the ID of another request.
func (f Frame) Answering(requestID string) []byte {
	return bytes.Replace(f.Line, jsonline.RawString(f.RequestID), jsonline.RawString(requestID), 1)
}

// StoresTurn reports whether the end of claude's session file holds a turn: the caller's message,
// and the answer that ends with the message with the ID last. Claude writes the file before it
// prints the result (2.1.329).
func StoresTurn(tail []byte, message, last string) bool {
	answered := false
	for _, line := range slices.Backward(slices.Collect(bytes.Lines(tail))) {
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
			if text, plain := PlainContent(entry.Message.Content); plain {
				return answered && text == message
			}
		}
	}
	return false
}

// PlainContent returns the text of a message that is nothing else: a string, or parts with texts
// that are of type text, or of none.
func PlainContent(content json.RawMessage) (text string, ok bool) {
	if json.Unmarshal(content, &text) == nil {
		return text, true
	}
	var parts []struct {
		Type string
		Text *string
	}
	if json.Unmarshal(content, &parts) != nil {
		return "", false
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		if part.Text == nil || part.Type != "" && part.Type != "text" {
			return "", false
		}
		texts[i] = *part.Text
	}
	return strings.Join(texts, "\n\n"), true
}
