package rewrite

import (
	"bytes"
	"encoding/json"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// copilotStream reads copilot's output in the caller's format. It changes only what a resumed run shows:
// the figures, which are the session's, and in json the prompt.
type copilotStream struct {
	streamBase
	previous *copilotTotals // nil if not known

	output    strings.Builder // text: what stdout has shown
	errOutput strings.Builder // text: what stderr, or both in one stream, has shown before the figures
	tooLong   bool            // one of them was too long to keep
	footer    [][]byte        // text: the figures at the end of stderr
	totals    *copilotTotals  // of the session; nil if not known
	begun     int64           // when this run began, in milliseconds; 0 if not known
	last      int64           // when the last event came
	edited    []string        // the files that the run has changed
	file      bool            // the session's own file shows this run
	malformed bool            // an event had an unexpected shape
	ended     bool
}

func (copilot) Stream(c Call, p Plan, previous Totals) Stream {
	s := &copilotStream{streamBase: streamBase{call: c, plan: p}}
	var totals copilotTotals
	if ok, whole := readEvent([]byte(previous), &totals); ok && whole {
		s.previous = &totals
	}
	return s
}

// MaxLine returns NoLines for text, which is shown unchanged.
func (s *copilotStream) MaxLine() int {
	if s.call.Format == Text {
		return NoLines
	}
	return LongestLine
}

// copilotTotals are the figures that a session adds up over all its runs.
type copilotTotals struct {
	Premium   float64 `json:"premium"`
	NanoAIU   float64 `json:"nano_aiu"`
	APIMillis int64   `json:"api_ms"`
	Added     int64   `json:"added"`
	Removed   int64   `json:"removed"`
	Input     int64   `json:"input"` // the cached ones included
	Read      int64   `json:"read"`
	Written   int64   `json:"written"`
	Output    int64   `json:"output"`
	Reasoning int64   `json:"reasoning"`
}

// since returns what has been added since before. ok is false if something has decreased, so that they
// are not totals.
func (t copilotTotals) since(before copilotTotals) (own copilotTotals, ok bool) {
	own = copilotTotals{
		t.Premium - before.Premium, t.NanoAIU - before.NanoAIU, t.APIMillis - before.APIMillis, t.Added - before.Added,
		t.Removed - before.Removed, t.Input - before.Input, t.Read - before.Read, t.Written - before.Written,
		t.Output - before.Output, t.Reasoning - before.Reasoning,
	}
	least := min(own.APIMillis, own.Added, own.Removed, own.Input, own.Read, own.Written, own.Output, own.Reasoning)
	return own, least >= 0 && own.Premium >= 0 && own.NanoAIU >= 0
}

// own returns this run's share of the session's totals. ok is false if it is not known.
func (s *copilotStream) own() (figures copilotTotals, ok bool) {
	switch {
	case s.totals == nil:
		return copilotTotals{}, false
	case s.plan.Resume == "":
		return *s.totals, s.call.Mode != Observe
	case s.previous == nil:
		return copilotTotals{}, false
	}
	return s.totals.since(*s.previous)
}

// copilotEvent holds the fields of all event types that are read.
type copilotEvent struct {
	Type      string    `json:"type"`
	Timestamp looseText `json:"timestamp"`
	SessionID string    `json:"sessionId"`
	ExitCode  *int      `json:"exitCode"`
	Data      struct {
		Content     *string         `json:"content"`
		Transformed *string         `json:"transformedContent"`
		Parent      string          `json:"parentToolCallId"` // of a subagent
		Model       string          `json:"model"`
		Message     looseText       `json:"message"`
		Arguments   json.RawMessage `json:"arguments"`
		FileEdits   []struct {
			Path string `json:"path"`
		} `json:"fileEdits"`
		Version string    `json:"copilotVersion"`
		Resumed looseText `json:"resumeTime"`
	} `json:"data"`

	whole bool // every field above had the expected type
}

func (s *copilotStream) Line(line []byte) []byte {
	if s.call.Format == Text {
		s.keep(&s.output, line)
		return line
	}
	if !bytes.HasPrefix(line, []byte("{")) {
		return line
	}
	var e copilotEvent
	ok, whole := readEvent(line, &e)
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

// keep collects what a text call shows.
func (s *copilotStream) keep(to *strings.Builder, text []byte) {
	s.tooLong = s.tooLong || to.Len()+len(text) > LongestLine
	if !s.tooLong {
		to.Write(text)
	}
}

// learn records what an event shows, of stdout or of the session's file.
func (s *copilotStream) learn(e *copilotEvent) {
	kind, _, _ := strings.Cut(e.Type, ".")
	if kind == "assistant" || kind == "session" || kind == "tool" || kind == "user" || e.Type == "result" {
		s.malformed = s.malformed || !e.whole
		s.seen.Failed = s.seen.Failed || s.malformed
	}
	switch e.Type {
	case "session.start":
		s.seen.Version = e.Data.Version
	case "session.error":
		s.seen.Failed = true
		if why := copilotRefusals.in(string(e.Data.Message)); why != "" {
			s.seen.Refusal = why
		}
	case "assistant.message":
		s.learnMessage(e)
	case "assistant.message_delta":
		s.content()
	case "tool.execution_start":
		s.seen.ToolRan = true
		s.seen.addFiles(e.Data.Arguments)
		s.content()
	case "tool.execution_complete":
		for _, edit := range e.Data.FileEdits {
			if !slices.Contains(s.edited, edit.Path) {
				s.edited = append(s.edited, edit.Path)
			}
		}
	}
	if strings.HasPrefix(e.Type, "session.compaction") || e.Type == "session.truncation" {
		s.seen.Compacted = true
	}
}

// learnMessage records a message of the model, not of its subagents.
func (s *copilotStream) learnMessage(e *copilotEvent) {
	text := orEmpty(e.Data.Content)
	if e.Data.Parent != "" {
		return
	}
	s.seen.Model = e.Data.Model
	if text != "" {
		s.seen.Answer = text
		if s.call.Format != Text {
			s.seen.addText(text)
		}
	}
	s.content()
}

// content records that the model has answered. A resumed run shows its session's ID only at its end,
// but it adds to the session's file from its start.
func (s *copilotStream) content() {
	s.seen.Content = s.plan.Resume == "" && s.seen.ID != "" || s.file && !s.seen.WrongID
}

func (s *copilotStream) learnID(id, source string) {
	if !isUUID(id) {
		return
	}
	if s.plan.Resume != "" && id != s.plan.Resume {
		s.seen.WrongID = true
	}
	if s.seen.ID == "" {
		s.seen.ID, s.seen.Source = id, source
	}
}

// learnResult reads json's last line and returns it with this call's figures.
func (s *copilotStream) learnResult(line []byte, e *copilotEvent) []byte {
	if e.whole {
		s.learnID(e.SessionID, "stdout")
	}
	s.seen.Final = true
	s.seen.Failed = s.seen.Failed || e.ExitCode == nil || *e.ExitCode != 0
	s.seen.Content = s.seen.ID != "" && !s.seen.WrongID && !s.seen.Failed
	if s.plan.Resume == "" || s.previous == nil {
		return line
	}
	return s.ownResult(line)
}

// ownResult replaces the session's figures in json's last line by this call's.
func (s *copilotStream) ownResult(line []byte) []byte {
	before := map[string]json.Number{
		"usage\tpremiumRequests":           json.Number(strconv.FormatFloat(s.previous.Premium, 'f', -1, 64)),
		"usage\ttotalApiDurationMs":        json.Number(strconv.FormatInt(s.previous.APIMillis, 10)),
		"usage\tcodeChanges\tlinesAdded":   json.Number(strconv.FormatInt(s.previous.Added, 10)),
		"usage\tcodeChanges\tlinesRemoved": json.Number(strconv.FormatInt(s.previous.Removed, 10)),
	}
	numbers := jsonNumbers(line)
	for _, n := range numbers {
		if n.path == "usage\tsessionDurationMs" {
			if total, err := strconv.ParseInt(n.text, 10, 64); err == nil {
				own := min(total, s.last-s.begun)
				before[n.path] = json.Number(strconv.FormatInt(total-own, 10))
			}
		}
	}
	text, err := json.Marshal(before)
	if err != nil {
		return line
	}
	return s.ownFiles(subtractTotals(line, numbers, Totals(text)))
}

// ownFiles leaves in the list of changed files those that this run has changed, in its order.
func (s *copilotStream) ownFiles(line []byte) []byte {
	var r struct {
		Usage struct {
			CodeChanges struct {
				Files json.RawMessage `json:"filesModified"`
			} `json:"codeChanges"`
		} `json:"usage"`
	}
	var files []string
	all := r.Usage.CodeChanges.Files
	if json.Unmarshal(line, &r) == nil {
		all = r.Usage.CodeChanges.Files
	}
	if json.Unmarshal(all, &files) != nil || len(files) == 0 {
		return line
	}
	var own []string
	for _, name := range s.edited {
		if slices.Contains(files, name) {
			own = append(own, string(rawString(name)))
		}
	}
	return bytes.Replace(line, all, []byte("["+strings.Join(own, ",")+"]"), 1)
}

// asAsked puts the caller's prompt in place of what the model was sent. It stands there twice: as it was given,
// and as the model gets it, behind the time and without white space at its end.
func (s *copilotStream) asAsked(line []byte, e *copilotEvent) []byte {
	if s.plan.Asked == "" {
		return line
	}
	sent, asked := s.blank(s.plan.Prompt), s.blank(s.plan.Asked)
	shown := bytes.Replace(line, rawString(sent), rawString(asked), 1)
	whole := orEmpty(e.Data.Transformed)
	if front, ok := strings.CutSuffix(whole, trimEnd(decoded(sent))); ok && e.Data.Transformed != nil {
		shown = bytes.Replace(shown, rawString(whole), rawString(front+trimEnd(asked)), 1)
	}
	return shown
}

func trimEnd(text string) string { return strings.TrimRightFunc(text, unicode.IsSpace) }

// blank hides what copilot hides in json: the values of its keys (recordings/copilot/key-json).
func (s *copilotStream) blank(text string) string {
	for _, secret := range copilotOwnOf(s.call).secrets {
		text = strings.ReplaceAll(text, secret, "******")
	}
	return text
}

// copilotFooter is the beginning of the figures on stderr.
const copilotFooter = "Changes    +"

// copilotResume is the beginning of the last line of the figures on stderr.
const copilotResume = "Resume     copilot --resume="

// ErrLine holds the figures of a resumed text run until they can be replaced. With OneStream it gets stdout's
// lines too.
func (s *copilotStream) ErrLine(line []byte) []byte {
	plain := strings.TrimRight(stripEscapes(string(line)), "\r\n")
	if len(s.footer) == 0 && !strings.HasPrefix(plain, copilotFooter) {
		s.keep(&s.errOutput, line)
		return line
	}
	s.footer = append(s.footer, bytes.Clone(line))
	s.learnFooter()
	if s.plan.Resume == "" {
		return line
	}
	return nil
}

// ErrAsIs reports whether a line is not one of the figures. copilot shows an answer as it comes.
func (s *copilotStream) ErrAsIs(part []byte) bool {
	plain, _, _ := strings.Cut(stripEscapes(string(part)), "\x1b") // the rest of an escape sequence follows
	return len(s.footer) == 0 && !strings.HasPrefix(plain, copilotFooter) && !strings.HasPrefix(copilotFooter, plain)
}

// learnFooter reads the session's ID, once the figures are complete.
func (s *copilotStream) learnFooter() {
	last := strings.TrimRight(stripEscapes(string(s.footer[len(s.footer)-1])), "\r\n")
	if id, ok := strings.CutPrefix(last, copilotResume); ok {
		s.learnID(id, "stderr")
	}
}

// End reads a text run's outcome and replaces the figures of a resumed one.
func (s *copilotStream) End() []byte {
	if s.ended {
		return nil
	}
	s.ended = true
	if s.call.Format == Text {
		s.endText()
	}
	if figures, ok := s.own(); ok {
		s.seen.Usage = Usage{
			Known: true, Input: max(0, figures.Input-figures.Read-figures.Written), CacheRead: figures.Read,
			CacheWrite: figures.Written, Output: figures.Output,
		}
	}
	return nil
}

func (s *copilotStream) endText() {
	if s.plan.Resume != "" {
		figures, ok := s.own()
		for _, line := range s.footer {
			if ok {
				line = s.ownLine(line, figures)
			}
			s.stderr += string(line)
		}
	}
	shown := s.output.String()
	if shown == "" { // both streams are one
		shown = s.errOutput.String()
	}
	s.seen.Answer = strings.TrimRight(shown, "\r\n")
	s.seen.Final = s.totals != nil && (s.seen.Answer != "" || s.tooLong)
	s.seen.Failed = s.seen.Failed || s.tooLong
	s.seen.Content = s.seen.Final && s.seen.ID != "" && !s.seen.WrongID
}

// copilotFigures matches the lines of the figures at the end of a text run.
var copilotFigures = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:Changes {4}(\+\d+) (-\d+)|(Duration {3})(?:.*)|(Requests {3})(?:\S+) Premium \(.*\)|(AI Credits )(.+) \(.*\)|(Tokens {5})(?:.*))$`)
})

// ownLine returns a line of the figures with this call's.
func (s *copilotStream) ownLine(line []byte, own copilotTotals) []byte {
	plain := stripEscapes(string(line))
	text := strings.TrimRight(plain, "\r\n")
	end := plain[len(text):]
	m := copilotFigures().FindStringSubmatch(text)
	if m == nil {
		return line
	}
	if m[1] != "" { // colored on a terminal
		line = bytes.Replace(line, []byte(m[1]), []byte("+"+strconv.FormatInt(own.Added, 10)), 1)
		return bytes.Replace(line, []byte(m[2]), []byte("-"+strconv.FormatInt(own.Removed, 10)), 1)
	}
	spent := copilotDuration(s.last - s.begun)
	if s.begun == 0 && m[7] == "" {
		return line
	}
	switch {
	case m[3] != "":
		text = m[3] + spent
	case m[4] != "":
		text = m[4] + copilotNumber(math.Round(own.Premium*100)/100, 2) + " Premium (" + spent + ")"
	case m[5] != "":
		if m[6] != "unavailable" {
			m[6] = copilotCredits(own.NanoAIU)
		}
		text = m[5] + m[6] + " (" + spent + ")"
	default:
		text = m[7] + own.tokens()
	}
	return []byte(text + end)
}

// tokens returns the tokens as copilot prints them.
func (t copilotTotals) tokens() string {
	detail := func(parts ...string) string {
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		if len(parts) == 0 {
			return ""
		}
		return " (" + strings.Join(parts, ", ") + ")"
	}
	some := func(n int64, kind string) string {
		if n == 0 {
			return ""
		}
		return copilotCount(n) + " " + kind
	}
	return "↑ " + copilotCount(t.Input) + detail(some(t.Read, "cached"), some(t.Written, "written")) +
		" • ↓ " + copilotCount(t.Output) + detail(some(t.Reasoning, "reasoning"))
}

// copilotCount formats tokens: 999, 1.0k, 1.0m.
func copilotCount(n int64) string {
	switch {
	case n < 1e3:
		return strconv.FormatInt(n, 10)
	case n < 1e6:
		return strconv.FormatFloat(float64(n)/1e3, 'f', 1, 64) + "k"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "m"
}

// copilotDuration formats a duration: 59s, 1m 0s, 1h 0m 0s.
func copilotDuration(millis int64) string {
	seconds := max(0, millis/1000)
	text := strconv.FormatInt(seconds%60, 10) + "s"
	if seconds >= 60 {
		text = strconv.FormatInt(seconds/60%60, 10) + "m " + text
	}
	if seconds >= 3600 {
		text = strconv.FormatInt(seconds/3600, 10) + "h " + text
	}
	return text
}

// copilotCredits formats billionths of an AI credit with about three digits.
func copilotCredits(nano float64) string {
	switch credits := nano / 1e9; {
	case credits == 0:
		return "0"
	case credits < 0.01:
		return "<0.01"
	case credits < 10:
		return copilotNumber(credits, 2)
	case credits < 100:
		return copilotNumber(credits, 1)
	default:
		return copilotNumber(credits, 0)
	}
}

// copilotNumber formats a number with at most so many decimals.
func copilotNumber(n float64, decimals int) string {
	text := strconv.FormatFloat(n, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// File reads what copilot writes: its figures, the shared session, and the events that a resumed session's
// file gets.
func (s *copilotStream) File(name string, data []byte) {
	switch path.Base(name) {
	case copilotUsageFile:
		s.learnUsage(data)
	case copilotShareFile:
		s.learnShared(data)
	case copilotEvents:
		s.learnEvent(data)
	}
}

// copilotUsage is what --usage-output-file contains. Its figures are the session's
// (recordings/copilot/chain-2).
type copilotUsage struct {
	Premium   float64 `json:"totalPremiumRequestCost"`
	NanoAIU   float64 `json:"totalNanoAiu"`
	APIMillis int64   `json:"totalApiDurationMs"`
	Changes   struct {
		Added   int64 `json:"linesAdded"`
		Removed int64 `json:"linesRemoved"`
	} `json:"codeChanges"`
	Models map[string]struct {
		Usage struct {
			Input     int64 `json:"inputTokens"`
			Output    int64 `json:"outputTokens"`
			Read      int64 `json:"cacheReadTokens"`
			Written   int64 `json:"cacheWriteTokens"`
			Reasoning int64 `json:"reasoningTokens"`
		} `json:"usage"`
	} `json:"modelMetrics"`
	Current    string `json:"currentModel"`
	LastInput  int64  `json:"lastCallInputTokens"`
	LastOutput int64  `json:"lastCallOutputTokens"`
}

func (s *copilotStream) learnUsage(data []byte) {
	var u copilotUsage
	if ok, whole := readEvent(data, &u); !ok || !whole {
		return
	}
	t := copilotTotals{Premium: u.Premium, NanoAIU: u.NanoAIU, APIMillis: u.APIMillis, Added: u.Changes.Added, Removed: u.Changes.Removed}
	for _, m := range u.Models {
		t.Input += m.Usage.Input
		t.Output += m.Usage.Output
		t.Read += m.Usage.Read
		t.Written += m.Usage.Written
		t.Reasoning += m.Usage.Reasoning
	}
	text, err := json.Marshal(t)
	if err != nil {
		return
	}
	s.totals, s.seen.Totals = &t, Totals(text)
	s.seen.ContextUse.Used = u.LastInput + u.LastOutput
	if s.seen.Model == "" {
		s.seen.Model = u.Current
	}
}

// copilotShared is how the line of a shared session begins that names it.
const copilotShared = "> - **Session ID:** `"

// learnShared reads the ID from the head of a shared session, above the conversation.
func (s *copilotStream) learnShared(data []byte) {
	head, _, _ := bytes.Cut(data, []byte("\n---\n"))
	for line := range strings.Lines(string(head)) {
		if rest, ok := strings.CutPrefix(line, copilotShared); ok {
			id, _, _ := strings.Cut(rest, "`")
			s.learnID(id, "file")
		}
	}
}

// learnEvent reads an event of the resumed session's file. Another process may continue the session at the
// same time, but then the file is not what the ledger expects, and the next call is fresh.
func (s *copilotStream) learnEvent(line []byte) {
	var e copilotEvent
	ok, whole := readEvent(line, &e)
	if !ok {
		return
	}
	e.whole = whole
	switch e.Type {
	case "session.resume":
		if !s.file {
			s.file = true
			if begun, ok := timestampMillis(string(e.Data.Resumed)); ok {
				s.begun = begun
			}
			s.learnID(s.plan.Resume, "file")
		}
	case "session.compaction_start", "session.compaction_complete", "session.truncation":
		s.seen.Compacted = true
	case "assistant.message", "tool.execution_start":
		if s.call.Format == Text {
			s.learn(&e)
		}
		s.content()
	case "session.error":
		s.learn(&e)
	}
	s.noteTime(&e)
}

// noteTime records when an event came. The first event comes shortly after the run's start.
func (s *copilotStream) noteTime(e *copilotEvent) {
	if at, ok := timestampMillis(string(e.Timestamp)); ok {
		s.last = max(s.last, at)
		if s.begun == 0 {
			s.begun = at
		}
	}
}
