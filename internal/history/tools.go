package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The file formats are those of claude 2.1.329, codex 0.169.0, copilot 1.0.102, gemini 0.61.0, qwen 0.24.4 and vibe 3.0.3;
// testdata/sessions contains one file of each.

// beginClaude reads the ID from the file's name.
func beginClaude(f *File, path string) {
	f.Session.ID = strings.TrimSuffix(filepath.Base(path), ".jsonl")
}

// claudeLine reads a line of a transcript. An answer of several blocks has a line for each, and
// each line has the usage of the whole answer.
func claudeLine(f *File, line []byte) {
	if !bytes.Contains(line, []byte(`"type":"assistant"`)) && !bytes.Contains(line, []byte(`"type":"user"`)) {
		return
	}
	var l struct {
		Type      string
		Timestamp time.Time
		Cwd       string
		Version   string
		IsMeta    bool
		Sidechain bool `json:"isSidechain"`
		Message   struct {
			ID      string
			Model   string
			Content json.RawMessage
			Usage   struct {
				Input      int64 `json:"input_tokens"`
				CacheWrite int64 `json:"cache_creation_input_tokens"`
				CacheRead  int64 `json:"cache_read_input_tokens"`
				Output     int64 `json:"output_tokens"`
			}
		}
	}
	if !decode(line, &l) || l.Type != "assistant" && l.Type != "user" {
		return
	}
	s := &f.Session
	s.at(l.Timestamp)
	if s.Cwd == "" {
		s.Cwd = l.Cwd
	}
	if l.Version != "" {
		s.Version = l.Version
	}
	if l.Type == "user" {
		if !l.IsMeta && !l.Sidechain && !bytes.Contains(l.Message.Content, []byte(`"type":"tool_result"`)) {
			s.Turns++
		}
		return
	}
	if l.Message.ID == f.Last || l.Message.Model == "<synthetic>" {
		return
	}
	f.Last, s.Model, s.Counted = l.Message.ID, l.Message.Model, true
	u := l.Message.Usage
	s.Input, s.CacheRead, s.CacheWrite, s.Output = s.Input+u.Input, s.CacheRead+u.CacheRead, s.CacheWrite+u.CacheWrite, s.Output+u.Output
}

// codexLine reads a line of a rollout. Its counts are totals of the session, and input includes
// cached tokens.
func codexLine(f *File, line []byte) {
	head := line[:min(len(line), 200)] // the type is at the beginning
	if bytes.Contains(head, []byte(`"type":"response_item"`)) || bytes.Contains(head, []byte(`"type":"world_state"`)) {
		return
	}
	var l struct {
		Timestamp time.Time
		Type      string
		Payload   struct {
			Type    string
			ID      string
			Cwd     string
			Version string `json:"cli_version"`
			Model   string
			Info    *struct {
				Total struct {
					Input      int64 `json:"input_tokens"`
					CacheRead  int64 `json:"cached_input_tokens"`
					CacheWrite int64 `json:"cache_write_input_tokens"`
					Output     int64 `json:"output_tokens"`
				} `json:"total_token_usage"`
			}
		}
	}
	if !decode(line, &l) {
		return
	}
	s, p := &f.Session, &l.Payload
	s.at(l.Timestamp)
	switch {
	case l.Type == "session_meta" && s.ID == "": // a fork repeats its parent's
		s.ID, s.Cwd, s.Version = p.ID, p.Cwd, p.Version
	case l.Type == "turn_context":
		s.Model = p.Model
	case p.Type == "task_started":
		s.Turns++
	case p.Type == "token_count" && p.Info != nil:
		t := p.Info.Total
		s.Counted, s.Output = true, t.Output
		s.Input, s.CacheRead, s.CacheWrite = t.Input-t.CacheRead-t.CacheWrite, t.CacheRead, t.CacheWrite
	}
}

// copilotLine reads an event of a session. Its input includes the tokens that were read from the cache and
// written to it.
func copilotLine(f *File, line []byte) {
	head := line[:min(len(line), 60)] // the type is at the beginning
	if bytes.Contains(head, []byte(`"type":"system.message"`)) || bytes.Contains(head, []byte(`"type":"tool.`)) {
		return
	}
	var l struct {
		Type      string
		Timestamp time.Time
		Data      struct {
			SessionID string
			Version   string `json:"copilotVersion"`
			Context   struct{ Cwd string }
			Parent    string `json:"parentToolCallId"` // of a subagent
			Usage     struct {
				Model                     string
				InputTokens, OutputTokens int64
				CacheRead                 int64 `json:"cacheReadTokens"`
				CacheWrite                int64 `json:"cacheWriteTokens"`
			}
		}
	}
	if !decode(line, &l) {
		return
	}
	s, d := &f.Session, &l.Data
	s.at(l.Timestamp)
	switch l.Type {
	case "session.start":
		s.ID, s.Cwd, s.Version = d.SessionID, d.Context.Cwd, d.Version
	case "user.message":
		if d.Parent == "" {
			s.Turns++
		}
	case "session.usage_record":
		u := d.Usage
		s.Model, s.Counted = u.Model, true
		s.Input += u.InputTokens - u.CacheRead - u.CacheWrite
		s.CacheRead, s.CacheWrite, s.Output = s.CacheRead+u.CacheRead, s.CacheWrite+u.CacheWrite, s.Output+u.OutputTokens
	}
}

// beginGemini reads the project's directory. The path contains only its short name.
func beginGemini(f *File, path string) {
	root, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(path)), ".project_root"))
	if err == nil {
		f.Session.Cwd = strings.TrimSpace(string(root))
	}
}

// geminiLine reads a record of a chat. Its input includes cached tokens; thoughts are charged as
// output.
func geminiLine(f *File, line []byte) {
	var l struct {
		SessionID string
		Kind      string
		StartTime time.Time
		Timestamp time.Time
		ID        string
		Type      string
		Model     string
		Tokens    *struct{ Input, Output, Cached, Thoughts int64 }
		Set       struct {
			LastUpdated time.Time
		} `json:"$set"`
	}
	if !decode(line, &l) {
		return
	}
	s := &f.Session
	if l.SessionID != "" && s.ID == "" && (l.Kind == "" || l.Kind == "main") {
		s.ID = l.SessionID
	}
	for _, when := range []time.Time{l.StartTime, l.Timestamp, l.Set.LastUpdated} {
		s.at(when)
	}
	switch l.Type {
	case "user":
		s.Turns++
	case "gemini":
		if l.Tokens == nil || l.ID == f.Last {
			return
		}
		f.Last, s.Model, s.Counted = l.ID, l.Model, true
		s.Input += l.Tokens.Input - l.Tokens.Cached
		s.CacheRead += l.Tokens.Cached
		s.Output += l.Tokens.Output + l.Tokens.Thoughts
	}
}

// qwenLine reads a line of a chat. A prompt is a message of the user with a text of its own, and input
// includes cached tokens. A copy repeats its source's lines, under its own ID.
func qwenLine(f *File, line []byte) {
	if !bytes.Contains(line, []byte(`"type":"assistant"`)) && !bytes.Contains(line, []byte(`"type":"user"`)) {
		return
	}
	var l struct {
		SessionID  string
		Type       string
		Timestamp  time.Time
		Cwd        string
		Version    string
		Model      string
		Provenance string
		Usage      *struct {
			Input   int64 `json:"promptTokenCount"`
			Cached  int64 `json:"cachedContentTokenCount"`
			Output  int64 `json:"candidatesTokenCount"`
			Thought int64 `json:"thoughtsTokenCount"`
		} `json:"usageMetadata"`
	}
	if !decode(line, &l) || l.Type != "assistant" && l.Type != "user" {
		return
	}
	s := &f.Session
	s.at(l.Timestamp)
	s.ID = cmp.Or(s.ID, l.SessionID)
	s.Cwd, s.Version = cmp.Or(s.Cwd, l.Cwd), cmp.Or(l.Version, s.Version)
	switch {
	case l.Type == "user" && (l.Provenance == "" || l.Provenance == "real_user"):
		s.Turns++
	case l.Usage != nil:
		s.Model, s.Counted = l.Model, true
		s.Input += l.Usage.Input - l.Usage.Cached
		s.CacheRead += l.Usage.Cached
		s.Output += l.Usage.Output + l.Usage.Thought
	}
}

// vibeWhole reads a session's meta.json, which contains neither turns nor tokens.
func vibeWhole(f *File, text []byte) {
	var m struct {
		ID          string    `json:"session_id"`
		Start       time.Time `json:"start_time"`
		End         time.Time `json:"end_time"`
		Environment struct {
			Cwd string `json:"working_directory"`
		}
		Config struct {
			Model string `json:"active_model"`
		}
	}
	if !decode(text, &m) {
		return
	}
	s := &f.Session
	s.ID, s.Cwd, s.Model, s.Turns = m.ID, m.Environment.Cwd, m.Config.Model, -1
	s.at(m.Start)
	s.at(m.End)
}
