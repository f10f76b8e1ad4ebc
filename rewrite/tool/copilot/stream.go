package copilot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/tool/base"
)

// stream reads copilot's output in the caller's format. Of a resumed run it replaces in json the
// figures, which are the session's, and the prompt; from text it leaves out the figures.
type stream struct {
	base.Stream
	errText base.Text // text: stderr, or both in one stream, before the figures
	footer  bool      // text: the figures at the end of stderr have begun
	totals  totals    // of the session; nil if not known
	begun   int64     // when this run began, in milliseconds; 0 if not known
	last    int64     // when the last event came
	edited  []string  // the files that the run has changed
	file    bool      // the session's own file shows this run
}

func (copilot) Stream(c rewrite.CommandLine, p rewrite.Plan,
	previous rewrite.Totals) rewrite.Stream {
	s := &stream{Stream: base.NewStream(c, p, previous)}
	if c.Format != rewrite.Text {
		s.Max = rewrite.LongestLine
	}
	return s
}

// totals are the figures that a session adds up over all the runs, by their places in json's last
// line, and the tokens.
type totals map[string]float64

// own returns this run's share of the session's totals. ok is false if it is not known, or if
// something has decreased, so that they are not totals.
func (s *stream) own() (figures totals, ok bool) {
	switch {
	case s.totals == nil:
		return nil, false
	case s.Plan.Resume == "":
		return s.totals, s.Call.Mode != rewrite.Observe
	case s.Before == nil:
		return nil, false
	}
	figures = totals{}
	for name, figure := range s.totals {
		before, _ := s.Before[name].Float64() // 0 if there was none
		if figures[name] = figure - before; figures[name] < 0 {
			return nil, false
		}
	}
	return figures, true
}

// event holds the fields of all event types that are read.
type event struct {
	Type      string             `json:"type"`
	Timestamp jsonline.LooseText `json:"timestamp"`
	SessionID string             `json:"sessionId"`
	ExitCode  *int               `json:"exitCode"`
	Data      struct {
		Content     string             `json:"content"`
		Transformed string             `json:"transformedContent"`
		Parent      string             `json:"parentToolCallId"` // of a subagent
		Model       string             `json:"model"`
		Message     jsonline.LooseText `json:"message"`
		Arguments   json.RawMessage    `json:"arguments"`
		StatusCode  int                `json:"statusCode"` // of a request that failed
		FileEdits   []struct {
			Path string `json:"path"`
		} `json:"fileEdits"`
		Version string             `json:"copilotVersion"`
		Resumed jsonline.LooseText `json:"resumeTime"`
	} `json:"data"`

	whole bool // every field above had the expected type
}

func (s *stream) Line(line []byte) []byte {
	if s.Call.Format == rewrite.Text {
		s.Text.Keep(line)
		return line
	}
	if !bytes.HasPrefix(line, []byte("{")) {
		return line
	}
	var e event
	ok, whole := jsonline.ReadEvent(line, &e)
	if !ok || e.Type == "" {
		return line
	}
	e.whole = whole
	s.noteTime(&e)
	s.learn(&e)
	switch e.Type {
	case "user.message":
		return s.asAsked(line, &e)
	case "result":
		return s.learnResult(line, &e)
	}
	return line
}

// essential are the kinds of events that must be whole.
var essential = []string{"assistant", "session", "tool", "user", "result"}

// learn records the facts of an event, of stdout or of the session's file.
func (s *stream) learn(e *event) {
	kind, _, _ := strings.Cut(e.Type, ".")
	if slices.Contains(essential, kind) {
		s.State.Malformed = s.State.Malformed || !e.whole
		s.State.Failed = s.State.Failed || s.State.Malformed
	}
	switch e.Type {
	case "session.start":
		s.State.Version = e.Data.Version
	case "session.error":
		s.State.Failed, s.State.Outside = true, base.FailureByStatus(e.Data.StatusCode)
		s.State.Refusal = cmp.Or(refusals.In(string(e.Data.Message)), s.State.Refusal)
	case "assistant.message":
		s.learnMessage(e)
	case "assistant.message_delta":
		s.content()
	case "tool.execution_start":
		s.State.AddTool(e.Data.Arguments)
		s.content()
	case "tool.execution_complete":
		for _, edit := range e.Data.FileEdits {
			if !slices.Contains(s.edited, edit.Path) {
				s.edited = append(s.edited, edit.Path)
			}
		}
	}
	if strings.HasPrefix(e.Type, "session.compaction") || e.Type == "session.truncation" {
		s.State.Compacted = true
	}
}

// learnMessage records a message of the model, not of the subagents.
func (s *stream) learnMessage(e *event) {
	if e.Data.Parent != "" {
		return
	}
	s.State.Model = e.Data.Model
	if text := e.Data.Content; text != "" {
		s.State.Answer = text
		if s.Call.Format != rewrite.Text {
			s.State.AddText(text)
		}
	}
	s.content()
}

// content records that the model has answered. A resumed run shows the session's ID only at the
// end, but it adds to the session's file from the start.
func (s *stream) content() {
	s.State.Content = s.Plan.Resume == "" && s.State.ID != "" || s.file && !s.State.WrongID
}

// learnResult reads json's last line and returns it with this call's figures.
func (s *stream) learnResult(line []byte, e *event) []byte {
	if e.whole {
		s.LearnID(e.SessionID, "stdout", true)
	}
	s.State.Final = true
	s.State.Failed = s.State.Failed || e.ExitCode == nil || *e.ExitCode != 0
	answered := s.State.Answer != "" || s.State.ToolRan
	s.State.Content = answered && s.State.ID != "" && !s.State.WrongID && !s.State.Failed
	if s.Plan.Resume == "" || s.Before == nil {
		return line
	}
	return s.ownResult(line)
}

// ownResult replaces the session's figures in json's last line by this call's.
func (s *stream) ownResult(line []byte) []byte {
	before, numbers := maps.Clone(s.Before), jsonline.Numbers(line)
	for _, n := range numbers {
		if n.Path == "usage\tsessionDurationMs" {
			if total, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
				earlier := max(0, total-(s.last-s.begun))
				before[n.Path] = json.Number(strconv.FormatInt(earlier, 10))
			}
		}
	}
	return s.ownFiles(base.SubtractTotals(line, numbers, before, nil))
}

// ownFiles leaves in the list of changed files the ones of this run, in order.
func (s *stream) ownFiles(line []byte) []byte {
	var r struct {
		Usage struct {
			CodeChanges struct {
				Files json.RawMessage `json:"filesModified"`
			} `json:"codeChanges"`
		} `json:"usage"`
	}
	var files []string
	if json.Unmarshal(line, &r) != nil ||
		json.Unmarshal(r.Usage.CodeChanges.Files, &files) != nil || len(files) == 0 {
		return line
	}
	var own []string
	for _, name := range s.edited {
		if slices.Contains(files, name) {
			own = append(own, string(jsonline.RawString(name)))
		}
	}
	return bytes.Replace(line, r.Usage.CodeChanges.Files, []byte("["+strings.Join(own, ",")+"]"), 1)
}

// asAsked puts the caller's prompt in place of the text sent to the model. It stands there twice:
// as it was given, and as the model gets it, behind the time and without white space at the end.
func (s *stream) asAsked(line []byte, e *event) []byte {
	if s.Plan.Asked == "" {
		return line
	}
	sent, asked := s.blank(s.Plan.Prompt), s.blank(s.Plan.Asked)
	shown := bytes.Replace(line, jsonline.RawString(sent), jsonline.RawString(asked), 1)
	whole := e.Data.Transformed
	if front, ok := strings.CutSuffix(whole, trimEnd(sent)); ok {
		shown = bytes.Replace(shown, jsonline.RawString(whole),
			jsonline.RawString(front+trimEnd(asked)), 1)
	}
	return shown
}

func trimEnd(text string) string { return strings.TrimRightFunc(text, unicode.IsSpace) }

// blank hides the same parts as copilot in json: the values of the keys
// (recordings/copilot/key-json).
func (s *stream) blank(text string) string {
	for _, secret := range base.Own[details](s.Call).secrets {
		text = strings.ReplaceAll(text, secret, "******")
	}
	return text
}

// footer is the beginning of the figures on stderr.
const footer = "Changes    +"

// labels are the beginnings of the lines with a figure.
var labels = []string{footer, "Duration   ", "Requests   ", "AI Credits ", "Tokens     "}

// resumeHint is the beginning of the line below the figures on stderr.
const resumeHint = "Resume     copilot --resume="

// ErrLine reads the session's ID below the figures, and leaves out the figures of a resumed text
// run: they are the session's. With OneStream it gets stdout's lines too.
func (s *stream) ErrLine(line []byte) []byte {
	plain := strings.TrimRight(base.StripEscapes(string(line)), "\r\n")
	if !s.footer && !strings.HasPrefix(plain, footer) {
		s.errText.Keep(line)
		return line
	}
	s.footer = true
	if id, ok := strings.CutPrefix(plain, resumeHint); ok {
		s.LearnID(id, "stderr", true)
	}
	figure := slices.ContainsFunc(labels, func(label string) bool {
		return strings.HasPrefix(plain, label)
	})
	if figure && s.Plan.Resume != "" {
		return nil
	}
	return line
}

// ErrAsIs reports whether a line is not one of the figures. copilot shows an answer as it comes.
func (s *stream) ErrAsIs(part []byte) bool {
	// the rest of an escape sequence follows
	plain, _, _ := strings.Cut(base.StripEscapes(string(part)), "\x1b")
	return !s.footer && !strings.HasPrefix(plain, footer) && !strings.HasPrefix(footer, plain)
}

// End reads a text run's outcome.
func (s *stream) End() []byte {
	if s.Call.Format == rewrite.Text {
		shown, tooLong := &s.Text, s.Text.TooLong || s.errText.TooLong
		if shown.Len() == 0 { // both streams are one
			shown = &s.errText
		}
		s.State.Answer = strings.TrimRight(shown.String(), "\r\n")
		s.State.Final = s.totals != nil && (s.State.Answer != "" || tooLong)
		s.State.Failed = s.State.Failed || tooLong
		s.State.Content = s.State.Final && s.State.ID != "" && !s.State.WrongID
	}
	if figures, ok := s.own(); ok {
		s.State.Usage = rewrite.Usage{
			Known:     true,
			Input:     int64(max(0, figures["input"]-figures["read"]-figures["written"])),
			CacheRead: int64(figures["read"]), CacheWrite: int64(figures["written"]),
			Output: int64(figures["output"]),
		}
	}
	return nil
}

// File reads copilot's files: the figures, the shared session, and the events that a resumed
// session's file gets.
func (s *stream) File(name string, data []byte) {
	switch path.Base(name) {
	case usageFile:
		s.learnUsage(data)
	case shareFile:
		s.learnShared(data)
	case events:
		s.learnEvent(data)
	}
}

// usage is the content of --usage-output-file. The figures are the session's
// (recordings/copilot/chain-2).
type usage struct {
	Premium   float64 `json:"totalPremiumRequestCost"`
	APIMillis float64 `json:"totalApiDurationMs"`
	Changes   struct {
		Added   float64 `json:"linesAdded"`
		Removed float64 `json:"linesRemoved"`
	} `json:"codeChanges"`
	Models map[string]struct {
		Usage struct {
			Input   float64 `json:"inputTokens"`
			Output  float64 `json:"outputTokens"`
			Read    float64 `json:"cacheReadTokens"`
			Written float64 `json:"cacheWriteTokens"`
		} `json:"usage"`
	} `json:"modelMetrics"`
	Current    string `json:"currentModel"`
	LastInput  int64  `json:"lastCallInputTokens"`
	LastOutput int64  `json:"lastCallOutputTokens"`
}

func (s *stream) learnUsage(data []byte) {
	var u usage
	if ok, whole := jsonline.ReadEvent(data, &u); !ok || !whole {
		return
	}
	t := totals{"usage\tpremiumRequests": u.Premium, "usage\ttotalApiDurationMs": u.APIMillis,
		"usage\tcodeChanges\tlinesAdded":   u.Changes.Added,
		"usage\tcodeChanges\tlinesRemoved": u.Changes.Removed}
	for _, m := range u.Models {
		t["input"] += m.Usage.Input
		t["output"] += m.Usage.Output
		t["read"] += m.Usage.Read
		t["written"] += m.Usage.Written
	}
	text, _ := json.Marshal(t) // numbers of JSON can always be written
	s.totals, s.State.Totals = t, rewrite.Totals(text)
	s.State.ContextUse.Used = u.LastInput + u.LastOutput
	s.State.Model = cmp.Or(s.State.Model, u.Current)
}

// shared is how the line of a shared session begins that names it.
const shared = "> - **Session ID:** `"

// learnShared reads the ID from the head of a shared session, above the conversation.
func (s *stream) learnShared(data []byte) {
	head, _, _ := bytes.Cut(data, []byte("\n---\n"))
	for line := range strings.Lines(string(head)) {
		if rest, ok := strings.CutPrefix(line, shared); ok {
			id, _, _ := strings.Cut(rest, "`")
			s.LearnID(id, "file", true)
		}
	}
}

// learnEvent reads an event of the resumed session's file. Another process can continue the session
// at the same time, but then the file differs from the ledger's record, and the next call is fresh.
func (s *stream) learnEvent(line []byte) {
	var e event
	ok, whole := jsonline.ReadEvent(line, &e)
	if !ok {
		return
	}
	e.whole = whole
	switch e.Type {
	case "session.resume":
		if !s.file {
			s.file = true
			if begun, ok := base.TimestampMillis(string(e.Data.Resumed)); ok {
				s.begun = begun
			}
			s.LearnID(s.Plan.Resume, "file", true)
		}
	case "assistant.message", "tool.execution_start":
		if s.Call.Format == rewrite.Text {
			s.learn(&e)
		}
		s.content()
	case "session.error", "session.compaction_start", "session.compaction_complete",
		"session.truncation":
		s.learn(&e)
	}
	s.noteTime(&e)
}

// noteTime records when an event came. The first event comes shortly after the run's start.
func (s *stream) noteTime(e *event) {
	if at, ok := base.TimestampMillis(string(e.Timestamp)); ok {
		s.last = max(s.last, at)
		if s.begun == 0 {
			s.begun = at
		}
	}
}
