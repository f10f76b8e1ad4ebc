package claude

import (
	"bytes"
	"cmp"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/tool/base"
)

// file is the facts that a session's file shows of a text or json run. Facts were measured with
// 2.0.73, 2.0.76, 2.1.197, 2.1.329 and 2.1.330.
type file struct {
	newest *fileEntry // the newest message of the model, or of claude in its place
	// the newest answer by the caller's JSON schema, which is printed instead of a text
	schema  string
	message string        // the ID of the API's message that counts in usage
	usage   rewrite.Usage // of that message, as reported last
	earlier rewrite.Usage // of the run's messages before
	totals  bool          // the run's usage is known from claude's own totals
}

// A fileEntry is a line of a session's file: an event's fields, and some of its own.
type fileEntry struct {
	base.ClaudeEvent
	Time    jsonline.LooseText `json:"timestamp"`
	Session string             `json:"sessionId"`
	// a subagent's entry, in the same file in older versions
	Sidechain bool   `json:"isSidechain"`
	Version   string `json:"version"`
	APIError  bool   `json:"isApiErrorMessage"`
	Status    int    `json:"apiErrorStatus"`
}

// entries are texts; every entry worth parsing contains one. In the text of a message
// the quotes would be escaped.
var entries = jsonline.Marks{
	[]byte(`"type":"user"`), []byte(`"type":"assistant"`), []byte(`"type":"system"`),
	[]byte(`"type":"cost-state"`),
}

// File reads a line of the session's file. A copy's file begins with its source's entries, which
// are older than the run.
func (s *stream) File(_ string, line []byte) {
	s.endTasks(line)
	if !entries.In(line) {
		return
	}
	e := &fileEntry{}
	_, e.Whole = jsonline.ReadEvent(line, e)
	if e.Type == "cost-state" {
		s.learnCosts(line)
		return
	}
	at, ok := base.TimestampMillis(string(e.Time))
	if !ok || at < s.Plan.Started || e.Sidechain {
		return
	}
	if s.State.ID == "" {
		s.State.ID, s.State.Source = s.Plan.ID(), "file"
	}
	s.State.WrongID = s.State.WrongID || s.Plan.ID() != "" && base.IsUUID(e.Session) &&
		e.Session != s.Plan.ID()
	switch {
	case e.Type == "system" && e.Subtype == "compact_boundary":
		s.State.Compacted = true
	case e.Type == "assistant":
		s.State.Version = e.Version
		s.State.Malformed = s.State.Malformed || !e.Whole
		s.learnMessage(&e.ClaudeEvent)
		s.addUsage(&e.ClaudeEvent)
		_, structured, _ := e.parts()
		s.newest, s.schema = e, cmp.Or(structured, s.schema)
		if s.State.Malformed { // json's result can have been read before
			s.State.Failed, s.State.TurnLimit = true, false
		}
		s.settle()
	}
}

// settle decides how a text run stands. claude prints a message to stdout when the turn is over,
// after it has written it to the file.
func (s *stream) settle() {
	if s.Call.Format != rewrite.Text || s.newest == nil {
		return
	}
	text, _, usesTool := s.newest.parts()
	turns := base.Own[details](s.Call).maxTurns
	limit := "Error: Reached max turns (" + turns + ")"
	seen := &s.State
	seen.Final, seen.Failed, seen.TurnLimit, seen.Refusal, seen.Outside, seen.Answer = false, false,
		false, "", "", ""
	switch {
	case s.schema != "" && s.shows(s.schema):
		seen.Final, seen.Failed, seen.Answer = true, s.State.Malformed, s.schema
	case usesTool:
		if turns != "" && s.shows(limit) {
			seen.Final, seen.Failed, seen.TurnLimit = true, true, !s.State.Malformed
		}
	case s.newest.APIError:
		if s.shows(text) {
			failed := true
			event := base.ClaudeEvent{IsError: &failed, Result: text, APIStatus: s.newest.Status,
				Whole: !s.State.Malformed}
			seen.Final, seen.Failed, seen.Refusal, seen.Outside = true, true, refusal(&event),
				outside(&event)
		}
	default:
		if s.Text.TooLong || s.shows(text) {
			seen.Final, seen.Failed, seen.Answer = true, s.Text.TooLong || s.State.Malformed, text
		}
	}
}

// parts returns the last text of a message, the answer that it gives to the tool for the caller's
// JSON schema, and whether it asks for a tool.
func (e *fileEntry) parts() (text, structured string, usesTool bool) {
	for _, part := range e.Message.Content {
		switch part.Type {
		case "text":
			text = part.Text
		case "tool_use":
			usesTool = true
			if part.Name == "StructuredOutput" {
				structured = string(part.Input)
			}
		}
	}
	return text, structured, usesTool
}

// shows reports whether stdout has shown a text. A terminal has its own line ends. For an empty
// text claude prints at least a newline.
func (s *stream) shows(text string) bool {
	text = strings.ReplaceAll(strings.TrimSpace(text), "\r\n", "\n")
	shown := strings.ReplaceAll(s.Text.String(), "\r\n", "\n")
	return len(shown) >= max(1, len(text)) && strings.Contains(shown, text)
}

// addUsage records the messages' usage. It counts if claude does not report totals.
func (s *stream) addUsage(e *base.ClaudeEvent) {
	if e.Message.Usage == nil || !e.Whole || s.State.Synthetic {
		return
	}
	s.State.Model = e.Message.Model
	if !s.totals {
		s.State.Usage = s.earlier.Plus(s.usage)
	}
}

// learnCosts reads the session's totals, which claude writes at the end since a version between
// 2.1.272 and 2.1.280. A result on stdout has the same figures.
func (s *stream) learnCosts(line []byte) {
	if s.State.ID == "" || s.State.Results > 0 {
		return
	}
	line = []byte(costNames.Replace(string(line)))
	numbers := jsonline.Numbers(line)
	s.State.Totals = base.EncodeTotals(numbers, runsOn)
	own := line
	if s.Plan.Resume != "" && s.countsOn(numbers) {
		if own = base.SubtractTotals(line, numbers, s.Before, nil); bytes.Equal(own, line) {
			return
		}
	}
	s.learnUsage(line, jsonline.Numbers(own))
	s.totals = true
	var state struct{ HasUnknownModelCost bool }
	if _, whole := jsonline.ReadEvent(line, &state); state.HasUnknownModelCost || !whole {
		s.State.Usage.CostNano, s.State.Usage.CostKnown = 0, false
	}
}

// costNames replaces the names that a session's file has for totals by a result's.
var costNames = strings.NewReplacer(`"totalCostUSD"`, `"total_cost_usd"`, `"totalAPIDuration"`,
	`"`+apiTime+`"`)
