package opencode

import (
	"cmp"
	"encoding/json"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
	"reprise/rewrite/tool/grammar"
)

// stream reads opencode's output in the caller's format and shows it unchanged: --format json, or
// text, which also has the log on stderr that Plan has asked for. The log is not shown.
type stream struct {
	base.Stream
	kilo bool

	run    string // the run that the log's lines name
	logged string // the time of the log's last line
}

func (o opencode) Stream(c rewrite.CommandLine, p rewrite.Plan,
	previous rewrite.Totals) rewrite.Stream {
	s := &stream{Stream: base.NewStream(c, p, previous), kilo: o.About.Name == "kilo"}
	s.Valid = o.ValidID
	return s
}

func (s *stream) Line(line []byte) []byte {
	if s.Call.Format == rewrite.Text {
		s.Text.Keep(line)
		s.State.Content = !s.State.WrongID
		return line
	}
	var e event
	ok, whole := jsonline.ReadEvent(line, &e)
	if ok && e.Type != "" {
		s.learn(&e, whole)
	}
	return line
}

// An event holds the fields of all event types that are read.
type event struct {
	Type      string
	SessionID string
	Part      struct {
		Text   string
		Reason string
		State  struct{ Input json.RawMessage }
		Cost   json.Number
		Tokens *struct {
			Input, Output, Reasoning int64
			Cache                    struct{ Read, Write int64 }
		}
	}
	Error struct {
		Name string
		Data struct{ StatusCode int }
	}
}

func (s *stream) learn(e *event, whole bool) {
	switch e.Type {
	case "step_start", "text", "reasoning", "tool_use", "step_finish":
		s.LearnID(e.SessionID, "stdout", whole)
		s.State.Content = !s.State.WrongID
		s.State.Failed = s.State.Failed || !whole
	case "error":
		s.LearnID(e.SessionID, "stdout", whole)
	}
	switch e.Type {
	case "text":
		s.State.Answer = e.Part.Text
		s.State.AddText(e.Part.Text)
	case "tool_use":
		s.State.AddTool(e.Part.State.Input)
	case "step_finish":
		s.learnStep(e)
	case "error":
		s.learnError(e)
	}
}

// learnStep adds the figures of a step, which are its own. A step that has called tools is followed
// by another one.
func (s *stream) learnStep(e *event) {
	s.State.Final = e.Part.Reason != "tool-calls"
	if s.State.Final && e.Part.Reason != "stop" && e.Part.Reason != "length" {
		s.State.Failed = true
	}
	t := e.Part.Tokens
	if t == nil {
		return
	}
	u := rewrite.Usage{Input: t.Input, Output: t.Output + t.Reasoning, CacheRead: t.Cache.Read,
		CacheWrite: t.Cache.Write}
	if cost, err := jsonline.Nano(e.Part.Cost.String()); err == nil {
		u.CostNano, u.CostKnown = cost, true
	}
	s.AddUsage(u)
	s.State.ContextUse.Used = u.Prompt() + u.Output
}

// learnError reads the error that ends a run. An error that the API calls a bad request is about
// the history that it was sent.
func (s *stream) learnError(e *event) {
	s.State.Failed, s.State.Final = true, true
	s.State.Outside = base.FailureByStatus(e.Error.Data.StatusCode)
	switch {
	case s.State.Refusal != "":
	case e.Error.Name == "ContextOverflowError":
		s.State.Refusal = reason.RefusedContext
	case e.Error.Data.StatusCode == 400:
		s.State.Refusal = reason.RefusedBroken
	}
}

// errorPrefix is the text before a message of opencode's on stderr.
const errorPrefix = "\x1b[91m\x1b[1mError: \x1b[0m"

// Two lines of a log: opencode's, with the run that wrote it, and an older form, which kilo also
// writes.
var (
	log = grammar.Compiled(
		`^timestamp=(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) level=(?:DEBUG|INFO|WARN|ERROR) run=([0-9a-f]{8}) (.*)\n$`)
	kiloLog = grammar.Compiled(
		`^(?:DEBUG|INFO |WARN |ERROR) \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d \+\d+ms (?:service=|.*\n$)`)
)

// ErrLine takes the lines of the log out, unless the caller itself has asked for them. The first
// one names the run. Lines of another run or an earlier time are not the log but a tool's output,
// which can show a log file.
func (s *stream) ErrLine(line []byte) []byte {
	if s.kilo && !base.Own[bool](s.Call) && kiloLog().Match(line) {
		return nil
	}
	m := log().FindSubmatch(line)
	if m == nil {
		return line
	}
	at, run := string(m[1]), string(m[2])
	if s.run == "" {
		s.run = run
	}
	if run != s.run || at < s.logged {
		return line
	}
	s.logged = at
	s.learnLog(string(m[3]))
	if base.Own[bool](s.Call) {
		return line
	}
	return nil
}

// logField returns a field of a line of the log, "" if it has none or a quoted one.
func logField(fields, name string) string {
	_, rest, ok := strings.Cut(" "+fields, " "+name+"=")
	if !ok || strings.HasPrefix(rest, `"`) {
		return ""
	}
	value, _, _ := strings.Cut(rest, " ")
	return value
}

// learnLog reads a line of the log: how the session is called, and how far the run is. Subagents
// have sessions of their own.
func (s *stream) learnLog(fields string) {
	id := logField(fields, "session.id")
	step := strings.HasPrefix(fields, "message=loop ")
	switch {
	case strings.HasPrefix(fields, "message=created ") &&
		logField(fields, "parentID") == "undefined":
		s.LearnID(logField(fields, "id"), "stderr", s.State.ID == "")
		s.State.Version = cmp.Or(s.State.Version, logField(fields, "version"))
	case step && s.State.ID == "":
		s.LearnID(id, "stderr", true)
	case strings.HasPrefix(fields, "message=evaluated permission="):
		s.State.ToolRan, s.State.Content = true, !s.State.WrongID
	case id == "" || id != s.State.ID:
	case step && logField(fields, "step") != "0":
		s.State.Content = !s.State.WrongID
	case strings.HasPrefix(fields, `message="exiting loop"`):
		s.State.Final = true
	case logField(fields, "small") != "false": // the request for a title
	case strings.HasPrefix(fields, "message=stream "):
		s.State.Model = logField(fields, "modelID")
	case strings.HasPrefix(fields, `message="stream error"`):
		_, failure, _ := strings.Cut(fields, "AI_APICallError: ")
		if s.State.Outside = failures.Begins(failure); strings.HasPrefix(failure, "Bad Request") {
			s.State.Refusal = reason.RefusedBroken
		}
	}
}

// failures are the names of HTTP's statuses that opencode's log has for a failed request.
var failures = base.Causes{
	{"Unauthorized", reason.LoginRefused},
	{"Too Many Requests", reason.RateLimited},
	{"Internal Server Error", reason.ServiceFailed},
	{"Bad Gateway", reason.ServiceFailed},
	{"Service Unavailable", reason.ServiceFailed},
	{"Gateway Timeout", reason.ServiceFailed},
}

// readRow returns the facts that a session's row has. The usage is the whole session's.
func readRow(row []byte) (seen rewrite.StreamState, ok bool) {
	u := &seen.Usage
	var skipped any
	var cost json.RawMessage
	var summaries int64
	columns := []any{&skipped, &skipped, &skipped, &seen.Version, &seen.Model, &cost, &u.Input,
		&u.Output, &u.CacheRead, &u.CacheWrite, &skipped, &skipped, &seen.ContextUse.Used,
		&summaries}
	var values []json.RawMessage
	if json.Unmarshal(row, &values) != nil || len(values) != len(columns) {
		return seen, false
	}
	for i, column := range columns {
		_ = json.Unmarshal(values[i], column) // of another type it is not known
	}
	nanos, err := jsonline.Nano(string(cost))
	u.Known, u.CostNano, u.CostKnown = true, nanos, err == nil
	seen.Compacted = summaries > 0
	return seen, true
}

// File reads the session's row. The figures are the session's, and text, which shows none,
// gets the figures of the call.
func (s *stream) File(_ string, data []byte) {
	now, ok := readRow(data)
	if !ok {
		return
	}
	s.State.Totals, s.State.Version = rewrite.Totals(data), now.Version
	s.State.Compacted, s.State.Model = now.Compacted, cmp.Or(now.Model, s.State.Model)
	if s.Call.Format != rewrite.Text {
		return
	}
	s.State.ContextUse = now.ContextUse
	before, known := readRow([]byte(s.Previous))
	switch {
	case s.Plan.Resume == "":
		s.State.Usage = now.Usage
	case known:
		s.State.Usage = now.Usage.Since(before.Usage)
	}
}

// End reads the text. A terminal's text is on stderr, among other things.
func (s *stream) End() []byte {
	if s.Call.Format == rewrite.Text && s.Text.Len() > 0 {
		s.State.Answer = strings.TrimSuffix(s.Text.String(), "\n")
		s.State.AddText(s.State.Answer)
	}
	return nil
}
