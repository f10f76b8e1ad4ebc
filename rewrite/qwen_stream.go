package rewrite

import (
	"bytes"
	"encoding/json"
	"strings"
)

// qwenStream reads qwen's stream-json, which is claude's with other figures, and shows it unchanged
// except for the figures of a resume. It also reads json, the array of the same events in one line.
type qwenStream struct {
	streamBase
	previous  Totals
	malformed bool // an event had an unexpected shape
}

func (qwen) Stream(c Call, p Plan, previous Totals) Stream {
	base := streamBase{call: c, plan: p}
	if c.Format == Text {
		return &qwenText{shownText: shownText{streamBase: base}, previous: previous, chats: map[string]*qwenChat{}}
	}
	return &qwenStream{streamBase: base, previous: previous}
}

func (s *qwenStream) PrintsAtEnd() bool { return s.call.Format != StreamJSON }

func (s *qwenStream) HoldsOutput() bool { return s.call.Format != StreamJSON }

// A qwenEvent has claude's fields and those that differ.
type qwenEvent struct {
	claudeEvent
	Version string `json:"qwen_code_version"`
	Event   struct {
		Type  string `json:"type"`
		Delta struct {
			Text string `json:"text"`
		} `json:"delta"`
	} `json:"event"`
	Error struct {
		Message looseText `json:"message"`
	} `json:"error"`
}

// qwenMarks are words of which every line worth parsing contains at least one.
var qwenMarks = newMarks("result", "assistant", "init", "retry", "stream_event")

func (s *qwenStream) Line(line []byte) []byte {
	if s.call.Format == JSON {
		return s.array(line)
	}
	return s.event(line)
}

// event learns from a line of stream-json and returns it with the call's own figures.
func (s *qwenStream) event(line []byte) []byte {
	if event := s.read(line); event.Type == "result" {
		return s.ownFigures(line)
	}
	return line
}

// array reads the line that is json's array of events. Only its result has figures.
func (s *qwenStream) array(line []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(line))
	if begin, err := d.Token(); err != nil || begin != json.Delim('[') || !json.Valid(line) {
		return line
	}
	for d.More() {
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return line
		}
		if event := s.read(raw); event.Type == "result" {
			end := int(d.InputOffset())
			own := s.ownFigures(raw)
			return append(append(bytes.Clone(line[:end-len(raw)]), own...), line[end:]...)
		}
	}
	return line
}

// read parses an event and learns from it.
func (s *qwenStream) read(line []byte) *qwenEvent {
	e := &qwenEvent{}
	if !qwenMarks.in(line) {
		return e
	}
	_, e.whole = readEvent(line, e)
	s.malformed = s.malformed || !e.whole && e.matters() && line[0] == '{'
	switch e.Type {
	case "system":
		switch e.Subtype {
		case "init":
			s.learnID(e)
			s.seen.Version, s.seen.Model = e.Version, e.Model
		case "retry": // the only sign that it has shortened its history (recordings/qwen/toobig-stream)
			s.seen.Compacted = true
		}
	case "stream_event":
		if text := e.Event.Delta.Text; e.Event.Type == "content_block_delta" && !isQwenError(text) && e.Parent == "" {
			s.seen.Content = !s.seen.WrongID
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

// learnID pins the ID, or records that the tool left the requested session or works in the one that
// it should have copied.
func (s *qwenStream) learnID(e *qwenEvent) {
	id := e.SessionID
	if !isUUID(id) {
		return
	}
	if s.plan.Resume != "" && (id == s.plan.Resume) == s.plan.Copy {
		s.seen.WrongID = true
	}
	if s.seen.ID == "" && e.whole {
		s.seen.ID, s.seen.Source = id, "stdout"
	}
}

// learnMessage reads a message of the main conversation. Of several for one answer only the last has
// figures.
func (s *qwenStream) learnMessage(e *qwenEvent) {
	for _, part := range e.Message.Content {
		switch {
		case part.Type == "tool_use":
			s.seen.ToolRan = true
			s.seen.addFiles(part.Input)
		case part.Type == "text" && isQwenError(part.Text):
			return
		case part.Type == "text":
			s.seen.addText(part.Text)
		}
		s.seen.Content = !s.seen.WrongID
	}
	if u := e.Message.Usage; u != nil && e.whole && u.Input > 0 {
		s.seen.ContextUse.Used = u.Input + u.Output // what was read from the cache is part of the input
		if !s.seen.First.Known {
			s.seen.First = Usage{Known: true, Input: u.Input - u.CacheRead, CacheRead: u.CacheRead}
		}
	}
}

func (s *qwenStream) learnResult(e *qwenEvent) {
	s.seen.Results++
	s.seen.Final = true
	s.seen.Failed = e.IsError == nil || *e.IsError || e.Subtype != "success" || s.malformed
	s.seen.Answer = e.answer()
	if e.isError() {
		s.seen.Refusal = qwenRefusals.in(string(e.Error.Message))
	}
}

// ownFigures returns a result with this call's share of its figures: a resumed session, also a copy,
// reports the totals of the whole session (recordings/qwen/resume-json).
func (s *qwenStream) ownFigures(result []byte) []byte {
	numbers := jsonNumbers(result)
	s.seen.Totals = encodeTotals(numbers, qwenRunsOn)
	if s.plan.Resume != "" {
		result = subtractTotals(result, numbers, s.previous)
		numbers = jsonNumbers(result)
	}
	s.learnUsage(numbers)
	return result
}

// qwenRunsOn reports whether the number at path is a running total of the session.
func qwenRunsOn(path string) bool {
	return strings.HasPrefix(path, "usage\t") ||
		strings.HasPrefix(path, "stats\t") && !strings.HasPrefix(path, "stats\tgeneration\tlast\t")
}

// learnUsage reads the run's usage. It contains what qwen asks a model on its own, as the direct run's
// does. What was read from the cache is part of the input; thoughts are missing in the output.
func (s *qwenStream) learnUsage(numbers []jsonNumber) {
	u, total := &s.seen.Usage, int64(0)
	*u = Usage{}
	for _, n := range numbers {
		value, err := nano(n.text)
		if err != nil {
			continue
		}
		switch count := value / 1e9; n.path {
		case "usage\tinput_tokens":
			u.Input, u.Known = count, true
		case "usage\tcache_read_input_tokens":
			u.CacheRead = count
		case "usage\toutput_tokens":
			u.Output = count
		case "usage\ttotal_tokens":
			total = count
		}
	}
	u.Output = max(u.Output, total-u.Input)
	u.Input -= min(u.CacheRead, u.Input)
}

// End implements Stream.
func (s *qwenStream) End() []byte { return nil }
