package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
)

// stream reads claude's output in the caller's format: stream-json as it comes, and for text and
// json also the session's file (session_file.go). It changes only the figures of a resumed call,
// which claude counts over the whole session, and the names of start hooks.
type stream struct {
	base.Stream
	answered bool            // a result says that the model has written something
	running  bool            // the first result has figures of the whole session
	left     map[string]bool // calls of tools that run in the background
	told     rewrite.Usage   // of the run's main conversation, by the result

	held []byte // json of a resumed call: the result and all after it
	file
}

func (claude) Stream(c rewrite.CommandLine, p rewrite.Plan,
	previous rewrite.Totals) rewrite.Stream {
	s := &stream{left: map[string]bool{}, Stream: base.NewStream(c, p, previous)}
	s.AtEnd = c.Format != rewrite.StreamJSON
	s.Holds = s.AtEnd && c.Format != rewrite.Text
	return s
}

// marks are words; every line worth parsing contains at least one. The order of keys
// changes between versions, so they are searched for anywhere in the line.
var marks = jsonline.NewMarks("result", "assistant", "init", "compact_boundary", "stream_event")

func (s *stream) Line(line []byte) []byte {
	switch {
	case s.Call.Format == rewrite.StreamJSON:
		s.endTasks(line)
		e := s.read(line)
		s.learn(e)
		if e.Type == "result" {
			return s.ownFigures(line)
		}
		return s.hookLine(line)
	case s.Call.Format == rewrite.Text:
		s.Text.Keep(line)
		s.settle()
		return line
	}
	return s.jsonLine(line)
}

// hookLine returns an event of a start hook as it is in a new session: the hook's name ends in the
// kind of start (2.1.332).
func (s *stream) hookLine(line []byte) []byte {
	name := []byte(`"hook_name":"SessionStart:`)
	head, tail, found := bytes.Cut(line, name)
	if s.Plan.Resume == "" || !found || !bytes.HasPrefix(line, []byte(`{"type":"system",`)) {
		return line
	}
	kind, rest, _ := bytes.Cut(tail, []byte(`"`))
	if string(kind) != "fork" && string(kind) != "resume" {
		return line
	}
	return slices.Concat(head, name, []byte(`startup"`), rest)
}

// jsonLine reads a line of json. It holds the result of a resumed call until the session's file has
// shown which version counts.
func (s *stream) jsonLine(line []byte) []byte {
	if s.held != nil {
		s.held = append(s.held, line...)
		return nil
	}
	from, to := jsonResult(line)
	e := s.read(line[from:to])
	s.learn(e)
	switch {
	case e.Type != "result":
	case s.Plan.Resume == "":
		s.ownFigures(line[from:to])
	default:
		s.held = bytes.Clone(line)
		return nil
	}
	return line
}

// End returns the result of a resumed call with this call's figures. A result's own usage shows
// that the model has answered where neither an event nor the session's file does.
func (s *stream) End() []byte {
	s.State.Content = s.State.Content || s.answered && !s.State.WrongID
	var shown []byte
	for line := range bytes.Lines(s.held) {
		if from, to := jsonResult(line); s.read(line[from:to]).Type == "result" {
			line = slices.Concat(line[:from], s.ownFigures(line[from:to]), line[to:])
		}
		shown = append(shown, line...)
	}
	return shown
}

// jsonResult returns where the result is in json's output. With --verbose, or that setting, claude
// prints an array of all events, the result last. A line that is cut short has none.
func jsonResult(line []byte) (from, to int) {
	if !bytes.HasPrefix(line, []byte("[")) {
		return 0, len(line)
	}
	var events []json.RawMessage
	if json.Unmarshal(line, &events) != nil || len(events) == 0 {
		return 0, 0
	}
	last := events[len(events)-1]
	from = bytes.LastIndex(line, last)
	return from, from + len(last)
}

// user begins most lines of the longest streams: tool results. They contain nothing to learn,
// and an object has each key once, so no other type can follow.
var user = []byte(`{"type":"user",`)

// noEvent stands for a line without anything to learn.
var noEvent = &base.ClaudeEvent{}

func (s *stream) read(line []byte) *base.ClaudeEvent {
	if bytes.HasPrefix(line, user) || !marks.In(line) {
		return noEvent
	}
	e := &base.ClaudeEvent{}
	_, e.Whole = jsonline.ReadEvent(line, e)
	s.State.Malformed = s.State.Malformed || !e.Whole && e.Matters() && line[0] == '{'
	return e
}

// learn records the facts of an event for the ledger and the gate. Only init, messages of the main
// conversation and the result are read for the session ID: a hook's events can carry another one
// (2.1.139 with a SessionStart hook). An event of unexpected shape names none.
func (s *stream) learn(e *base.ClaudeEvent) {
	switch e.Type {
	case "system":
		if e.Subtype == "compact_boundary" {
			s.State.Compacted = true
		}
		if e.Subtype == "init" {
			s.LearnID(e.SessionID, "stdout", e.Whole)
			s.State.Version, s.State.Model = e.Version, e.Model
		}
	case "stream_event":
		s.LearnID(e.SessionID, "stdout", e.Whole)
		s.State.Content = !s.State.WrongID
		if u := e.Event.Message.Usage; u != nil && e.Parent == "" && e.Whole {
			s.LearnFirst(u.Usage())
		}
	case "assistant":
		if e.Parent == "" {
			s.learnMessage(e)
		}
	case "result":
		s.learnResult(e)
	}
}

func (s *stream) learnMessage(e *base.ClaudeEvent) {
	s.LearnID(e.SessionID, "stdout", e.Whole)
	// claude shows an error as a message of a model with this name.
	s.State.Synthetic = e.Message.Model == "<synthetic>"
	s.State.Message = e.UUID
	if s.State.Synthetic {
		return
	}
	s.State.Content = !s.State.WrongID
	for _, part := range e.Message.Content {
		switch part.Type {
		case "tool_use":
			s.State.AddTool(part.Input)
			s.beginTask(part.ID, part.Input)
		case "text":
			s.State.AddText(part.Text)
		}
	}
	if u := e.Message.Usage; u != nil && e.Whole {
		s.State.ContextUse.Used = u.Input + u.CacheRead + u.CacheWrite + u.Output
		s.LearnFirst(u.Usage())
		// a message has an entry or event for each part
		if e.Message.ID != s.message {
			s.message, s.earlier = e.Message.ID, s.earlier.Plus(s.usage)
		}
		s.usage = u.Usage()
	}
}

// beginTask notes a call of a tool that runs in the background. claude ends such calls with itself,
// and tells the model of it at the beginning of a resume (2.1.332).
func (s *stream) beginTask(id string, input json.RawMessage) {
	var asked struct {
		Background bool `json:"run_in_background"`
	}
	if json.Unmarshal(input, &asked) == nil && asked.Background {
		s.left[id], s.State.Background = true, true
	}
}

// endTasks looks for the end of such a call in an event or a session's entry.
func (s *stream) endTasks(line []byte) {
	if len(s.left) == 0 || !bytes.Contains(line, taskNotification) &&
		!bytes.Contains(line, taskEvent) {
		return
	}
	maps.DeleteFunc(s.left, func(id string, _ bool) bool {
		return bytes.Contains(line, []byte(id))
	})
	s.State.Background = len(s.left) > 0
}

// taskNotification is in the session's entry that tells the model of a task's end, taskEvent in
// stream-json's event.
var taskNotification, taskEvent = []byte("<task-notification>"),
	[]byte(`"subtype":"task_notification"`)

func (s *stream) learnResult(e *base.ClaudeEvent) {
	s.LearnResult(e)
	s.State.Final = e.StartupFailure == ""
	s.State.TurnLimit = e.Subtype == "error_max_turns" && !s.State.Malformed
	if e.Usage != nil {
		s.told, s.answered = e.Usage.Usage(), s.answered || e.Usage.Output > 0
	}
	s.State.Refusal, s.State.Outside = refusal(e), outside(e)
	if s.State.Refusal == reason.RefusedUnknown {
		s.State.Final = false
		return // the session_id is the missing session's, or invented
	}
	// likewise if nothing came before it: no session began
	s.LearnID(e.SessionID, "stdout", e.Whole && (!s.State.Failed || s.State.TurnLimit))
}

// refusal returns why a result makes the session unfit to resume, or "". Limits, logins and
// network errors do not concern the session.
func refusal(e *base.ClaudeEvent) reason.Code {
	for _, text := range e.Errors {
		if r := refusals.In(string(text)); r != "" {
			return r
		}
	}
	text := e.Result
	switch {
	case !e.Fails():
		return ""
	case e.TerminalReason == "prompt_too_long" || strings.HasPrefix(text, "Prompt is too long"):
		return reason.RefusedContext
	case e.APIStatus == 400 || e.TerminalReason == "image_error" ||
		strings.HasPrefix(text, "API Error: 400"):
		return reason.RefusedBroken
	}
	return ""
}

// outside returns why a run failed if that says nothing against the session.
func outside(e *base.ClaudeEvent) reason.Code {
	if !e.Fails() || !e.Whole {
		return ""
	}
	return cmp.Or(base.FailureByStatus(e.APIStatus), failures.Begins(e.Result))
}

// ownFigures returns the result line with this call's share of the cumulative figures: since
// 2.1.277 claude reports cost, usage by model and API time for the whole session. A
// later version can report them by call again, which the first result shows. It also records usage,
// cost and context window.
func (s *stream) ownFigures(line []byte) []byte {
	if s.State.Refusal == reason.RefusedUnknown {
		return line
	}
	numbers := jsonline.Numbers(line)
	s.State.Totals = base.EncodeTotals(numbers, runsOn)
	// json names no version, and the session's file can be unreadable
	version := cmp.Or(s.State.Version, base.Own[details](s.Call).version)
	s.State.OwnFigures = !base.AtLeast(version, 2, 1, 277) || tellsOwnFigures(numbers)
	if s.State.Results == 1 {
		known := tellsOwnFigures(numbers) || version != "" && base.AtLeast(version, 2, 1, 277)
		s.running = s.Plan.Resume != "" && known && s.countsOn(numbers)
		if s.Plan.Copy {
			s.Before = carried(numbers, s.Before)
		}
	}
	if s.running {
		// the time is 0 if a hook has blocked the prompt (2.1.332)
		totals := slices.DeleteFunc(slices.Clone(numbers), func(n jsonline.Numeral) bool {
			return n.Path == apiTime && n.Text == "0"
		})
		line = base.SubtractTotals(line, totals, s.Before, nil)
		numbers = jsonline.Numbers(line)
	}
	s.learnUsage(line, numbers)
	s.totals = true
	if s.running {
		line = base.WithoutUnused(line, numbers, s.Before, "modelUsage")
	}
	return line
}

// countsOn reports whether figures can be running totals: they are more than the result says of its
// own part, or have room for the figures of the session's earlier runs besides the run's own.
func (s *stream) countsOn(numbers []jsonline.Numeral) bool {
	all, own := tokens(numbers, "modelUsage"), s.told
	if tellsOwnFigures(numbers) {
		return all != tokens(numbers, streamOnlyKey)
	}
	if !own.Known {
		own = s.earlier.Plus(s.usage)
	}
	if s.Before == nil {
		return true // nothing can be subtracted
	}
	earlier := tokens(jsonline.Numbers([]byte(s.Previous)), "modelUsage")
	holds := func(part rewrite.Usage) bool {
		more := all.Since(part)
		return min(more.Input, more.CacheRead, more.CacheWrite, more.Output) >= 0
	}
	return !holds(own) || holds(own.Plus(earlier))
}

// tokens adds up the tokens of all models below a key of a result.
func tokens(numbers []jsonline.Numeral, key string) (u rewrite.Usage) {
	for _, n := range numbers {
		value, err := jsonline.Nano(n.Text)
		path, ok := strings.CutPrefix(n.Path, key+"\t")
		if err != nil || !ok {
			continue
		}
		count := value / 1e9
		switch _, name, _ := strings.Cut(path, "\t"); name {
		case "inputTokens":
			u.Input += count
			u.Known = true
		case "cacheReadInputTokens":
			u.CacheRead += count
		case "cacheCreationInputTokens":
			u.CacheWrite += count
		case "outputTokens":
			u.Output += count
		}
	}
	return u
}

// tellsOwnFigures reports whether a result has figures of its own part.
func tellsOwnFigures(numbers []jsonline.Numeral) bool {
	return slices.ContainsFunc(numbers, func(n jsonline.Numeral) bool {
		return strings.HasPrefix(n.Path, streamOnlyKey+"\t")
	})
}

// runsOn reports whether the number at path is a running total of the session.
func runsOn(path string) bool {
	if path == "total_cost_usd" || path == apiTime {
		return true
	}
	return strings.HasPrefix(path, "modelUsage\t") && !strings.HasSuffix(path, "\tcontextWindow") &&
		!strings.HasSuffix(path, "\tmaxOutputTokens")
}

// carried returns the totals that a copied session started with: all totals of the first
// result minus that result's own figures (2.1.329; older versions do not report those). They exceed
// the known totals if the original session ended a run in between: a copy inherits the latest cost,
// wherever it is cut.
func carried(numbers []jsonline.Numeral, known base.Figures) base.Figures {
	at := map[string]int64{}
	for _, n := range numbers {
		if value, err := jsonline.Nano(n.Text); err == nil {
			at[n.Path] = value
		}
	}
	if known == nil {
		return nil
	}
	carried := maps.Clone(known)
	cost, told := at["total_cost_usd"], false
	for path, own := range at {
		path = "modelUsage" + strings.TrimPrefix(path, streamOnlyKey)
		total, ok := at[path]
		if !ok || !runsOn(path) {
			continue
		}
		carried[path] = json.Number(jsonline.FormatNano(max(0, total-own)))
		if strings.HasSuffix(path, "\tcostUSD") {
			cost, told = cost-own, true
		}
	}
	if told {
		carried["total_cost_usd"] = json.Number(jsonline.FormatNano(max(0, cost)))
	}
	return carried
}

// learnUsage adds up the usage by model. It includes subagents, which the plain usage does not. A
// cost that contains a guess is not recorded: of a model that claude does not know, such as a
// gateway's, it has no price (2.1.329: "costBasis": "unknown"), and reports a cost at another
// model's. Not even a known part is recorded, so that dearer, stats and log do not count it.
// shimctl prices the tokens by the model that claude named first.
func (s *stream) learnUsage(line []byte, numbers []jsonline.Numeral) {
	var result struct {
		ModelUsage map[string]struct{ CostBasis string }
	}
	_ = json.Unmarshal(line, &result) // of another shape it names no guess
	u, guessed := &s.State.Usage, false
	*u = tokens(numbers, "modelUsage")
	for _, n := range numbers {
		value, err := jsonline.Nano(n.Text)
		path, below := strings.CutPrefix(n.Path, "modelUsage\t")
		model, name, _ := strings.Cut(path, "\t")
		switch {
		case err != nil:
		case n.Path == "total_cost_usd":
			u.CostNano, u.CostKnown = value, true
		case below && name == "contextWindow":
			s.State.ContextUse.Limit = max(s.State.ContextUse.Limit, value/1e9)
		case below && value > 0 && runsOn(n.Path):
			// this run used it, not only an earlier one
			guessed = guessed || result.ModelUsage[model].CostBasis == "unknown"
		}
	}
	if guessed {
		u.CostNano, u.CostKnown = 0, false
	}
}

const apiTime = "duration_api_ms"

// streamOnlyKey is a key of stream-json's results: the figures since the result before (2.1.329).
const streamOnlyKey = "model_usage_since_last_result"
