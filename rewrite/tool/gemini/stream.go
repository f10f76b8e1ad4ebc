package gemini

import (
	"bytes"
	"encoding/json"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
)

// stream reads gemini's stream-json and shows it unchanged except for the prompt of a resume. It
// also reads json, which has no prompt.
type stream struct {
	base.Stream

	object     []byte // json: the object so far; nil outside of one
	answer     strings.Builder
	texts      int  // bytes of Answer in finished texts
	turns      int  // answers of the model, as far as they can be distinguished
	nextAnswer bool // the model's next output is a new answer
}

func (gemini) Stream(c rewrite.CommandLine, p rewrite.Plan,
	previous rewrite.Totals) rewrite.Stream {
	common := base.NewStream(c, p, previous)
	common.AtEnd = c.Format == rewrite.JSON
	if c.Format == rewrite.Text {
		return &text{Stream: common}
	}
	return &stream{Stream: common, nextAnswer: true}
}

// event holds the fields of all event types that are read, and the fields of json's object.
type event struct {
	Type      string
	SessionID string `json:"session_id"`
	Model     string
	Role      string
	Content   string
	Status    string
	Response  string
	Error     *apiError
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

// An apiError is the error of a run. An error that is not an object is the message.
type apiError struct{ Message string }

func (e *apiError) UnmarshalJSON(value []byte) error {
	var fields struct{ Message jsonline.LooseText }
	if ok, whole := jsonline.ReadEvent(value, &fields); !ok || !whole {
		return (*jsonline.LooseText)(&e.Message).UnmarshalJSON(value)
	}
	e.Message = string(fields.Message)
	return nil
}

func (s *stream) Line(line []byte) []byte {
	if s.object != nil || string(bytes.TrimSpace(line)) == "{" {
		s.addToObject(line)
		return line
	}
	var e event
	ok := bytes.HasPrefix(line, []byte("{"))
	if ok {
		ok, e.whole = jsonline.ReadEvent(line, &e)
	}
	if !ok || e.Type == "" {
		return line
	}
	s.learn(&e)
	if e.Role == "user" {
		return base.AsAsked(&s.Plan, line)
	}
	return line
}

// addToObject collects json's object, which ends with a brace at the start of a line.
func (s *stream) addToObject(line []byte) {
	s.object = append(s.object, line...)
	if line[0] != '}' {
		return
	}
	var e event
	_, e.whole = jsonline.ReadEvent(s.object, &e)
	s.object = nil
	if e.SessionID == "" {
		return // not gemini's own
	}
	s.State.Malformed = s.State.Malformed || !e.whole
	s.LearnID(e.SessionID, "stdout", e.whole)
	s.answer.WriteString(e.Response)
	s.learnResult(&e)
	if e.Stats != nil {
		s.State.ToolRan = e.Stats.Tools.TotalCalls > 0
	}
	s.State.Content = (e.Response != "" || s.State.ToolRan) && !s.State.WrongID
}

func (s *stream) learn(e *event) {
	switch e.Type {
	case "init", "message", "result":
		s.State.Malformed = s.State.Malformed || !e.whole
	}
	switch e.Type {
	case "init":
		s.LearnID(e.SessionID, "stdout", e.whole)
		s.State.Model = e.Model
	case "message":
		s.learnMessage(e)
	case "tool_use":
		s.answered()
		s.State.AddTool(e.Parameters)
		s.endText()
	case "tool_result":
		s.nextAnswer = true
	case "result":
		s.learnResult(e)
	}
}

func (s *stream) learnMessage(e *event) {
	switch {
	case e.Role == "user":
		if forgets(e.Content) { // a hook has prepended the output
			s.State.Refusal = reason.RefusedBroken
		}
	case e.Role == "assistant" && e.Content != "":
		s.answered()
		s.answer.WriteString(e.Content)
	}
}

// endText ends one of the texts of the answer. Text mode starts a new line after it; json joins the
// texts.
func (s *stream) endText() {
	if text := s.answer.String()[s.texts:]; text != "" {
		s.State.AddText(text)
		s.texts = s.answer.Len()
	}
}

// answered records a sign of the model. The next answer begins when it has the tools' results.
func (s *stream) answered() {
	s.State.Content = !s.State.WrongID
	if s.nextAnswer {
		s.turns++
	}
	s.nextAnswer = false
}

// outside returns the cause of a failure that says nothing against the session. The API's answer
// follows a fixed prefix (recordings/gemini/http400-stream).
func outside(message string) reason.Code {
	var answer struct{ Error struct{ Code int } }
	text, ofAPI := strings.CutPrefix(message, "[API Error: ")
	if !ofAPI || json.NewDecoder(strings.NewReader(text)).Decode(&answer) != nil {
		return ""
	}
	return base.FailureByStatus(answer.Error.Code)
}

// learnResult reads the final event. In stream-json an empty answer has no error, only the status
// of one and exit code 0 (recordings/gemini/empty-text). json has no status.
func (s *stream) learnResult(e *event) {
	s.State.Final = true
	s.State.Failed = e.Type != "" && e.Status != "success" || e.Error != nil || s.State.Malformed
	s.State.Answer = s.answer.String()
	s.endText()
	if e.Error != nil && s.State.Refusal == "" {
		s.State.Refusal, s.State.Outside = refusals.In(e.Error.Message), outside(e.Error.Message)
	}
	if e.Stats != nil {
		s.learnUsage(e.Stats.Models)
	}
}

// learnUsage adds up the usage of all models. Each is summed over all the requests in this call.
// Context use is only estimated, as the mean of the requests: too low, but the sum would be far too
// high.
func (s *stream) learnUsage(models json.RawMessage) {
	var byModel map[string]struct {
		Input  int64
		Cached int64
		Prompt int64 `json:"input_tokens"`
		Total  int64 `json:"total_tokens"`
		API    struct{ TotalRequests int64 }
		Tokens struct{ Input, Cached, Prompt, Total int64 }
	}
	if _, whole := jsonline.ReadEvent(models, &byModel); !whole {
		return
	}
	u := &s.State.Usage
	*u = rewrite.Usage{Known: len(byModel) > 0}
	for _, m := range byModel {
		t, requests := m.Tokens, m.API.TotalRequests
		if requests == 0 {
			t.Input, t.Cached, t.Prompt, t.Total = m.Input, m.Cached, m.Prompt, m.Total
			requests = int64(max(s.turns, 1))
		}
		u.Input += t.Input
		u.CacheRead += t.Cached
		u.Output += t.Total - t.Prompt // thoughts included
		s.State.ContextUse.Used = max(s.State.ContextUse.Used, t.Total/requests)
		if requests == 1 && len(byModel) == 1 {
			s.State.First = rewrite.Usage{Known: true, Input: t.Input, CacheRead: t.Cached}
		}
	}
}
