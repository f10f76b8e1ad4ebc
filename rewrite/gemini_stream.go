package rewrite

import (
	"bytes"
	"encoding/json"
	"strings"

	"reprise/rewrite/reason"
)

// geminiStream reads gemini's stream-json and shows it unchanged except for the prompt of a resume. It also
// reads json, which has no prompt.
type geminiStream struct {
	streamBase

	object     []byte // json: the object so far; nil outside of one
	answer     strings.Builder
	texts      int  // bytes of Answer in finished texts
	turns      int  // answers of the model, as far as they can be distinguished
	nextAnswer bool // the model's next output is a new answer
	malformed  bool // an event had an unexpected shape
}

func (gemini) Stream(c Call, p Plan, _ Totals) Stream {
	base := streamBase{call: c, plan: p}
	if c.Format == Text {
		return &geminiText{shownText: shownText{streamBase: base}}
	}
	return &geminiStream{streamBase: base, nextAnswer: true}
}

// geminiEvent holds the fields of all event types that are read, and those of json's object.
type geminiEvent struct {
	Type      string
	SessionID string `json:"session_id"`
	Model     string
	Role      string
	Content   *string
	Status    string
	Response  string
	Error     *geminiError
	// Parameters are a tool's arguments.
	Parameters json.RawMessage
	Stats      *struct {
		Models json.RawMessage
		Tools  struct {
			TotalCalls int
		}
	}

	whole bool // every field above had the expected type
}

// A geminiError is the error of a run. An error that is not an object is its message.
type geminiError struct{ Type, Message string }

func (e *geminiError) UnmarshalJSON(value []byte) error {
	var fields struct{ Type, Message looseText }
	if ok, whole := readEvent(value, &fields); !ok || !whole {
		return (*looseText)(&e.Message).UnmarshalJSON(value)
	}
	e.Type, e.Message = string(fields.Type), string(fields.Message)
	return nil
}

// readGeminiEvent returns nil for a line that is no event.
func readGeminiEvent(line []byte) *geminiEvent {
	if !bytes.HasPrefix(line, []byte("{")) {
		return nil
	}
	e := &geminiEvent{}
	ok, whole := readEvent(line, e)
	if !ok || e.Type == "" {
		return nil
	}
	e.whole = whole
	return e
}

func (s *geminiStream) PrintsAtEnd() bool { return s.call.Format == JSON }

func (s *geminiStream) Line(line []byte) []byte {
	if s.object != nil || string(bytes.TrimSpace(line)) == "{" {
		s.addToObject(line)
		return line
	}
	event := readGeminiEvent(line)
	if event == nil {
		return line
	}
	s.learn(event)
	if event.Role == "user" {
		return s.plan.asAsked(line)
	}
	return line
}

// addToObject collects json's object, which ends with a brace at the start of a line.
func (s *geminiStream) addToObject(line []byte) {
	s.object = append(s.object, line...)
	if line[0] != '}' {
		return
	}
	var e geminiEvent
	_, e.whole = readEvent(s.object, &e)
	s.object = nil
	if e.SessionID == "" {
		return // not gemini's own
	}
	s.malformed = s.malformed || !e.whole
	s.learnID(&e)
	s.answer.WriteString(e.Response)
	s.learnResult(&e)
	if e.Stats != nil {
		s.seen.ToolRan = e.Stats.Tools.TotalCalls > 0
	}
}

func (s *geminiStream) learn(e *geminiEvent) {
	switch e.Type {
	case "init", "message", "result":
		s.malformed = s.malformed || !e.whole
	}
	switch e.Type {
	case "init":
		s.learnID(e)
		s.seen.Model = e.Model
	case "message":
		s.learnMessage(e)
	case "tool_use":
		s.answered()
		s.seen.ToolRan = true
		s.seen.addFiles(e.Parameters)
		s.endText()
	case "tool_result":
		s.nextAnswer = true
	case "result":
		s.learnResult(e)
	}
}

func (s *geminiStream) learnMessage(e *geminiEvent) {
	content := orEmpty(e.Content)
	switch {
	case e.Role == "user":
		if geminiForgets(content) { // a hook has prepended its output
			s.seen.Refusal = reason.RefusedBroken
		}
	case e.Role == "assistant" && content != "":
		s.answered()
		s.answer.WriteString(content)
	}
}

// endText ends one of the texts of the answer. Text mode starts a new line after it; json joins the
// texts.
func (s *geminiStream) endText() {
	if text := s.answer.String()[s.texts:]; text != "" {
		s.seen.addText(text)
		s.texts = s.answer.Len()
	}
}

// answered records a sign of the model. Its next answer begins when it has its tools' results.
func (s *geminiStream) answered() {
	s.seen.Content = !s.seen.WrongID
	if s.nextAnswer {
		s.turns++
	}
	s.nextAnswer = false
}

// learnID pins the ID, or records that the tool left the requested session, as versions around 0.2x
// did (CLI-FACTS 3.2). An event of unexpected shape names no session.
func (s *geminiStream) learnID(e *geminiEvent) {
	id := e.SessionID
	if !isUUID(id) {
		return
	}
	if s.plan.Resume != "" && id != s.plan.Resume {
		s.seen.WrongID = true
	}
	if s.seen.ID == "" && e.whole {
		s.seen.ID, s.seen.Source = id, "stdout"
	}
}

// learnResult reads the final event. In stream-json an empty answer has no error, only the status
// of one and exit code 0 (recordings/gemini/empty-text). json has no status.
func (s *geminiStream) learnResult(e *geminiEvent) {
	s.seen.Final = true
	s.seen.Failed = e.Type != "" && e.Status != "success" || e.Error != nil || s.malformed
	s.seen.Answer = s.answer.String()
	s.endText()
	if e.Error != nil && s.seen.Refusal == "" {
		s.seen.Refusal = geminiRefusals.in(e.Error.Message)
	}
	if e.Stats != nil {
		s.learnUsage(e.Stats.Models)
	}
}

// learnUsage adds up the usage of all models. Each is summed over all its requests in this call.
// Context use is only estimated, as the mean of the requests: too low, but the sum would be far too
// high.
func (s *geminiStream) learnUsage(models json.RawMessage) {
	var byModel map[string]struct {
		Input  int64
		Cached int64
		Prompt int64 `json:"input_tokens"`
		Total  int64 `json:"total_tokens"`
		API    struct{ TotalRequests int64 }
		Tokens struct{ Input, Cached, Prompt, Total int64 }
	}
	if _, whole := readEvent(models, &byModel); !whole {
		return
	}
	u := &s.seen.Usage
	*u = Usage{Known: len(byModel) > 0}
	for _, m := range byModel {
		t, requests := m.Tokens, m.API.TotalRequests
		if requests == 0 {
			t.Input, t.Cached, t.Prompt, t.Total = m.Input, m.Cached, m.Prompt, m.Total
			requests = int64(max(s.turns, 1))
		}
		u.Input += t.Input
		u.CacheRead += t.Cached
		u.Output += t.Total - t.Prompt // thoughts included
		s.seen.ContextUse.Used = max(s.seen.ContextUse.Used, t.Total/requests)
	}
}

// End implements Stream.
func (s *geminiStream) End() []byte { return nil }
