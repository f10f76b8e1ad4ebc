package qwen

import (
	"cmp"
	"encoding/json"
	"path"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/tool/base"
)

// text shows a run's answer as qwen prints it. The run's facts are read from the session's file.
// qwen chooses a copy's ID itself: the copy is the one file that names the source and holds this
// run's prompt.
type text struct {
	base.Stream
	chats map[string]*chatFile // by path
}

// A chatFile is the facts that a session's file shows of one run.
type chatFile struct {
	base.Stream // State is this file's
	prompt      string
	asked       bool // the run's own prompt was read
	// something is another session's or process's, such as a second prompt
	foreign bool
	source  string           // the session that the file is a copy of
	totals  map[string]int64 // of the session, by their place in a result
}

// A record is a line of a session's file. In a copy the lines of the source have forkedFrom.
type record struct {
	Type, Subtype, Version, Model string
	SessionID                     string `json:"sessionId"`
	Message                       struct {
		Parts []struct {
			Text string
			Call *struct{ Args json.RawMessage } `json:"functionCall"`
			// Thought marks the model's thoughts, which is not shown.
			Thought bool
		}
	}
	Figures struct {
		Input  int64 `json:"promptTokenCount"`
		Output int64 `json:"candidatesTokenCount"`
	} `json:"usageMetadata"`
	Payload struct {
		Event struct {
			Name   string `json:"event.name"`
			Input  int64  `json:"input_token_count"`
			Cached int64  `json:"cached_content_token_count"`
			Output int64  `json:"output_token_count"`
			Total  int64  `json:"total_token_count"`
			Status int    `json:"status_code"`
			Error  string `json:"error_message"`
		} `json:"uiEvent"`
	} `json:"systemPayload"`
	Fork *struct {
		SessionID string `json:"sessionId"`
	} `json:"forkedFrom"`
}

func (s *text) Line(piece []byte) []byte {
	s.Text.Keep(piece)
	return piece
}

func (s *text) File(name string, line []byte) {
	chat := s.chats[name]
	if chat == nil {
		chat = &chatFile{}
		if s.Plan.Resume != "" && !s.Plan.Copy { // the file is read from where it ended
			_ = json.Unmarshal([]byte(s.Previous), &chat.totals)
		}
		s.chats[name] = chat
	}
	chat.learn(line, strings.TrimSuffix(path.Base(name), ".jsonl"))
	if !s.ours(chat) {
		return
	}
	if s.Plan.ID() != "" {
		s.State = chat.State
		return
	}
	s.State.Content = s.State.Content || chat.State.Content
	s.State.ToolRan = s.State.ToolRan || chat.State.ToolRan
}

// ours reports whether a file can be this run's. qwen adds an empty line to a prompt from stdin.
func (s *text) ours(c *chatFile) bool {
	return c.State.ID != "" && (c.State.ID == s.Plan.ID() ||
		s.Plan.Copy && c.source == s.Plan.Resume &&
			strings.TrimSpace(c.prompt) == strings.TrimSpace(s.Plan.Prompt))
}

// End implements Stream. Of two copies that were made at once with one prompt, none is this run's
// for sure.
func (s *text) End() []byte {
	var found []*chatFile
	for _, chat := range s.chats {
		if s.ours(chat) {
			found = append(found, chat)
		}
	}
	if len(found) == 1 {
		s.State = found[0].State
	}
	return s.Stream.End()
}

func (c *chatFile) learn(line []byte, id string) {
	var r record
	ok, whole := jsonline.ReadEvent(line, &r)
	if !ok || r.SessionID == "" {
		return
	}
	switch {
	case r.SessionID != id:
		c.foreign = true
	case whole && base.IsUUID(id):
		c.State.ID, c.State.Source = id, "file"
	}
	if r.Subtype == "ui_telemetry" {
		c.learnRequest(&r)
	}
	if r.Fork != nil {
		c.source = r.Fork.SessionID
		return
	}
	c.State.Malformed = c.State.Malformed || !whole && r.Type != "system"
	c.State.Version = r.Version
	c.State.Compacted = c.State.Compacted || r.Subtype == "chat_compression"
	switch r.Type {
	case "user":
		c.foreign = c.foreign || c.asked
		c.asked, c.State.Final = true, false
		if len(r.Message.Parts) > 0 {
			c.prompt = r.Message.Parts[0].Text
		}
	case "tool_result":
		c.State.Final = false
	case "assistant":
		c.foreign = c.foreign || !c.asked
		c.learnAnswer(&r)
	}
	c.State.Failed = c.State.Malformed || c.foreign
}

// learnAnswer reads an answer. It is not the last one if it calls a tool, and is cut short if it
// has no figures (recordings/qwen/chat-cut).
func (c *chatFile) learnAnswer(r *record) {
	c.State.Model, c.State.Content = r.Model, true
	calls := false
	c.State.Final = false
	for _, part := range r.Message.Parts {
		switch {
		case part.Call != nil:
			calls = true
			c.State.AddTool(part.Call.Args)
		case part.Text != "" && !part.Thought:
			c.State.Final = true
			c.State.AddText(part.Text)
		}
	}
	c.State.Final = c.State.Final && !calls && r.Figures.Input > 0
	if f := r.Figures; f.Input > 0 {
		c.State.ContextUse.Used = f.Input + f.Output // cache reads are part of the input
	}
}

// learnRequest reads the figures of a request, which qwen might have made on its own. A copy's
// totals include the source's.
func (c *chatFile) learnRequest(r *record) {
	e := &r.Payload.Event
	c.State.Outside = ""
	if e.Name == "qwen-code.api_error" && r.Fork == nil {
		c.State.Outside = cmp.Or(base.FailureByStatus(e.Status),
			failures.Begins("[API Error: "+e.Error))
	}
	if e.Name != "qwen-code.api_response" {
		return
	}
	if c.totals == nil {
		c.totals = map[string]int64{}
	}
	c.totals["usage\tinput_tokens"] += e.Input
	c.totals["usage\tcache_read_input_tokens"] += e.Cached
	c.totals["usage\toutput_tokens"] += e.Output
	c.totals["usage\ttotal_tokens"] += e.Total
	text, _ := json.Marshal(c.totals) // numbers can always be written
	c.State.Totals = rewrite.Totals(text)
	if r.Fork == nil {
		c.AddUsage(rewrite.Usage{Input: e.Input - min(e.Cached, e.Input), CacheRead: e.Cached,
			Output: max(e.Output, e.Total-e.Input)})
	}
}
