package rewrite

import (
	"bytes"
	"slices"
	"strings"
)

// claudeFile is what a session's file shows of a text or json run. Facts were measured with 2.0.73,
// 2.0.76, 2.1.197, 2.1.329 and 2.1.330.
type claudeFile struct {
	newest  *claudeEntry // the newest message of the model, or of claude in its place
	message string       // the ID of the API's message that counts in usage
	usage   Usage        // of that message, as reported last
	earlier Usage        // of the run's messages before
	totals  bool         // the run's usage is known from claude's own totals
}

// A claudeEntry is a line of a session's file: an event's fields, and some of its own.
type claudeEntry struct {
	claudeEvent
	Time      looseText `json:"timestamp"`
	Sidechain bool      `json:"isSidechain"` // a subagent's entry, in the same file in older versions
	Version   string    `json:"version"`
	APIError  bool      `json:"isApiErrorMessage"`
	Status    int       `json:"apiErrorStatus"`
}

// claudeEntries are texts of which every entry worth parsing contains one. In the text of a message
// the quotes would be escaped.
var claudeEntries = [][]byte{
	[]byte(`"type":"user"`), []byte(`"type":"assistant"`), []byte(`"type":"system"`), []byte(`"type":"cost-state"`),
}

// File reads a line of the session's file. A copy's file begins with its source's entries, which are
// older than the run.
func (s *claudeStream) File(_ string, line []byte) {
	if !slices.ContainsFunc(claudeEntries, func(mark []byte) bool { return bytes.Contains(line, mark) }) {
		return
	}
	e := &claudeEntry{}
	_, e.whole = readEvent(line, e)
	if e.Type == "cost-state" {
		s.learnCosts(line)
		return
	}
	at, ok := timestampMillis(string(e.Time))
	if !ok || at < s.plan.Started || e.Sidechain {
		return
	}
	if s.seen.ID == "" {
		s.seen.ID, s.seen.Source = s.plan.ID(), "file"
	}
	switch {
	case e.Type == "system" && e.Subtype == "compact_boundary":
		s.seen.Compacted = true
	case e.Type == "assistant":
		s.seen.Version = e.Version
		s.malformed = s.malformed || !e.whole
		s.learnMessage(&e.claudeEvent)
		s.addUsage(&e.claudeEvent)
		s.newest = e
		if s.malformed { // json's result may have been read before
			s.seen.Failed, s.seen.TurnLimit = true, false
		}
		s.settle()
	}
}

// settle decides how a text run stands. claude prints a message to stdout when its turn is over, after
// it has written it to the file.
func (s *claudeStream) settle() {
	if s.call.Format != Text || s.newest == nil {
		return
	}
	text, usesTool := s.newest.text()
	turns := claudeOwnOf(s.call).maxTurns
	limit := "Error: Reached max turns (" + turns + ")"
	seen := &s.seen
	seen.Final, seen.Failed, seen.TurnLimit, seen.Refusal, seen.Answer = false, false, false, "", ""
	switch {
	case usesTool:
		if turns != "" && s.shows(limit) {
			seen.Final, seen.Failed, seen.TurnLimit = true, true, !s.malformed
		}
	case s.newest.APIError:
		if s.shows(text) {
			failed := true
			event := claudeEvent{IsError: &failed, Result: &text, APIStatus: s.newest.Status}
			seen.Final, seen.Failed, seen.Refusal = true, true, claudeRefusal(&event)
		}
	default:
		if s.tooLong || s.shows(text) {
			seen.Final, seen.Failed, seen.Answer = true, s.tooLong || s.malformed, text
		}
	}
}

// text returns the last text of a message, and whether the message asks for a tool.
func (e *claudeEntry) text() (text string, usesTool bool) {
	for _, part := range e.Message.Content {
		if part.Type == "text" {
			text = part.Text
		}
		usesTool = usesTool || part.Type == "tool_use"
	}
	return text, usesTool
}

// shows reports whether stdout has shown a text. A terminal has its own line ends. For an empty text
// claude prints at least a newline.
func (s *claudeStream) shows(text string) bool {
	text = strings.ReplaceAll(strings.TrimSpace(text), "\r\n", "\n")
	shown := s.text
	if bytes.Contains(shown, []byte("\r\n")) {
		shown = bytes.ReplaceAll(shown, []byte("\r\n"), []byte("\n"))
	}
	return len(shown) >= max(1, len(text)) && bytes.Contains(shown, []byte(text))
}

// addUsage adds up the usage of the run's messages, each of which has an entry for each of its parts.
// It counts if claude does not report totals.
func (s *claudeStream) addUsage(e *claudeEvent) {
	u := e.Message.Usage
	if u == nil || !e.whole || s.seen.Synthetic {
		return
	}
	s.seen.Model = e.Message.Model
	if e.Message.ID != s.message {
		s.message, s.earlier = e.Message.ID, s.earlier.plus(s.usage)
	}
	s.usage = Usage{Known: true, Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output}
	if !s.totals {
		s.seen.Usage = s.earlier.plus(s.usage)
	}
}

// learnCosts reads the session's totals, which claude writes at its end since a version between 2.1.272
// and 2.1.280. A result on stdout has the same figures.
func (s *claudeStream) learnCosts(line []byte) {
	if s.seen.ID == "" || s.seen.Results > 0 {
		return
	}
	numbers := claudeCosts(line)
	s.seen.Totals = encodeTotals(numbers, claudeRunsOn)
	own := line
	if s.plan.Resume != "" {
		if own = subtractTotals(line, numbers, s.previous); bytes.Equal(own, line) {
			return
		}
	}
	s.learnUsage(line, claudeCosts(own))
	s.totals = true
	var state struct{ HasUnknownModelCost bool }
	if _, whole := readEvent(line, &state); state.HasUnknownModelCost || !whole {
		s.seen.Usage.CostNano, s.seen.Usage.CostKnown = 0, false
	}
}

// claudeCosts returns the totals in a session's file under the names that a result has for them.
func claudeCosts(line []byte) []jsonNumber {
	numbers := jsonNumbers(line)
	for i, n := range numbers {
		switch n.path {
		case "totalCostUSD":
			numbers[i].path = "total_cost_usd"
		case "totalAPIDuration":
			numbers[i].path = "duration_api_ms"
		}
	}
	return numbers
}
