package codex

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
	"reprise/rewrite/tool/grammar"
)

// stream reads codex's events or the transcript, and its rollout. Output is shown as it comes,
// except for three things that a resume changes: cumulative figures, the prompt in the transcript,
// and a line about stdin.
type stream struct {
	base.Stream

	notice string // to be shown on stderr; "" once shown

	progress progress
	echo     string // the part of the prompt that the transcript has yet to show
	inFail   bool   // within the lines of an error
	pending  []byte // held back from stderr until the replacement is known
	total    bool   // the transcript has ended
	exact    bool   // the totals are from the rollout
	figures  []byte // a line of figures that waits for the rollout
	behind   []byte // lines of the transcript behind it

	held    []rolloutLine // lines that came before the ID was known
	heldLen int
	turnID  string
	earlier rewrite.Usage // of the turns before turnID
	turn    rewrite.Usage // of turnID
}

// A progress is how far the transcript on stderr has come.
type progress int

const (
	beforeHeader progress = iota
	inHeader
	afterHeader
	inPrompt
	inTurn
	atTotal // the next line is the number of tokens
	lost    // the transcript has an unexpected shape: nothing more is read from it
)

func (codex) Stream(c rewrite.CommandLine, p rewrite.Plan, previous rewrite.Totals) rewrite.Stream {
	s := &stream{Stream: base.NewStream(c, p, previous)}
	if p.Resume != "" {
		s.notice = notice(&c)
	}
	return s
}

// End implements Stream. The files have been read by now.
func (s *stream) End() (last []byte) {
	s.Stderr += s.notice
	switch {
	case s.figures == nil:
	case s.Call.Format == rewrite.Text:
		s.pending = s.ownTotal(s.figures)
	default:
		last = s.ownFigures(s.figures)
	}
	s.Stderr += string(s.pending) + string(s.behind)
	s.notice, s.pending, s.figures, s.behind = "", nil, nil, nil
	return last
}

// waits keeps a resumed run's line of figures up to the end if the rollout comes late: without it,
// nobody knows whether they are the thread's or the run's.
func (s *stream) waits(line []byte) bool {
	if s.Plan.Resume == "" || s.turnID != "" {
		return false
	}
	s.figures = bytes.Clone(line)
	return true
}

// usage counts the way codex does: input includes tokens read from the cache and written to
// it.
type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
	Total      int64 `json:"total_tokens"`
}

func (u usage) usage() rewrite.Usage {
	return rewrite.Usage{Known: true, Input: max(0, u.Input-u.CacheRead-u.CacheWrite),
		CacheRead:  u.CacheRead,
		CacheWrite: u.CacheWrite, Output: u.Output}
}

// Keys of Totals: the numbers in turn.completed, and the sum at a transcript's end.
const (
	usageKey  = "usage\t"
	tokensKey = "tokens used"
)

// event holds the fields of all event types that are read.
type event struct {
	Type     string `json:"type"`
	ThreadID string `json:"thread_id"`
	Item     struct {
		Type string `json:"type"`
		Text string `json:"text"`
		// Changes are the changes of a file_change.
		Changes json.RawMessage `json:"changes"`
	} `json:"item"`
	Usage usage `json:"usage"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
}

func (s *stream) Line(line []byte) []byte {
	if s.Call.Format == rewrite.Text { // the final message and nothing else
		s.Text.Keep(line)
		s.State.Answer = strings.TrimSuffix(s.Text.String(), "\n")
		s.believe()
		return line
	}
	var e event
	_, whole := jsonline.ReadEvent(line, &e)
	switch {
	case e.Type == "thread.started":
		s.Stderr += s.notice // codex writes it before the first event
		s.notice = ""
		if whole { // otherwise it names no thread, so there is nothing to resume
			s.learnID(e.ThreadID, "stdout")
		}
	case strings.HasPrefix(e.Type, "item."):
		s.State.Malformed = s.State.Malformed || !whole
		s.learnItem(&e)
	case e.Type == "turn.failed":
		s.fail(e.Error.Message)
	case e.Type == "turn.completed":
		s.State.Final, s.State.Failed = true, s.State.Malformed
		if s.waits(line) {
			return nil
		}
		return s.ownFigures(line)
	}
	return line
}

// believe counts the final message once the header has named the session: the message can be read
// first, although codex wrote the header before, to stderr. A run with a message too long to keep
// cannot be resumed, as with such events in other formats.
func (s *stream) believe() {
	if (s.Text.Len() > 0 || s.Text.TooLong) && s.State.ID != "" {
		s.State.Content, s.State.Final, s.State.Failed = !s.State.WrongID, true,
			s.Text.TooLong
	}
}

// learnID pins the first valid ID, or records that codex left the requested session, as it does for
// an invalid one (recordings/codex/resume-garbage-json).
func (s *stream) learnID(id, source string) {
	if s.State.ID != "" {
		return
	}
	if s.LearnID(id, source, true); s.State.ID == "" {
		return
	}
	for _, h := range s.held {
		s.File(h.path, h.data)
	}
}

// learnItem reads an item. An item of type error is codex's own warning; everything but messages
// and plans is a tool at work.
func (s *stream) learnItem(e *event) {
	switch e.Item.Type {
	case "", "error":
		return
	case "agent_message":
		if e.Type == "item.completed" {
			s.State.Answer = e.Item.Text
			s.State.AddText(e.Item.Text)
		}
	case "reasoning", "todo_list":
	default:
		s.State.ToolRan, s.State.Shell = true, s.State.Shell || e.Item.Type == "command_execution"
		var changes []json.RawMessage
		_ = json.Unmarshal(e.Item.Changes, &changes) // changes of another shape are ignored
		for _, change := range changes {
			s.State.AddTool(change)
		}
	}
	s.State.Content = s.State.ID != "" && !s.State.WrongID
}

// fail records that the turn failed, and why if that concerns the session.
func (s *stream) fail(message string) {
	s.State.Final, s.State.Failed = true, true
	s.State.Refusal = cmp.Or(turnRefusals.In(message), s.State.Refusal)
	s.State.Outside = cmp.Or(s.State.Outside, failures.Begins(message))
}

// turnRefusals are a full context, and the model API's messages about a history that it rejects
// after a change of account or an interrupted call.
var turnRefusals = base.Causes{
	{"ran out of room in the model's context window", reason.RefusedContext},
	{"ran out of room in the model\u2019s context window", reason.RefusedContext},
	{"encrypted content", reason.RefusedBroken},
	{"encrypted_content", reason.RefusedBroken},
	{"No tool output found for function call", reason.RefusedBroken},
}

// failures are how codex begins a message about a request that failed, after its own retries
// (recordings/codex/http*).
var failures = base.WithStatus("unexpected status %d ",
	base.WithStatus("exceeded retry limit, last status: %d "), base.Causes{
		{"We\u2019re currently experiencing high demand", reason.ServiceFailed}})

// ownFigures returns turn.completed with this call's share of the usage, which is cumulative over
// the thread (recordings/codex/chain-2). It restarts only after a turn that overflowed, and such a
// thread is not resumed.
func (s *stream) ownFigures(line []byte) []byte {
	numbers := jsonline.Numbers(line)
	s.State.Totals = base.EncodeTotals(numbers, func(path string) bool {
		return strings.HasPrefix(path, usageKey)
	})
	own := line
	if s.Plan.Resume != "" {
		own = base.SubtractTotals(line, numbers, s.Before,
			map[string]int64{usageKey + "input_tokens": s.used().Prompt()})
	}
	runsOn := s.Plan.Resume != "" && bytes.Equal(own, line) || s.Call.Mode == rewrite.Observe
	var e event
	if s.turnID == "" && !runsOn && json.Unmarshal(own, &e) == nil {
		s.State.Usage = e.Usage.usage()
	}
	return own
}

// used returns the run's usage as far as the rollout has told.
func (s *stream) used() rewrite.Usage { return s.earlier.Plus(s.turn) }

func (s *stream) ErrLine(line []byte) []byte {
	if s.Call.Format == rewrite.Text {
		line = s.transcript(line)
	}
	// Notes on codex's own installation come before everything else.
	if s.notice == "" || bytes.HasPrefix(line, []byte("WARNING: ")) {
		return line
	}
	line = append([]byte(s.notice), line...)
	s.notice = ""
	return line
}

const rule = "--------"

// transcript follows the transcript and returns the caller's view of a line.
func (s *stream) transcript(line []byte) []byte {
	plain := base.StripEscapes(strings.TrimRight(string(line), "\r\n"))
	switch s.progress {
	case beforeHeader:
		if plain == rule {
			s.progress = inHeader
		}
	case inHeader:
		s.learnHeader(plain)
	case afterHeader:
		if plain == "user" {
			s.progress, s.echo = inPrompt, s.Plan.Prompt+"\n"
		}
	case inPrompt:
		return s.promptLine(line)
	case inTurn:
		if s.figures != nil {
			s.behind = append(s.behind, line...)
			return nil
		}
		s.learnTurn(plain)
		if s.progress == atTotal {
			s.pending = bytes.Clone(line)
			return nil
		}
	case atTotal:
		s.progress, s.total = inTurn, true
		if s.waits(line) {
			return nil
		}
		return s.ownTotal(line)
	}
	return line
}

// learnHeader reads the header: everything between two rules. Anything similar later is ordinary
// text.
func (s *stream) learnHeader(plain string) {
	if plain == rule {
		s.progress = afterHeader
		s.believe()
		return
	}
	switch key, value, _ := strings.Cut(plain, ": "); key {
	case "session id":
		s.learnID(value, "stderr")
	case "model":
		s.State.Model = value
	}
}

// promptLine passes over the prompt, which can contain anything. If the model was sent a delta, the
// caller sees its own prompt.
func (s *stream) promptLine(line []byte) []byte {
	rest, ok := strings.CutPrefix(s.echo, string(line))
	s.echo = rest
	s.pending = append(s.pending, line...)
	switch {
	case !ok:
		s.progress = lost
	case rest == "":
		s.progress = inTurn
	}
	if s.progress == inPrompt && s.Plan.Asked != "" {
		return nil
	}
	shown := s.pending
	s.pending = nil
	if s.progress == inTurn && s.Plan.Asked != "" {
		return []byte(s.Plan.Asked + "\n")
	}
	return shown
}

// aside matches a line that codex writes on its own before the model's first output: a
// warning, a hook's name, a log line.
var aside = grammar.Compiled(
	`^(warning: |deprecated: |hook: |WARNING: |\d{4}-\d\d-\d\dT\S+ +(ERROR|WARN|INFO) |turn interrupted$|$)`)

// learnTurn reads a line after the prompt. Anything not codex's own is the model's output, or the
// work.
func (s *stream) learnTurn(plain string) {
	message, isError := strings.CutPrefix(plain, "ERROR: ")
	heading := plain == "codex" || plain == "exec" || plain == "thinking"
	switch {
	case plain == "tokens used":
		s.progress, s.inFail, s.State.Final = atTotal, false, true
	case s.total: // with 2>&1, the final message
	case isError:
		s.inFail = true
		s.fail(message)
	case s.inFail && !heading:
		s.fail(plain)
	case !aside().MatchString(plain):
		s.inFail, s.State.Failed = false, false
		s.State.Content = s.State.ID != "" && !s.State.WrongID
		s.State.ToolRan = s.State.ToolRan || plain == "exec"
		s.State.Shell = s.State.ToolRan
	}
}

// ownTotal returns the transcript's last line, behind the heading, with this call's share of the
// tokens, which are cumulative over the thread (recordings/codex/resume-ok-text). It returns nil
// for an interrupted call that used none: without the shim it would have neither.
func (s *stream) ownTotal(line []byte) []byte {
	heading := s.pending
	s.pending = nil
	plain := base.StripEscapes(strings.TrimRight(string(line), "\r\n"))
	total, err := strconv.Atoi(strings.ReplaceAll(plain, ",", ""))
	if err != nil {
		return append(heading, line...)
	}
	if !s.exact {
		s.State.Totals = rewrite.Totals(`{"` + tokensKey + `":` + strconv.Itoa(total) + "}")
	}
	before, known := tokensUsed(s.Before)
	own := s.used()
	switch {
	case s.Plan.Resume == "" || !known ||
		int64(total-before) < own.Prompt()-own.CacheRead+own.Output:
		return append(heading, line...)
	case total == before:
		return nil
	}
	return append(heading, bytes.ReplaceAll(line, []byte(plain),
		[]byte(withThousands(total-before)))...)
}

// tokensUsed returns the sum at a transcript's end that the totals contain.
func tokensUsed(totals base.Figures) (tokens int, known bool) {
	count := func(key string) int { n, _ := strconv.Atoi(totals[key].String()); return n }
	if totals[tokensKey] != "" {
		return count(tokensKey), true
	}
	return count(usageKey+"input_tokens") - count(usageKey+"cached_input_tokens") +
		count(usageKey+"output_tokens"), totals != nil
}

func withThousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
