package droid

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/tool/base"
)

// stream reads droid's stream-json and renders it as text or json, or shows it unchanged except
// for the source's figures in a copy of a session. It also reads a fresh call's json.
type stream struct {
	base.Stream

	hidden   []byte // the latest lines that the caller's format does not have
	began    int64  // when the run got the prompt, in milliseconds
	spoke    bool   // there was an event of the model's
	strange  bool   // there was an error that can be the model's
	doubtful bool   // the answer can be the source's
	failure  *event // the last event of a run that failed, shown at the end
}

func (droid) Stream(c rewrite.CommandLine, p rewrite.Plan, previous rewrite.Totals) rewrite.Stream {
	// droid shows a prompt without the space around it.
	p.Prompt, p.Asked = strings.TrimSpace(p.Prompt), strings.TrimSpace(p.Asked)
	s := &stream{Stream: base.NewStream(c, p, previous)}
	s.AtEnd = c.Format != rewrite.StreamJSON
	s.Holds = s.AtEnd
	s.Max = max(s.Max, 0) // the text rendered at the end can be long
	return s
}

// A event holds the fields of all events that are read, and of json's result.
type event struct {
	Type      string          `json:"type"`
	Subtype   string          `json:"subtype"`
	SessionID string          `json:"session_id"`
	Role      string          `json:"role"`
	Text      string          `json:"text"`
	Source    string          `json:"source"`
	Message   json.RawMessage `json:"message"`
	Time      int64           `json:"timestamp"`

	Parameters json.RawMessage `json:"parameters"`
	FinalText  json.RawMessage `json:"finalText"`
	Turns      *int64          `json:"numTurns"`
	Duration   json.RawMessage `json:"durationMs"`
	RawUsage   json.RawMessage `json:"usage"`

	Result  string `json:"result"`
	IsError *bool  `json:"is_error"`

	whole bool // every field above had the expected type
}

// marks are words; every line worth parsing contains at least one.
var marks = jsonline.NewMarks("init", "role", "tool_call", "completion", "error", "result")

func (s *stream) Line(line []byte) []byte {
	e := s.read(line)
	line = s.own(e, line)
	s.learn(e)
	if s.Call.Format != rewrite.Text && (s.Call.Format != rewrite.JSON || s.Plan.Resume == "") {
		return line
	}
	switch {
	case s.ends(e):
		s.hidden = s.hidden[:0]
		return s.printEnd(e)
	case e.endsBadly():
		s.failure = e
	case isEvent(line):
		if len(s.hidden)+len(line) > rewrite.MaxTexts {
			s.hidden = s.hidden[:0]
		}
		s.hidden = append(s.hidden, line...)
	default:
		return line
	}
	return nil
}

// read returns a line's event, an empty one if it is not read.
func (s *stream) read(line []byte) *event {
	e := &event{}
	if !marks.In(line) {
		return e
	}
	var ok bool
	ok, e.whole = jsonline.ReadEvent(line, e)
	var usage base.ClaudeUsage
	e.whole = e.whole && (e.FinalText == nil || isJSONString(e.FinalText)) &&
		(e.RawUsage == nil || json.Unmarshal(e.RawUsage, &usage) == nil)
	s.State.Malformed = s.State.Malformed || ok && !e.whole
	s.strange = s.strange || ok && !e.whole && e.Role != "user"
	return e
}

// isEvent reports whether a line is an event: an object that names the type, or the beginning of
// one, since droid ended in the middle of it.
func isEvent(line []byte) bool {
	var e struct{ Type string }
	ok, _ := jsonline.ReadEvent(line, &e)
	return ok && e.Type != "" || !ok && bytes.HasPrefix(line, []byte(`{"`)) &&
		!bytes.HasSuffix(line, []byte("\n"))
}

// ends reports whether an event is the last of a run that ended well, and can be rendered.
func (s *stream) ends(e *event) bool {
	whole := e.whole && e.Turns != nil && isJSONNumber(e.Duration) &&
		bytes.HasPrefix(e.RawUsage, []byte("{")) && e.SessionID != ""
	return e.completes() && !s.doubtful && (whole || s.Call.Format != rewrite.JSON)
}

// completes reports whether an event has the answer of a run that ended well.
func (e *event) completes() bool { return e.Type == "completion" && isJSONString(e.FinalText) }

// endsBadly reports whether an event is a failed run's last. An error of the model's API comes
// before.
func (e *event) endsBadly() bool { return e.Type == "error" && e.Source != "agent_loop" }

// totals returns the number of a session's turns, under the same name in all formats.
func totals(line []byte) rewrite.Totals {
	line = bytes.Replace(line, []byte(`"num_turns":`), []byte(`"numTurns":`), 1)
	return base.EncodeTotals(jsonline.Numbers(line), func(path string) bool {
		return path == "numTurns"
	})
}

// types are the other events than the model's that are told by their type alone.
var types = []string{"system", "error", "tool_result", "completion"}

// own returns the event as the caller's own session would have it. A copy counts the source's turns
// and, if the model says nothing or the run fails, repeats the source's last answer
// (recordings/droid/fork-empty, fork-401).
func (s *stream) own(e *event, line []byte) []byte {
	switch {
	case e.Type == "message" && e.Role == "user":
		s.began = e.Time
		return base.AsAsked(&s.Plan, line)
	case e.completes():
		return s.ownCompletion(e, line)
	case e.Type == "result":
		s.State.Totals = totals(line)
	case e.endsBadly():
		s.State.Totals = s.Previous
		if e.Source == "cli" && s.Plan.Resume != "" &&
			!slices.Contains(s.State.Texts, text(e.Message)) {
			line = bytes.Replace(line, append([]byte(`"message":`), e.Message...),
				[]byte(`"message":`+failure), 1)
			e.Message = json.RawMessage(failure)
		}
	case e.Role == "assistant", e.Type == "tool_call":
		s.spoke = true
	case e.Role != "user" && !slices.Contains(types, e.Type) && bytes.HasPrefix(line, []byte("{")):
		s.strange = true
	}
	return line
}

// ownCompletion is own for the last event of a run that ended well.
func (s *stream) ownCompletion(e *event, line []byte) []byte {
	s.State.Totals = totals(line)
	if s.Plan.Resume == "" {
		return line
	}
	own := map[string]int64{}
	if s.spoke && s.says(text(e.FinalText)) {
		own["numTurns"] = 1
	}
	line = base.SubtractTotals(line, jsonline.Numbers(line), s.Before, own)
	_, _ = jsonline.ReadEvent(line, e)
	silent := s.Previous != "" && e.Turns != nil && *e.Turns == 0
	s.doubtful = !silent && !s.spoke && s.strange
	if silent || !s.spoke && !s.strange {
		line = bytes.Replace(line, append([]byte(`"finalText":`), e.FinalText...),
			[]byte(`"finalText":""`), 1)
		e.FinalText = json.RawMessage(`""`)
	}
	return line
}

// says reports whether an answer is of the run's messages. droid 0.225.2 counts no turn for some
// messages, such as one in colors with empty lines behind it, and repeats the source's answer.
func (s *stream) says(answer string) bool {
	answer = strings.TrimSpace(answer)
	return len(s.State.Texts) == 0 || slices.ContainsFunc(s.State.Texts, func(text string) bool {
		text = strings.TrimSpace(text)
		return text != "" && (strings.Contains(text, answer) || strings.Contains(answer, text))
	})
}

func isJSONString(value json.RawMessage) bool { return bytes.HasPrefix(value, []byte(`"`)) }

func isJSONNumber(value json.RawMessage) bool {
	var n float64
	return json.Unmarshal(value, &n) == nil && string(value) != "null"
}

// failure is the result of a failed run without a text.
const failure = `"Exec failed"`

// text returns a JSON string's value; another type has no text.
func text(value json.RawMessage) string { return jsonline.String(string(value)) }

// learn records the facts of an event for the ledger and the gate.
func (s *stream) learn(e *event) {
	switch e.Type {
	case "system":
		if e.Subtype == "init" {
			s.learnID(e)
		}
	case "message":
		if e.Role == "assistant" {
			s.learnID(e)
			s.State.Content, s.State.Outside = !s.State.WrongID, ""
			s.State.AddText(e.Text)
		}
	case "tool_call":
		s.State.Content, s.State.Outside = !s.State.WrongID, ""
		s.State.AddTool(e.Parameters)
	case "error":
		if !e.endsBadly() {
			s.State.Refusal = cmp.Or(refusals.In(text(e.Message)), s.State.Refusal)
			s.State.Outside = failures.Begins(text(e.Message))
			return
		}
		s.finish(true, "")
	case "completion":
		if !s.ends(e) {
			return
		}
		s.finish(s.State.Malformed, text(e.FinalText))
		s.learnUsage(e)
	case "result":
		s.learnID(e)
		s.State.Malformed = s.State.Malformed || e.IsError == nil
		s.finish(s.State.Malformed || *e.IsError, e.Result)
		if !s.State.Failed {
			s.State.Content = s.State.Answer != "" && !s.State.WrongID
			s.learnUsage(e)
		}
	}
}

func (s *stream) finish(failed bool, answer string) {
	s.State.Results++
	s.State.Final, s.State.Failed, s.State.Answer = true, failed, answer
}

// learnID reads an event's ID. The model is the command line's: if it is the user's own, init names
// another one.
func (s *stream) learnID(e *event) {
	s.LearnID(e.SessionID, "stdout", e.whole)
	if s.State.ID != "" {
		s.State.Model = s.Call.Model
	}
}

// learnUsage reads the run's usage, a copy's own too. The count of a session that the caller
// continues itself is the whole session's.
func (s *stream) learnUsage(e *event) {
	var u base.ClaudeUsage
	if s.Call.SessionID != "" || json.Unmarshal(e.RawUsage, &u) != nil {
		return
	}
	s.State.Usage = u.Usage()
}

const noUsage = `{"input_tokens":0,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"factory_credits":0}`

// printEnd renders a run's last event as text or json.
func (s *stream) printEnd(e *event) []byte {
	failed := e.Type == "error"
	switch {
	case s.Call.Format == rewrite.JSON && failed:
		return result(true, fmt.Sprint(max(0, e.Time-s.began)), 0, e.Message, e.SessionID, noUsage)
	case s.Call.Format == rewrite.JSON:
		return result(false, string(e.Duration), *e.Turns, e.FinalText, e.SessionID,
			string(e.RawUsage))
	case failed:
		s.Stderr += "Error during droid execution: " +
			cmp.Or(text(e.Message), text(json.RawMessage(failure))) + "\n"
		return nil
	}
	return []byte(text(e.FinalText) + "\n")
}

func result(failed bool, duration string, turns int64, result []byte, id, usage string) []byte {
	subtype := "success"
	if failed {
		subtype = "failure"
	}
	return fmt.Appendf(nil,
		`{"type":"result","subtype":"%s","is_error":%t,"duration_ms":%s,"num_turns":%d,"result":%s,"session_id":%s,"usage":%s}`+"\n",
		subtype, failed, duration, turns, result, jsonline.RawString(id), usage)
}

// End returns a failed run's result. A run that was cut short shows nothing in text and json. Its
// output is shown if it ended well all the same.
func (s *stream) End() []byte {
	if !s.State.Final {
		s.State.Unshown = s.hidden
	}
	if s.failure == nil {
		return nil
	}
	return s.printEnd(s.failure)
}
