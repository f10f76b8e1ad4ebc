package rewrite

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// claudeStream reads claude's stream-json and renders it as text, json, json with --verbose, or
// unchanged.
type claudeStream struct {
	streamBase
	previous Totals
	results  int

	out         []byte  // the last rendering; its memory is reused
	last        []byte  // json: the last result line
	array       []byte  // json-verbose: the events so far
	printed     int     // text: number of results shown so far
	newline     bool    // text: the output so far ends in a newline
	skipped     string  // text: an empty result, shown only if the run shows nothing else
	afterResult []byte  // lines after a result that are no events, if the format shows the result at the end
	hidden      backlog // lines not shown since the model's last output
	malformed   bool    // an event had an unexpected shape
	ended       bool
}

func (claude) Stream(c Call, p Plan, previous Totals) Stream {
	return &claudeStream{streamBase: streamBase{call: c, plan: p}, previous: previous}
}

func (s *claudeStream) PrintsAtEnd() bool { return s.call.Format != StreamJSON }

func (s *claudeStream) HoldsOutput() bool {
	return s.call.Format == JSON || s.call.Format == JSONVerbose
}

// claudeEvent holds the fields of all event types that are read.
type claudeEvent struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	SessionID string `json:"session_id"`
	Version   string `json:"claude_code_version"`
	Model     string `json:"model"`
	Parent    string `json:"parent_tool_use_id"`
	UUID      string `json:"uuid"`

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

	whole bool // every field above had the expected type
}

func (e *claudeEvent) isError() bool { return e.IsError != nil && *e.IsError }

func (e *claudeEvent) answer() string { return orEmpty(e.Result) }

type claudeUsage struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

// claudeMarks are words of which every line worth parsing contains at least one. The order of keys
// changes between versions (CLI-FACTS 1.6), so they are searched for anywhere in the line.
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

// claudeUser begins most lines of the longest streams: tool results. They contain nothing to learn,
// and an object has each key once, so no other type can follow.
var claudeUser = []byte(`{"type":"user",`)

// noEvent stands for a line without anything to learn.
var noEvent = &claudeEvent{}

// read returns a line's event.
func (s *claudeStream) read(line []byte) *claudeEvent {
	if bytes.HasPrefix(line, claudeUser) || !claudeMarks.in(line) {
		return noEvent
	}
	e := &claudeEvent{}
	_, e.whole = readEvent(line, e)
	s.malformed = s.malformed || !e.whole && e.matters() && line[0] == '{'
	return e
}

// matters reports whether learn reads such an event, or might.
func (e *claudeEvent) matters() bool {
	switch e.Type {
	case "system":
		return e.Subtype == "" || e.Subtype == "init" || e.Subtype == "compact_boundary"
	case "", "stream_event", "assistant", "result":
		return true
	}
	return false
}

// isClaudeEvent reports whether an unparsed line is an event: an object that names its type.
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

// addEvent renders an event in the caller's format.
func (s *claudeStream) addEvent(e *claudeEvent, line []byte) {
	s.out = append(s.out, s.afterResult...) // the tool had not ended yet
	s.afterResult = s.afterResult[:0]
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

// passOn shows a line that is no event where it occurs. After a result that the tool shows only at
// its end, the line waits for that result: a wrapper prints it after the tool.
func (s *claudeStream) passOn(line []byte) {
	if !s.resultPending() {
		s.out = append(s.out, line...)
		return
	}
	s.afterResult = append(s.afterResult, line...)
	if len(s.afterResult) > maxBacklog {
		s.showLast()
	}
}

// resultPending reports whether there is a result to show at the end.
func (s *claudeStream) resultPending() bool {
	return s.seen.Final && (s.last != nil || s.array != nil || s.skipped != "")
}

// learn records what the ledger and the gate need from an event. Only init, messages of the main
// conversation and the result are read for the session ID: a hook's events can carry another one
// (2.1.139 with a SessionStart hook, CLI-FACTS 1.1).
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
	// claude shows an error as a message of a model with this name.
	s.seen.Synthetic = e.Message.Model == "<synthetic>"
	s.seen.Message = e.UUID
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
		if !s.seen.First.Known {
			s.seen.First = Usage{Known: true, Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
		}
	}
}

// learnID pins the first valid ID, or records that the tool left the requested session or works in
// the one it should have copied. An event of unexpected shape names no session, nor does an event
// of a session that never began.
func (s *claudeStream) learnID(e *claudeEvent, begun bool) {
	id := e.SessionID
	if !isUUID(id) {
		return
	}
	if s.plan.Resume != "" && (id == s.plan.Resume) == s.plan.Copy {
		s.seen.WrongID = true
	}
	if s.seen.ID == "" && begun && e.whole {
		s.seen.ID, s.seen.Source = id, "stdout"
	}
}

func (s *claudeStream) learnResult(e *claudeEvent) {
	s.seen.Results++
	s.seen.Final = e.StartupFailure == ""
	s.seen.Failed = e.IsError == nil || *e.IsError || e.Subtype != "success" || s.malformed
	s.seen.TurnLimit = e.Subtype == "error_max_turns" && !s.malformed
	s.seen.Answer = e.answer()
	s.seen.Refusal = claudeRefusal(e)
	if s.seen.Refusal == RefusedUnknown {
		s.seen.Final = false
		return // its session_id is the missing session's, or invented (CLI-FACTS 1.3)
	}
	s.learnID(e, !s.seen.Failed || s.seen.TurnLimit) // likewise if nothing came before it: no session began
}

// claudeRefusal returns why a result makes the session unfit to resume, or "". Limits, logins and
// network errors do not concern the session.
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

// ownFigures returns the result line with this call's share of the cumulative figures: since
// 2.1.277 claude reports cost, usage by model and API time for the whole session (CLI-FACTS 1.6).
// It also records usage, cost and context window.
func (s *claudeStream) ownFigures(line []byte) []byte {
	if s.seen.Refusal == RefusedUnknown {
		return line
	}
	numbers := jsonNumbers(line)
	s.seen.Totals = encodeTotals(numbers, claudeRunsOn)
	s.seen.OwnFigures = !atLeast(s.seen.Version, 2, 1, 277) || tellsOwnFigures(numbers)
	if s.results++; s.plan.Copy && s.results == 1 {
		s.previous = claudeCarried(numbers, s.previous)
	}
	if s.plan.Resume != "" && s.seen.Version != "" && atLeast(s.seen.Version, 2, 1, 277) {
		line = subtractTotals(line, numbers, s.previous)
		numbers = jsonNumbers(line)
	}
	s.learnUsage(numbers)
	return line
}

// tellsOwnFigures reports whether a result has figures of its own part.
func tellsOwnFigures(numbers []jsonNumber) bool {
	return slices.ContainsFunc(numbers, func(n jsonNumber) bool { return strings.HasPrefix(n.path, claudeStreamOnlyKey+"\t") })
}

// claudeRunsOn reports whether the number at path is a running total of the session.
func claudeRunsOn(path string) bool {
	if path == "total_cost_usd" || path == "duration_api_ms" {
		return true
	}
	return strings.HasPrefix(path, "modelUsage\t") && !strings.HasSuffix(path, "\tcontextWindow") &&
		!strings.HasSuffix(path, "\tmaxOutputTokens")
}

// claudeCarried returns the totals that a copied session started with: all totals of its first
// result minus that result's own figures (2.1.329; older versions do not report those). They exceed
// the known totals if the original session ended a run in between: a copy inherits the latest cost,
// wherever it is cut.
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

// learnUsage adds up the usage by model. It includes subagents, which the plain usage does not.
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

// printResult renders a result the way text mode prints it. Since 2.1.293 or shortly after (2.1.292
// no, 2.1.295 yes) claude prints a result as each turn ends; before, only the last one at the end.
// An empty result is printed only if nothing else was (2.1.329). Since 2.1.326 errors are repeated
// on a stderr that is a terminal, if stdout is not one.
func (s *claudeStream) printResult(e *claudeEvent, line []byte) {
	s.skipped = ""
	text, ok := s.resultText(e)
	if !ok {
		s.print(string(line))
		return
	}
	if s.call.StderrTTY && !s.call.StdoutTTY && atLeast(s.seen.Version, 2, 1, 326) && e.isError() && !strings.HasPrefix(e.TerminalReason, "aborted_") {
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

// resultText returns what text mode prints for a result. ok is false if the answer is not where it
// should be.
func (s *claudeStream) resultText(e *claudeEvent) (text string, ok bool) {
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

// printsEachTurn reports whether the version prints every turn's result, not just the last.
func printsEachTurn(version string) bool { return atLeast(version, 2, 1, 293) }

// atLeast reports whether a version is at least major.minor.patch. An unknown version counts as the
// newest.
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
	line = removeKey(bytes.TrimRight(line, "\r\n"), claudeStreamOnlyKey)
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
	// A run that was cut short prints nothing in these formats. One that ended well has printed
	// something that cannot be rendered here.
	if s.array != nil {
		s.seen.Unshown = append(s.array, "]\n"...)
	}
	s.seen.Unshown = append(s.seen.Unshown, s.hidden...)
	return nil
}

// showLast renders what the caller's format shows at the end, and the lines that came after it.
func (s *claudeStream) showLast() {
	switch {
	case s.last != nil:
		s.out = append(s.appendJSON(s.out, removeKey(bytes.TrimRight(s.last, "\r\n"), claudeStreamOnlyKey)), '\n')
	case s.array != nil:
		s.out = append(append(s.out, s.array...), "]\n"...)
	case s.skipped != "" && (s.printed == 0 || strings.TrimSpace(s.skipped) != ""):
		s.print(s.skipped)
	}
	s.out = append(s.out, s.afterResult...)
	s.last, s.array, s.skipped, s.afterResult = nil, nil, "", nil
}

// Parts of stream-json that json lacks (LIVE 2.1.329): a key of results, and an entry in init's
// list of capabilities.
const (
	claudeStreamOnlyKey        = "model_usage_since_last_result"
	claudeStreamOnlyCapability = `"lifecycle_wakeup_source_v1",`
)

// appendJSON appends a line of stream-json as json prints it. Since 2.1.311 both escape U+2028 and
// U+2029; before, json did not (LIVE 2.1.310 and 2.1.311; recordings/claude/multi-json).
func (s *claudeStream) appendJSON(dst, line []byte) []byte {
	if atLeast(s.seen.Version, 2, 1, 311) {
		return append(dst, line...)
	}
	return appendRawSeparators(dst, line)
}

// appendRawSeparators appends a line of JSON with the escapes of U+2028 and U+2029 undone.
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
		default: // the next byte does not begin an escape
			one := min(len(escaped), 1)
			dst = append(append(dst, '\\'), escaped[:one]...)
			line = escaped[one:]
		}
	}
}
