package rewrite

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"reprise/rewrite/reason"
)

// claudeStream reads claude's output in the caller's format: stream-json as it comes, and for text and
// json also the session's file (claude_file.go). It changes only the figures of a resumed call, which
// claude counts over the whole session.
type claudeStream struct {
	shownText // of text alone
	previous  Totals
	results   int
	malformed bool // an event had an unexpected shape

	held   []byte // json of a resumed call: the result and what came after it
	result int    // length of the result in held
	claudeFile
}

func (claude) Stream(c Call, p Plan, previous Totals) Stream {
	return &claudeStream{shownText: shownText{streamBase: streamBase{call: c, plan: p}}, previous: previous}
}

func (s *claudeStream) PrintsAtEnd() bool { return s.call.Format != StreamJSON }

func (s *claudeStream) HoldsOutput() bool {
	return s.call.Format == JSON || s.call.Format == JSONVerbose
}

// MaxLine implements Stream.
func (s *claudeStream) MaxLine() int {
	if s.call.Format == Text {
		return s.shownText.MaxLine()
	}
	return s.streamBase.MaxLine()
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
		ID      string `json:"id"`
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
	switch {
	case s.call.Format == StreamJSON:
		e := s.read(line)
		s.learn(e)
		if e.Type == "result" {
			return s.ownFigures(line)
		}
		return line
	case s.call.Format == Text:
		s.keep(line)
		s.settle()
		return line
	}
	return s.jsonLine(line)
}

// jsonLine reads a line of json. It holds the result of a resumed call until the session's file has
// shown which version counts.
func (s *claudeStream) jsonLine(line []byte) []byte {
	if s.held != nil {
		s.held = append(s.held, line...)
		return nil
	}
	at := jsonResult(line)
	e := s.read(line[at.from:at.to])
	s.learn(e)
	switch {
	case e.Type != "result":
	case s.plan.Resume == "":
		s.ownFigures(line[at.from:at.to])
	default:
		s.held, s.result = bytes.Clone(line), len(line)
		return nil
	}
	return line
}

// End returns the result of a resumed call with this call's figures.
func (s *claudeStream) End() []byte {
	if s.held == nil {
		return nil
	}
	at := jsonResult(s.held[:s.result])
	shown := slices.Concat(s.held[:at.from], s.ownFigures(s.held[at.from:at.to]), s.held[at.to:])
	s.held = nil
	return shown
}

// jsonResult returns where the result is in json's output. With --verbose, or that setting, claude
// prints an array of all events, the result last. A line that is cut short has none.
func jsonResult(line []byte) lineSpan {
	last := lineSpan{0, len(line)}
	if !bytes.HasPrefix(line, []byte("[")) {
		return last
	}
	d := json.NewDecoder(bytes.NewReader(line))
	_, _ = d.Token() // the bracket
	for d.More() {
		var event json.RawMessage
		if d.Decode(&event) != nil {
			return lineSpan{}
		}
		end := int(d.InputOffset())
		last = lineSpan{end - len(event), end}
	}
	return last
}

// A lineSpan is a part of a line.
type lineSpan struct{ from, to int }

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
	if s.seen.Refusal == reason.RefusedUnknown {
		s.seen.Final = false
		return // its session_id is the missing session's, or invented (CLI-FACTS 1.3)
	}
	s.learnID(e, !s.seen.Failed || s.seen.TurnLimit) // likewise if nothing came before it: no session began
}

// claudeRefusal returns why a result makes the session unfit to resume, or "". Limits, logins and
// network errors do not concern the session.
func claudeRefusal(e *claudeEvent) reason.Code {
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
		return reason.RefusedContext
	case e.APIStatus == 400 || e.TerminalReason == "image_error" || strings.HasPrefix(text, "API Error: 400"):
		return reason.RefusedBroken
	}
	return ""
}

// ownFigures returns the result line with this call's share of the cumulative figures: since
// 2.1.277 claude reports cost, usage by model and API time for the whole session (CLI-FACTS 1.6).
// It also records usage, cost and context window.
func (s *claudeStream) ownFigures(line []byte) []byte {
	if s.seen.Refusal == reason.RefusedUnknown {
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
	s.learnUsage(line, numbers)
	s.totals = true
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

// learnUsage adds up the usage by model. It includes subagents, which the plain usage does not. A
// cost that contains a guess is not recorded: of a model that claude does not know, such as a
// gateway's, it does not know the price either.
func (s *claudeStream) learnUsage(line []byte, numbers []jsonNumber) {
	u := &s.seen.Usage
	*u = Usage{}
	guessed, unknown := guessedCosts(line), false
	for _, n := range numbers {
		value, err := nano(n.text)
		if err != nil {
			continue
		}
		count := value / 1e9
		if n.path == "total_cost_usd" {
			u.CostNano, u.CostKnown = value, true
		}
		path, ok := strings.CutPrefix(n.path, "modelUsage\t")
		if !ok {
			continue
		}
		model, name, _ := strings.Cut(path, "\t")
		switch name {
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
		if value > 0 && claudeRunsOn(n.path) && slices.Contains(guessed, model) { // this run used it, not only an earlier one
			unknown = true
		}
	}
	if unknown {
		u.CostNano, u.CostKnown = 0, false
	}
}

// guessedCosts returns the models in a result whose price claude does not know (2.1.329: "costBasis":
// "unknown").
func guessedCosts(line []byte) (models []string) {
	var result struct {
		ModelUsage map[string]struct{ CostBasis string }
	}
	if json.Unmarshal(line, &result) != nil {
		return nil
	}
	for model, usage := range result.ModelUsage {
		if usage.CostBasis == "unknown" {
			models = append(models, model)
		}
	}
	return models
}

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

// claudeStreamOnlyKey is a key of stream-json's results: the figures since the result before (2.1.329).
const claudeStreamOnlyKey = "model_usage_since_last_result"
