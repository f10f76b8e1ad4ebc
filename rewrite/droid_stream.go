package rewrite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// droidStream reads droid's stream-json and renders it as text or json, or shows it unchanged except
// for what a copy of a session shows of its source. It also reads a fresh call's json.
type droidStream struct {
	streamBase
	previous Totals

	out       []byte // the last rendering; its memory is reused
	hidden    backlog
	began     int64       // when the run got its prompt, in milliseconds
	spoke     bool        // there was an event of the model's
	strange   bool        // there was one that may be the model's
	doubtful  bool        // the answer may be the source's
	failure   *droidEvent // the last event of a run that failed, shown at the end
	malformed bool        // an event had an unexpected shape
}

func (droid) Stream(c Call, p Plan, previous Totals) Stream {
	// droid shows a prompt without the space around it.
	p.Prompt, p.Asked = strings.TrimSpace(p.Prompt), strings.TrimSpace(p.Asked)
	return &droidStream{streamBase: streamBase{call: c, plan: p}, previous: previous}
}

func (s *droidStream) PrintsAtEnd() bool { return s.call.Format != StreamJSON }

func (s *droidStream) HoldsOutput() bool { return s.call.Format != StreamJSON }

// A droidEvent holds the fields of all events that are read, and of json's result.
type droidEvent struct {
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

	Result  *string `json:"result"`
	IsError *bool   `json:"is_error"`

	whole bool // every field above had the expected type
}

// droidMarks are words of which every line worth parsing contains at least one.
var droidMarks = newMarks("init", "role", "tool_call", "completion", "error", "result")

func (s *droidStream) Line(line []byte) []byte {
	e := &droidEvent{}
	if droidMarks.in(line) {
		var ok bool
		ok, e.whole = readEvent(line, e)
		var usage claudeUsage
		e.whole = e.whole && (e.FinalText == nil || isJSONString(e.FinalText)) && (e.RawUsage == nil || json.Unmarshal(e.RawUsage, &usage) == nil)
		s.malformed = s.malformed || ok && !e.whole
		s.strange = s.strange || ok && !e.whole && e.Role != "user"
	}
	line = s.own(e, line)
	s.learn(e)
	if s.call.Format != Text && (s.call.Format != JSON || s.plan.Resume == "") {
		return line
	}
	s.out = s.out[:0]
	switch {
	case s.ends(e):
		s.printEnd(e)
		s.hidden = s.hidden[:0]
	case e.endsBadly():
		s.failure = e
	case unfinished(line) || isEvent(line):
		s.hidden.add(line)
	default:
		return line
	}
	return s.out
}

// ends reports whether an event is the last of a run that ended well, and can be rendered.
func (s *droidStream) ends(e *droidEvent) bool {
	whole := e.whole && e.Turns != nil && isJSONNumber(e.Duration) && bytes.HasPrefix(e.RawUsage, []byte("{")) && e.SessionID != ""
	return e.completes() && !s.doubtful && (whole || s.call.Format != JSON)
}

// completes reports whether an event has the answer of a run that ended well.
func (e *droidEvent) completes() bool { return e.Type == "completion" && isJSONString(e.FinalText) }

// endsBadly reports whether an event is a failed run's last. An error of the model's API comes before.
func (e *droidEvent) endsBadly() bool { return e.Type == "error" && e.Source != "agent_loop" }

// droidTotals returns the number of a session's turns, under the same name in all formats.
func droidTotals(numbers []jsonNumber) Totals {
	numbers = slices.Clone(numbers)
	for i, n := range numbers {
		if n.path == "num_turns" {
			numbers[i].path = "numTurns"
		}
	}
	return encodeTotals(numbers, func(path string) bool { return path == "numTurns" })
}

// droidTypes are the other events than the model's that say what they are by their type alone.
var droidTypes = []string{"system", "error", "tool_result", "completion"}

// own returns the event as the caller's own session would have it. A copy counts its source's turns
// and, if the model says nothing or the run fails, repeats the source's last answer
// (recordings/droid/fork-empty, fork-401).
func (s *droidStream) own(e *droidEvent, line []byte) []byte {
	switch {
	case e.Type == "message" && e.Role == "user":
		s.began = e.Time
		return s.plan.asAsked(line)
	case e.completes():
		numbers := jsonNumbers(line)
		s.seen.Totals = droidTotals(numbers)
		if s.plan.Resume == "" {
			return line
		}
		line = subtractTotals(line, numbers, s.previous)
		_, _ = readEvent(line, e)
		silent := s.previous != "" && e.Turns != nil && *e.Turns == 0
		s.doubtful = !silent && !s.spoke && s.strange
		if silent || !s.spoke && !s.strange {
			line = bytes.Replace(line, append([]byte(`"finalText":`), e.FinalText...), []byte(`"finalText":""`), 1)
			e.FinalText = json.RawMessage(`""`)
		}
	case e.Type == "result":
		s.seen.Totals = droidTotals(jsonNumbers(line))
	case e.endsBadly():
		s.seen.Totals = s.previous
		if e.Source == "cli" && s.plan.Resume != "" && !slices.Contains(s.seen.Texts, decoded(text(e.Message))) {
			line = bytes.Replace(line, append([]byte(`"message":`), e.Message...), []byte(`"message":`+droidFailed), 1)
			e.Message = json.RawMessage(droidFailed)
		}
	case e.Role == "assistant", e.Type == "tool_call":
		s.spoke = true
	case e.Role != "user" && !slices.Contains(droidTypes, e.Type) && bytes.HasPrefix(line, []byte("{")):
		s.strange = true
	}
	return line
}

// isJSONString reports whether a JSON value is a string.
func isJSONString(value json.RawMessage) bool { return bytes.HasPrefix(value, []byte(`"`)) }

// isJSONNumber reports whether a JSON value is a number.
func isJSONNumber(value json.RawMessage) bool {
	var n float64
	return json.Unmarshal(value, &n) == nil && string(value) != "null"
}

// droidFailed is what a failed run without a text shows as its result.
const droidFailed = `"Exec failed"`

// text returns a JSON string's value.
func text(value json.RawMessage) (text string) {
	_ = json.Unmarshal(value, &text) // another type has no text
	return text
}

// learn records what the ledger and the gate need from an event.
func (s *droidStream) learn(e *droidEvent) {
	switch e.Type {
	case "system":
		if e.Subtype == "init" {
			s.learnID(e)
		}
	case "message":
		if e.Role == "assistant" {
			s.learnID(e)
			s.seen.Content = !s.seen.WrongID
			s.seen.addText(e.Text)
		}
	case "tool_call":
		s.seen.ToolRan, s.seen.Content = true, !s.seen.WrongID
		s.seen.addFiles(e.Parameters)
	case "error":
		if !e.endsBadly() {
			if why := droidRefusals.in(text(e.Message)); why != "" {
				s.seen.Refusal = why
			}
			return
		}
		s.finish(true, "")
	case "completion":
		if !s.ends(e) {
			return
		}
		s.finish(s.malformed, text(e.FinalText))
		s.learnUsage(e)
	case "result":
		s.learnID(e)
		s.finish(e.IsError == nil || *e.IsError || s.malformed, orEmpty(e.Result))
		if !s.seen.Failed {
			s.seen.Content = !s.seen.WrongID
			s.learnUsage(e)
		}
	}
}

func (s *droidStream) finish(failed bool, answer string) {
	s.seen.Results++
	s.seen.Final, s.seen.Failed, s.seen.Answer = true, failed, answer
}

// learnID pins the ID, or records that the tool left the requested session or works in the one that it
// should have copied. The model that init names is not the one that is asked if that is the user's own.
func (s *droidStream) learnID(e *droidEvent) {
	if !isUUID(e.SessionID) {
		return
	}
	if s.plan.Resume != "" && (e.SessionID == s.plan.Resume) == s.plan.Copy {
		s.seen.WrongID = true
	}
	if s.seen.ID == "" && e.whole {
		s.seen.ID, s.seen.Source, s.seen.Model = e.SessionID, "stdout", s.call.Model
	}
}

// learnUsage reads the run's usage, a copy's own too. That of a session that the caller continues
// itself is the whole session's.
func (s *droidStream) learnUsage(e *droidEvent) {
	var u claudeUsage
	if s.call.SessionID != "" || json.Unmarshal(e.RawUsage, &u) != nil {
		return
	}
	s.seen.Usage = Usage{Known: true, Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output}
}

const droidNoUsage = `{"input_tokens":0,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"factory_credits":0}`

// printEnd renders a run's last event as text or json.
func (s *droidStream) printEnd(e *droidEvent) {
	failed := e.Type == "error"
	switch {
	case s.call.Format == JSON && failed:
		s.out = append(s.out, droidResult(true, fmt.Sprint(max(0, e.Time-s.began)), 0, e.Message, e.SessionID, droidNoUsage)...)
	case s.call.Format == JSON:
		s.out = append(s.out, droidResult(false, string(e.Duration), *e.Turns, e.FinalText, e.SessionID, string(e.RawUsage))...)
	case failed:
		s.stderr += "Error during droid execution: " + cmp.Or(text(e.Message), text(json.RawMessage(droidFailed))) + "\n"
	default:
		s.out = append(append(s.out, text(e.FinalText)...), '\n')
	}
}

// droidResult returns json's line.
func droidResult(failed bool, duration string, turns int64, result []byte, id, usage string) string {
	subtype := "success"
	if failed {
		subtype = "failure"
	}
	return fmt.Sprintf(`{"type":"result","subtype":"%s","is_error":%t,"duration_ms":%s,"num_turns":%d,"result":%s,"session_id":%s,"usage":%s}`+"\n",
		subtype, failed, duration, turns, result, jsonText(id), usage)
}

// End returns a failed run's result. A run that was cut short shows nothing in text and json. What it
// printed is shown if it ended well all the same.
func (s *droidStream) End() []byte {
	if !s.seen.Final {
		s.seen.Unshown = s.hidden
	}
	if s.failure == nil {
		return nil
	}
	s.out = s.out[:0]
	s.printEnd(s.failure)
	s.failure = nil
	return s.out
}
