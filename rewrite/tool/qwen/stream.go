package qwen

import (
	"bytes"
	"encoding/json"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/tool/base"
)

// stream reads qwen's stream-json, which is claude's with other figures, and shows it unchanged
// except for the figures of a resume. It also reads json, the array of the same events in one line.
type stream struct {
	base.Stream

	sent int64 // tokens that the messages' requests have sent
}

func (qwen) Stream(c rewrite.CommandLine, p rewrite.Plan, previous rewrite.Totals) rewrite.Stream {
	common := base.NewStream(c, p, previous)
	common.AtEnd = c.Format != rewrite.StreamJSON
	common.Holds = common.AtEnd
	if c.Format == rewrite.Text {
		return &text{Stream: common, chats: map[string]*chatFile{}}
	}
	return &stream{Stream: common}
}

// An event has claude's fields, and qwen's own.
type event struct {
	base.ClaudeEvent
	Version string `json:"qwen_code_version"`
	Event   struct {
		Type  string `json:"type"`
		Delta struct {
			Text string `json:"text"`
		} `json:"delta"`
	} `json:"event"`
	Error struct {
		Message jsonline.LooseText `json:"message"`
	} `json:"error"`
}

// marks are words; every line worth parsing contains at least one.
var marks = jsonline.NewMarks("result", "assistant", "init", "retry", "stream_event")

func (s *stream) Line(line []byte) []byte {
	if s.Call.Format == rewrite.JSON {
		return s.array(line)
	}
	if s.read(line).Type == "result" {
		return s.ownFigures(line)
	}
	return line
}

// array reads the line that is json's array of events. Only the result has figures.
func (s *stream) array(line []byte) []byte {
	var events []json.RawMessage
	_ = json.Unmarshal(line, &events) // anything else has no events
	for _, event := range events {
		if s.read(event).Type == "result" {
			return bytes.Replace(line, event, s.ownFigures(event), 1)
		}
	}
	return line
}

func (s *stream) read(line []byte) *event {
	e := &event{}
	if !marks.In(line) {
		return e
	}
	_, e.Whole = jsonline.ReadEvent(line, e)
	s.State.Malformed = s.State.Malformed || !e.Whole && e.Matters() && line[0] == '{'
	switch e.Type {
	case "system":
		switch e.Subtype {
		case "init":
			s.LearnID(e.SessionID, "stdout", e.Whole)
			s.State.Version, s.State.Model = e.Version, e.Model
		// the only sign that it has shortened the history (recordings/qwen/toobig-stream)
		case "retry":
			s.State.Compacted = true
		}
	case "stream_event":
		if text := e.Event.Delta.Text; e.Event.Type == "content_block_delta" &&
			!isQwenError(text) && e.Parent == "" {
			s.State.Content = !s.State.WrongID
		}
	case "assistant":
		if e.Parent == "" {
			s.learnMessage(e)
		}
	case "result":
		s.learnResult(e)
	}
	return e
}

// isQwenError reports whether a text is a failure that qwen shows as a message of the model.
func isQwenError(text string) bool { return strings.HasPrefix(text, "[API Error: ") }

// learnMessage reads a message of the main conversation. Of several for one answer only the last
// has figures.
func (s *stream) learnMessage(e *event) {
	for _, part := range e.Message.Content {
		switch {
		case part.Type == "tool_use":
			s.State.AddTool(part.Input)
		case part.Type == "text" && isQwenError(part.Text):
			return
		case part.Type == "text":
			s.State.AddText(part.Text)
		}
		s.State.Content = !s.State.WrongID
	}
	if u := e.Message.Usage; u != nil && e.Whole && u.Input > 0 {
		used := u.Input + u.Output // cache reads are part of the input
		// else the message is another part of the same request's answer
		if used != s.State.ContextUse.Used {
			s.sent += u.Input
		}
		s.State.ContextUse.Used = used
		s.LearnFirst(rewrite.Usage{Known: true, Input: u.Input - u.CacheRead,
			CacheRead: u.CacheRead})
	}
}

func (s *stream) learnResult(e *event) {
	s.LearnResult(&e.ClaudeEvent)
	if e.Fails() {
		s.State.Refusal = refusals.In(string(e.Error.Message))
		s.State.Outside = failures.Begins(string(e.Error.Message))
	}
}

// ownFigures returns a result with this call's share of the figures: a resumed session, also a
// copy, reports the totals of the whole session (recordings/qwen/resume-json).
func (s *stream) ownFigures(result []byte) []byte {
	numbers := jsonline.Numbers(result)
	s.State.Totals = base.EncodeTotals(numbers, runsOn)
	if s.Plan.Resume != "" {
		result = base.SubtractTotals(result, numbers, s.Before,
			map[string]int64{"usage\tinput_tokens": s.sent})
		numbers = jsonline.Numbers(result)
		result = s.withoutUnused(result, numbers)
	}
	s.learnUsage(result)
	return result
}

// withoutUnused returns a result without the models of earlier runs. If no model is left, as for a
// prompt that a hook blocked, a call of its own has no total and no pace either (0.24.4). A result
// of stream-json has no models.
func (s *stream) withoutUnused(result []byte, numbers []jsonline.Numeral) []byte {
	own := base.WithoutUnused(result, numbers, s.Before, "stats\tmodels")
	stats := jsonline.Member(string(own), "stats")
	if stats == "" && s.State.Content ||
		stats != "" && (len(own) == len(result) || jsonline.Member(stats, "models") != "{}") {
		return own
	}
	pace := `,"generation":` + jsonline.Member(stats, "generation")
	own = bytes.Replace(own, []byte(pace), nil, 1)
	return bytes.Replace(own, []byte(`,"total_tokens":0}`), []byte("}"), 1)
}

// runsOn reports whether the number at path is a running total of the session.
func runsOn(path string) bool {
	return strings.HasPrefix(path, "usage\t") ||
		strings.HasPrefix(path, "stats\t") && !strings.HasPrefix(path, "stats\tgeneration\tlast\t")
}

// learnUsage reads the run's usage. It contains qwen's own requests, as the direct
// run's does. Cache reads are part of the input; thoughts are missing in the output.
func (s *stream) learnUsage(result []byte) {
	var r struct {
		Usage *struct {
			base.ClaudeUsage
			Total int64 `json:"total_tokens"`
		} `json:"usage"`
	}
	s.State.Usage = rewrite.Usage{}
	if _, whole := jsonline.ReadEvent(result, &r); whole && r.Usage != nil {
		u := r.Usage
		s.State.Usage = rewrite.Usage{Known: true, Input: u.Input - min(u.CacheRead, u.Input),
			CacheRead: u.CacheRead, Output: max(u.Output, u.Total-u.Input)}
	}
}
