package rewrite

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// claudeStream reads claude's stream-json and renders it as text, json or json
// with --verbose, or leaves it as it is.
type claudeStream struct {
	call     Call
	resume   string
	fork     bool // resume is what a copy was made of
	previous Totals
	results  int
	seen     StreamState

	out     []byte  // the last rendering, reused
	last    []byte  // json: the last result line
	array   []byte  // json-verbose: the events so far
	printed int     // text: results shown so far
	newline bool    // text: what was shown ends in one
	skipped string  // text: an empty result that only an otherwise silent run shows
	stderr  string  // text: what is to be echoed on stderr
	behind  []byte  // lines that are no event, behind a result that the format shows at the end
	hidden  backlog // what was not shown since the model last spoke
	odd     bool    // an event was not as expected
	ended   bool
}

func (claude) Stream(c Call, p Plan, previous Totals) Stream {
	return &claudeStream{call: c, resume: p.Resume, fork: p.Copy, previous: previous}
}

func (s *claudeStream) Seen() *StreamState { return &s.seen }

// MaxLine: a rendered format needs its result line however long it is.
func (s *claudeStream) MaxLine() int {
	if s.call.Format == StreamJSON {
		return LongestLine
	}
	return 0
}

func (s *claudeStream) HoldsOutput() bool {
	return s.call.Format == JSON || s.call.Format == JSONVerbose
}

// ErrLine: claude's stderr says nothing that its stdout does not.
func (s *claudeStream) ErrLine(line []byte) []byte { return line }

func (s *claudeStream) TakeStderr() string {
	taken := s.stderr
	s.stderr = ""
	return taken
}

// File: nor do its files.
func (s *claudeStream) File(string, []byte) {}

// claudeEvent holds the fields of all event types that matter here.
type claudeEvent struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	SessionID string `json:"session_id"`
	Version   string `json:"claude_code_version"`
	Model     string `json:"model"`
	Parent    string `json:"parent_tool_use_id"`

	Message struct {
		Model   string `json:"model"`
		Content []struct {
			Type  string          `json:"type"`
			Text  string          `json:"text"`
			Input json.RawMessage `json:"input"`
		} `json:"content"`
		Usage *claudeUsage `json:"usage"`
	} `json:"message"`

	IsError        *bool       `json:"is_error"`
	Result         *string     `json:"result"`
	Errors         []looseText `json:"errors"`
	TerminalReason string      `json:"terminal_reason"`
	APIStatus      int         `json:"api_error_status"`
	StartupFailure string      `json:"startup_failure_reason"`

	whole bool // every field above was as expected
}

func (e *claudeEvent) isError() bool { return e.IsError != nil && *e.IsError }

func (e *claudeEvent) answer() string { return valueOf(e.Result) }

type claudeUsage struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

// claudeMarks are words one of which stands in every line that needs reading. The
// key order of events changes between versions (CLI-FACTS 1.6), so that they may
// stand anywhere.
var claudeMarks = newMarks("result", "assistant", "init", "compact_boundary", "stream_event")

func (s *claudeStream) Line(line []byte) []byte {
	s.out = s.out[:0]
	event := s.read(line)
	result := event.Type == "result"
	s.learn(event)
	if result {
		line = s.ownFigures(line)
	}
	switch {
	case s.call.Format == StreamJSON:
		return line
	case unfinished(line):
		s.hidden.add(line)
	case event.Type == "" && !isClaudeEvent(line):
		s.passOn(line)
	case result && (event.StartupFailure != "" || s.seen.Refusal == RefusedUnknown):
		s.hidden.add(line) // only stream-json shows a run that did not begin
	default:
		s.addEvent(event, line)
	}
	return s.out
}

// claudeUser begins most lines of the longest streams: what tools have said. Nothing
// is learned from these, and an object has each key once, so that there is no other
// type further on.
var claudeUser = []byte(`{"type":"user",`)

// noEvent is what a line is read as that there is nothing to learn from.
var noEvent = &claudeEvent{}

// read returns a line's event.
func (s *claudeStream) read(line []byte) *claudeEvent {
	if bytes.HasPrefix(line, claudeUser) || !claudeMarks.in(line) {
		return noEvent
	}
	e := &claudeEvent{}
	_, e.whole = readEvent(line, e)
	s.odd = s.odd || !e.whole && e.matters() && line[0] == '{'
	return e
}

// matters reports whether an event is one of those that learn reads, or could be.
func (e *claudeEvent) matters() bool {
	switch e.Type {
	case "system":
		return e.Subtype == "" || e.Subtype == "init" || e.Subtype == "compact_boundary"
	case "", "stream_event", "assistant", "result":
		return true
	}
	return false
}

// isClaudeEvent reports whether a line that was not read is an event: an object that
// names its type.
func isClaudeEvent(line []byte) bool {
	if bytes.HasPrefix(line, claudeUser) && bytes.HasSuffix(line, []byte("}\n")) {
		return true
	}
	var e struct {
		Type string `json:"type"`
	}
	ok, _ := readEvent(line, &e)
	return ok && e.Type != ""
}

// addEvent shows an event as the caller's format does.
func (s *claudeStream) addEvent(e *claudeEvent, line []byte) {
	s.out = append(s.out, s.behind...) // the tool had not ended yet
	s.behind = s.behind[:0]
	result := e.Type == "result"
	if result || e.Type == "assistant" {
		s.hidden = s.hidden[:0]
	}
	switch {
	case s.call.Format == JSONVerbose:
		s.addToArray(line, e.Subtype == "init")
	case !result:
		s.hidden.add(line)
	case s.call.Format == JSON:
		s.last = append(s.last[:0], line...)
	default:
		s.printResult(e, line)
	}
}

// passOn shows a line that is no event in its place. Behind a result that the tool
// itself shows at its end it waits for that: a wrapper writes it after the tool.
func (s *claudeStream) passOn(line []byte) {
	if !s.waits() {
		s.out = append(s.out, line...)
		return
	}
	s.behind = append(s.behind, line...)
	if len(s.behind) > maxBacklog {
		s.showLast()
	}
}

// waits reports whether there is a result to be shown at the end.
func (s *claudeStream) waits() bool {
	return s.seen.Final && (s.last != nil || s.array != nil || s.skipped != "")
}

// learn takes from an event what the ledger and the gate want to know. Only init,
// messages of the main conversation and the result are asked for the id: a hook's
// events can carry another (2.1.139 with a SessionStart hook, CLI-FACTS 1.1).
func (s *claudeStream) learn(e *claudeEvent) {
	switch e.Type {
	case "system":
		if e.Subtype == "compact_boundary" {
			s.seen.Compacted = true
		}
		if e.Subtype == "init" {
			s.learnID(e, true)
			s.seen.Version, s.seen.Model = e.Version, e.Model
		}
	case "stream_event":
		s.learnID(e, true)
		s.seen.Content = !s.seen.WrongID
	case "assistant":
		if e.Parent == "" {
			s.learnMessage(e)
		}
	case "result":
		s.learnResult(e)
	}
}

func (s *claudeStream) learnMessage(e *claudeEvent) {
	s.learnID(e, true)
	// An error is shown as a message of a model of this name.
	s.seen.Synthetic = e.Message.Model == "<synthetic>"
	if s.seen.Synthetic {
		return
	}
	s.seen.Content = !s.seen.WrongID
	for _, part := range e.Message.Content {
		switch part.Type {
		case "tool_use":
			s.seen.ToolRan = true
			s.seen.addFiles(part.Input)
		case "text":
			s.seen.addText(part.Text)
		}
	}
	if u := e.Message.Usage; u != nil && e.whole {
		s.seen.ContextUse.Used = u.Input + u.CacheRead + u.CacheWrite + u.Output
	}
}

// learnID pins the first id of valid form, or notes that the tool has left the
// session that was asked for, or works in the one that it was to copy. An event that is
// not as expected names no session, nor does one of a session that was not begun.
func (s *claudeStream) learnID(e *claudeEvent, begun bool) {
	id := e.SessionID
	if !isUUID(id) {
		return
	}
	if s.resume != "" && (id == s.resume) == s.fork {
		s.seen.WrongID = true
	}
	if s.seen.ID == "" && begun && e.whole {
		s.seen.ID, s.seen.Source = id, "stdout"
	}
}

func (s *claudeStream) learnResult(e *claudeEvent) {
	s.seen.Results++
	s.seen.Final = e.StartupFailure == ""
	s.seen.Failed = e.IsError == nil || *e.IsError || e.Subtype != "success" || s.odd
	s.seen.TurnLimit = e.Subtype == "error_max_turns" && !s.odd
	s.seen.Answer = e.answer()
	s.seen.Refusal = claudeRefusal(e)
	if s.seen.Refusal == RefusedUnknown {
		s.seen.Final = false
		return // its session_id is the one that does not exist, or one made up (CLI-FACTS 1.3)
	}
	s.learnID(e, !s.seen.Failed || s.seen.TurnLimit) // likewise, where nothing came before: no session was begun
}

// claudeRefusal reads a result for what makes a session unfit to be gone on with.
// Limits, logins and the network are not about the session.
func claudeRefusal(e *claudeEvent) Reason {
	for _, text := range e.Errors {
		if r := (claude{}).Refused(string(text), 0); r != "" {
			return r
		}
	}
	text := e.answer()
	switch {
	case !e.isError():
		return ""
	case e.TerminalReason == "prompt_too_long" || strings.HasPrefix(text, "Prompt is too long"):
		return RefusedContext
	case e.APIStatus == 400 || e.TerminalReason == "image_error" || strings.HasPrefix(text, "API Error: 400"):
		return RefusedBroken
	}
	return ""
}

// ownFigures returns the result line with this call's share of the figures that
// run on over a session: since 2.1.277 claude reports the cost, the usage by
// model and the API time of all that the session ever took (CLI-FACTS 1.6). It
// also notes usage, cost and window.
func (s *claudeStream) ownFigures(line []byte) []byte {
	if s.seen.Refusal == RefusedUnknown {
		return line
	}
	numbers := jsonNumbers(line)
	s.seen.Totals = encodeTotals(numbers, claudeRunsOn)
	if s.results++; s.fork && s.results == 1 {
		s.previous = claudeCarried(numbers, s.previous)
	}
	if s.resume != "" && s.seen.Version != "" && atLeast(s.seen.Version, 2, 1, 277) {
		line = subtractTotals(line, numbers, s.previous)
		numbers = jsonNumbers(line)
	}
	s.learnUsage(numbers)
	return line
}

// claudeRunsOn returns which numbers of a result are totals of the session.
func claudeRunsOn(path string) bool {
	if path == "total_cost_usd" || path == "duration_api_ms" {
		return true
	}
	return strings.HasPrefix(path, "modelUsage\t") && !strings.HasSuffix(path, "\tcontextWindow") &&
		!strings.HasSuffix(path, "\tmaxOutputTokens")
}

// claudeCarried returns the totals that a copy of a session began with, by its first
// result: all less what came with that result (2.1.329; older versions do not tell
// that). They are more than was known where the session that it is a copy of has
// ended a run meanwhile: a copy takes over the latest cost, wherever it is cut.
func claudeCarried(numbers []jsonNumber, known Totals) Totals {
	at := map[string]int64{}
	for _, n := range numbers {
		if value, err := nano(n.text); err == nil {
			at[n.path] = value
		}
	}
	carried := map[string]json.Number{}
	if json.Unmarshal([]byte(known), &carried) != nil {
		return ""
	}
	cost, told := at["total_cost_usd"], false
	for path, own := range at {
		path = "modelUsage" + strings.TrimPrefix(path, claudeStreamOnlyKey)
		total, ok := at[path]
		if !ok || !claudeRunsOn(path) {
			continue
		}
		carried[path] = json.Number(formatNano(max(0, total-own)))
		if strings.HasSuffix(path, "\tcostUSD") {
			cost, told = cost-own, true
		}
	}
	if told {
		carried["total_cost_usd"] = json.Number(formatNano(max(0, cost)))
	}
	text, err := json.Marshal(carried)
	if err != nil {
		return known
	}
	return Totals(text)
}

// learnUsage adds up the usage by model, which counts subagents too, where the
// plain usage does not.
func (s *claudeStream) learnUsage(numbers []jsonNumber) {
	u := &s.seen.Usage
	*u = Usage{}
	for _, n := range numbers {
		value, err := nano(n.text)
		if err != nil {
			continue
		}
		count := value / 1e9
		if n.path == "total_cost_usd" {
			u.CostNano, u.CostKnown = value, true
		}
		model, ok := strings.CutPrefix(n.path, "modelUsage\t")
		if !ok {
			continue
		}
		switch _, name, _ := strings.Cut(model, "\t"); name {
		case "inputTokens":
			u.Input += count
			u.Known = true
		case "cacheReadInputTokens":
			u.CacheRead += count
		case "cacheCreationInputTokens":
			u.CacheWrite += count
		case "outputTokens":
			u.Output += count
		case "contextWindow":
			s.seen.ContextUse.Limit = max(s.seen.ContextUse.Limit, count)
		}
	}
}

// printResult renders a result as text mode prints it. Since 2.1.293 or little later (2.1.292 no, 2.1.295 yes) that happens
// as each turn ends, before it at the end and only for the last one; an empty
// result is printed where nothing else was (2.1.329). Since 2.1.326 errors are
// repeated on a stderr that is a terminal.
func (s *claudeStream) printResult(e *claudeEvent, line []byte) {
	s.skipped = ""
	text, ok := s.textOf(e)
	if !ok {
		s.print(string(line))
		return
	}
	if s.call.StderrTTY && atLeast(s.seen.Version, 2, 1, 326) && e.isError() && !strings.HasPrefix(e.TerminalReason, "aborted_") {
		s.stderr += strings.TrimRight(text, " \t\r\n") + "\n"
	}
	if !printsEachTurn(s.seen.Version) || strings.TrimSpace(text) == "" {
		s.skipped = text
		return
	}
	s.print(text)
}

func (s *claudeStream) print(text string) {
	switch {
	case s.printed == 0:
	case s.newline:
		s.out = append(s.out, '\n')
	default:
		s.out = append(s.out, "\n\n"...)
	}
	s.out = append(s.out, text...)
	s.printed++
	s.newline = strings.HasSuffix(text, "\n")
}

// textOf returns what text mode prints of a result; ok is false where the answer does
// not stand where it should.
func (s *claudeStream) textOf(e *claudeEvent) (text string, ok bool) {
	switch e.Subtype {
	case "error_max_turns":
		return "Error: Reached max turns (" + s.call.maxTurns + ")", true
	case "error_max_budget_usd":
		return "Error: Exceeded USD budget (" + s.call.maxBudget + ")", true
	case "error_max_structured_output_retries":
		if len(e.Errors) > 0 {
			return "Error: " + string(e.Errors[0]), true
		}
		return "Error: Failed to provide valid structured output after maximum retries", true
	}
	switch text = e.answer(); {
	case strings.HasPrefix(e.Subtype, "error"):
		return "Execution error", true
	case e.Result == nil || text == "" && !e.whole:
		return "", false
	case strings.HasSuffix(text, "\n"):
		return text, true
	}
	return text + "\n", true
}

// printsEachTurn tells of the versions that print every turn's result, not the
// last one alone.
func printsEachTurn(version string) bool { return atLeast(version, 2, 1, 293) }

// atLeast compares a version with major.minor.patch; an unknown version counts as
// the newest.
func atLeast(version string, want ...int) bool {
	parts := strings.Split(version, ".")
	for i, w := range want {
		if i >= len(parts) {
			return true
		}
		n, err := strconv.Atoi(parts[i])
		if err != nil || n > w {
			return true
		}
		if n < w {
			return false
		}
	}
	return true
}

func (s *claudeStream) addToArray(line []byte, init bool) {
	line = withoutKey(bytes.TrimRight(line, "\r\n"), claudeStreamOnlyKey)
	if init {
		line = bytes.ReplaceAll(line, []byte(claudeStreamOnlyCapability), nil)
	}
	s.array = append(s.array, "[,"[min(len(s.array), 1)])
	s.array = s.appendJSON(s.array, line)
}

func (s *claudeStream) End() []byte {
	if s.ended {
		return nil
	}
	s.ended = true
	s.out = s.out[:0]
	if s.seen.Final {
		s.showLast()
		return s.out
	}
	// A run that was cut short prints nothing in these formats. One that has ended well
	// has said something, in a way that is not known here.
	if s.array != nil {
		s.seen.Unshown = append(s.array, "]\n"...)
	}
	s.seen.Unshown = append(s.seen.Unshown, s.hidden...)
	return nil
}

// showLast shows what the caller's format shows at the end, and what came behind it.
func (s *claudeStream) showLast() {
	switch {
	case s.last != nil:
		s.out = append(s.appendJSON(s.out, withoutKey(bytes.TrimRight(s.last, "\r\n"), claudeStreamOnlyKey)), '\n')
	case s.array != nil:
		s.out = append(append(s.out, s.array...), "]\n"...)
	case s.skipped != "" && (s.printed == 0 || strings.TrimSpace(s.skipped) != ""):
		s.print(s.skipped)
	}
	s.out = append(s.out, s.behind...)
	s.last, s.array, s.skipped, s.behind = nil, nil, "", nil
}

// What stands in stream-json and not in json (LIVE 2.1.329): a key of results, and
// an entry in init's list of capabilities.
const (
	claudeStreamOnlyKey        = "model_usage_since_last_result"
	claudeStreamOnlyCapability = `"lifecycle_wakeup_source_v1",`
)

// appendJSON copies a line of stream-json as json prints it. Both escape U+2028 and
// U+2029 since 2.1.311; before, json did not (LIVE 2.1.310 and 2.1.311;
// recordings/claude/multi-json).
func (s *claudeStream) appendJSON(dst, line []byte) []byte {
	if atLeast(s.seen.Version, 2, 1, 311) {
		return append(dst, line...)
	}
	return appendRawSeparators(dst, line)
}

// appendRawSeparators copies a line of JSON with the escapes of U+2028 and U+2029
// undone.
func appendRawSeparators(dst, line []byte) []byte {
	for {
		before, escaped, ok := bytes.Cut(line, []byte(`\`))
		dst = append(dst, before...)
		switch {
		case !ok:
			return dst
		case bytes.HasPrefix(escaped, []byte("u2028")):
			dst, line = append(dst, "\u2028"...), escaped[len("u2028"):]
		case bytes.HasPrefix(escaped, []byte("u2029")):
			dst, line = append(dst, "\u2029"...), escaped[len("u2029"):]
		default: // the next byte begins no escape of its own
			one := min(len(escaped), 1)
			dst = append(append(dst, '\\'), escaped[:one]...)
			line = escaped[one:]
		}
	}
}
