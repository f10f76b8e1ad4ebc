package rewrite

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"reprise/rewrite/reason"
)

// opencodeStream reads opencode's output in the caller's format and shows it unchanged: --format json,
// or text, whose stderr also has the log that Plan has asked for. The log is not shown.
type opencodeStream struct {
	streamBase
	kilo   bool
	before Totals

	run    string // the run that the log's lines name
	logged string // the time of the log's last line
	output []byte // text: all of stdout
	ended  bool
}

func (o opencode) Stream(c Call, p Plan, before Totals) Stream {
	return &opencodeStream{streamBase: streamBase{call: c, plan: p}, before: before, kilo: o.descriptor == &kiloDescriptor}
}

// MaxLine returns NoLines for text, which is not read.
func (s *opencodeStream) MaxLine() int {
	if s.call.Format == Text {
		return NoLines
	}
	return LongestLine
}

func (s *opencodeStream) Line(line []byte) []byte {
	if s.call.Format == Text {
		if len(s.output)+len(line) <= maxTexts {
			s.output = append(s.output, line...)
		}
		s.seen.Content = !s.seen.WrongID
		return line
	}
	var e opencodeEvent
	ok, whole := readEvent(line, &e)
	if ok && e.Type != "" {
		s.learn(&e, whole)
	}
	return line
}

// An opencodeEvent holds the fields of all event types that are read.
type opencodeEvent struct {
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

func (s *opencodeStream) learn(e *opencodeEvent, whole bool) {
	switch e.Type {
	case "step_start", "text", "reasoning", "tool_use", "step_finish":
		s.learnID(e.SessionID, "stdout", whole)
		s.seen.Content = !s.seen.WrongID
		s.seen.Failed = s.seen.Failed || !whole
	case "error":
		s.learnID(e.SessionID, "stdout", whole)
	}
	switch e.Type {
	case "text":
		s.seen.Answer = e.Part.Text
		s.seen.addText(e.Part.Text)
	case "tool_use":
		s.seen.ToolRan = true
		s.seen.addFiles(e.Part.State.Input)
	case "step_finish":
		s.learnStep(e)
	case "error":
		s.learnError(e)
	}
}

// learnStep adds the figures of a step, which are its own. A step that has called tools is followed by
// another one.
func (s *opencodeStream) learnStep(e *opencodeEvent) {
	s.seen.Final = e.Part.Reason != "tool-calls"
	if s.seen.Final && e.Part.Reason != "stop" && e.Part.Reason != "length" {
		s.seen.Failed = true
	}
	t := e.Part.Tokens
	if t == nil {
		return
	}
	u := &s.seen.Usage
	u.Known = true
	u.Input += t.Input
	u.Output += t.Output + t.Reasoning
	u.CacheRead += t.Cache.Read
	u.CacheWrite += t.Cache.Write
	if cost, err := nano(e.Part.Cost.String()); err == nil {
		u.CostNano, u.CostKnown = u.CostNano+cost, true
	}
	s.seen.ContextUse.Used = t.Input + t.Output + t.Reasoning + t.Cache.Read + t.Cache.Write
	if !s.seen.First.Known {
		s.seen.First = *u
	}
}

// learnError reads the error that ends a run. One that the API calls a bad request is about the
// history that it was sent.
func (s *opencodeStream) learnError(e *opencodeEvent) {
	s.seen.Failed, s.seen.Final = true, true
	switch {
	case s.seen.Refusal != "":
	case e.Error.Name == "ContextOverflowError":
		s.seen.Refusal = reason.RefusedContext
	case e.Error.Data.StatusCode == 400:
		s.seen.Refusal = reason.RefusedBroken
	}
}

func (s *opencodeStream) learnID(id, source string, sure bool) {
	if s.plan.Resume != "" && id != "" && id != s.plan.Resume {
		s.seen.WrongID = true
	}
	if s.seen.ID == "" && sure && (opencode{}).ValidID(id) {
		s.seen.ID, s.seen.Source = id, source
	}
}

// opencodeError is what stands before a message of opencode's on stderr.
const opencodeError = "\x1b[91m\x1b[1mError: \x1b[0m"

// Two lines of a log: opencode's, with the run that wrote it, and an older one that kilo also writes.
var (
	opencodeLog = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^timestamp=(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) level=(?:DEBUG|INFO|WARN|ERROR) run=([0-9a-f]{8}) (.*)\n$`)
	})
	kiloLog = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:DEBUG|INFO |WARN |ERROR) \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d \+\d+ms (?:service=|.*\n$)`)
	})
)

// ErrAsIs returns false: opencode writes whole lines.
func (s *opencodeStream) ErrAsIs([]byte) bool { return false }

// ErrLine takes the lines of the log out, unless the caller itself has asked for them. The first one
// names the run. Lines of another run or an earlier time are not the log but a tool's output, which
// may show a log file.
func (s *opencodeStream) ErrLine(line []byte) []byte {
	if s.kilo && !opencodeOwnOf(s.call).ownLogs && kiloLog().Match(line) {
		return nil
	}
	m := opencodeLog().FindSubmatch(line)
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
	if opencodeOwnOf(s.call).ownLogs {
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

// learnLog reads a line of the log: how the session is called, and how far the run is. Subagents have
// sessions of their own.
func (s *opencodeStream) learnLog(fields string) {
	id := logField(fields, "session.id")
	step := strings.HasPrefix(fields, "message=loop ")
	switch {
	case strings.HasPrefix(fields, "message=created ") && logField(fields, "parentID") == "undefined":
		s.learnID(logField(fields, "id"), "stderr", s.seen.ID == "")
		if s.seen.Version == "" {
			s.seen.Version = logField(fields, "version")
		}
	case step && s.seen.ID == "":
		s.learnID(id, "stderr", true)
	case strings.HasPrefix(fields, "message=evaluated permission="):
		s.seen.ToolRan, s.seen.Content = true, !s.seen.WrongID
	case id == "" || id != s.seen.ID:
	case step && logField(fields, "step") != "0":
		s.seen.Content = !s.seen.WrongID
	case strings.HasPrefix(fields, `message="exiting loop"`):
		s.seen.Final = true
	case logField(fields, "small") != "false": // the request for a title
	case strings.HasPrefix(fields, "message=stream "):
		s.seen.Model = logField(fields, "modelID")
	case strings.HasPrefix(fields, `message="stream error"`) && strings.Contains(fields, "AI_APICallError: Bad Request"):
		s.seen.Refusal = reason.RefusedBroken
	}
}

// An opencodeRow is what opencodeSession returns.
type opencodeRow struct {
	version, model string
	usage          Usage // of the whole session
	context        int64 // of the last request
	summaries      int64
}

func readOpencodeRow(row []byte) (r opencodeRow, ok bool) {
	var values []any
	d := json.NewDecoder(bytes.NewReader(row))
	d.UseNumber()
	if d.Decode(&values) != nil || len(values) != 14 {
		return r, false
	}
	number := func(i int) int64 {
		n, _ := values[i].(json.Number)
		v, _ := n.Int64()
		return v
	}
	r.version, _ = values[3].(string)
	r.model, _ = values[4].(string)
	if cost, isNumber := values[5].(json.Number); isNumber {
		nanos, err := nano(cost.String())
		r.usage.CostNano, r.usage.CostKnown = nanos, err == nil
	}
	r.usage.Known = true
	r.usage.Input, r.usage.Output, r.usage.CacheRead, r.usage.CacheWrite = number(6), number(7), number(8), number(9)
	r.context, r.summaries = number(12), number(13)
	return r, true
}

// File reads the session's row. Its figures are the session's, from which text, which shows none,
// gets those of the call.
func (s *opencodeStream) File(_ string, data []byte) {
	now, ok := readOpencodeRow(data)
	if !ok {
		return
	}
	s.seen.Totals, s.seen.Version, s.seen.Compacted = Totals(data), now.version, now.summaries > 0
	if now.model != "" {
		s.seen.Model = now.model
	}
	if s.call.Format != Text {
		return
	}
	s.seen.ContextUse.Used = now.context
	before, known := readOpencodeRow([]byte(s.before))
	switch {
	case s.plan.Resume == "":
		s.seen.Usage = now.usage
	case known:
		s.seen.Usage = now.usage.Since(before.usage)
	}
}

// End reads the text. What a terminal is shown is on stderr, among other things.
func (s *opencodeStream) End() []byte {
	if s.ended {
		return nil
	}
	s.ended = true
	if s.call.Format == Text && len(s.output) > 0 {
		s.seen.Answer = strings.TrimSuffix(string(s.output), "\n")
		s.seen.addText(s.seen.Answer)
	}
	return nil
}
