package base

import (
	"bytes"
	"encoding/json"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/tool/grammar"
)

// A Stream is the common part of the streams. A stream overrides the methods that differ: here
// stderr and files say nothing, and rendered formats need the whole output.
type Stream struct {
	Call     rewrite.CommandLine
	Plan     rewrite.Plan
	Previous rewrite.Totals // the session's before the run
	Before   Figures        // their numbers, nil if there are none
	State    rewrite.StreamState
	Stderr   string // to be shown there
	Text     Text   // the caller's view, for streams that show text as it comes

	Valid func(id string) bool // the tool's ValidID

	Max   int  // the result of MaxLine
	AtEnd bool // the result of PrintsAtEnd
	Holds bool // the result of HoldsOutput
}

// NewStream returns the common part of a stream. Text is shown unchanged: if a long line of it
// waited here, the tool would not notice that the reader is gone.
func NewStream(c rewrite.CommandLine, p rewrite.Plan, previous rewrite.Totals) Stream {
	s := Stream{Call: c, Plan: p, Previous: previous, Valid: IsUUID}
	if json.Unmarshal([]byte(previous), &s.Before) != nil {
		s.Before = nil
	}
	switch c.Format {
	case rewrite.StreamJSON:
		s.Max = rewrite.LongestLine
	case rewrite.Text:
		s.Max = rewrite.NoLines
	}
	return s
}

func (s *Stream) Seen() *rewrite.StreamState { return &s.State }

// LearnID pins the first valid ID if it is sure, or records that the tool left the requested
// session or works in the session that it should have copied. In a fresh run an ID of another form
// is not understood, which is no failure.
func (s *Stream) LearnID(id, source string, sure bool) {
	if id == "" || s.Plan.Resume == "" && !s.Valid(id) {
		return
	}
	if s.Plan.Resume != "" && (id == s.Plan.Resume) == s.Plan.Copy ||
		s.Plan.NewID != "" && id != s.Plan.NewID {
		s.State.WrongID = true
	}
	if s.State.ID == "" && sure && s.Valid(id) {
		s.State.ID, s.State.Source = id, source
	}
}

func (s *Stream) TakeStderr() string {
	taken := s.Stderr
	s.Stderr = ""
	return taken
}

func (s *Stream) ErrLine(line []byte) []byte { return line }

// ErrAsIs returns false: most tools with a stderr that is read write whole lines to it.
func (s *Stream) ErrAsIs([]byte) bool { return false }

func (s *Stream) File(string, []byte) {}

// End takes the text that a stream has kept for the answer: the caller has just that. A run with an
// output too long to keep cannot be resumed.
func (s *Stream) End() []byte {
	if s.Call.Format == rewrite.Text {
		s.State.Answer = strings.TrimSuffix(s.Text.String(), "\n")
		s.State.Failed = s.State.Failed || s.Text.TooLong
	}
	return nil
}

func (s *Stream) MaxLine() int { return s.Max }

func (s *Stream) PrintsAtEnd() bool { return s.AtEnd }

func (s *Stream) HoldsOutput() bool { return s.Holds }

// AddUsage adds a request's usage to the run's.
func (s *Stream) AddUsage(u rewrite.Usage) {
	u.Known = true
	s.LearnFirst(u)
	s.State.Usage = s.State.Usage.Plus(u)
}

// LearnFirst records the usage of the run's first request.
func (s *Stream) LearnFirst(u rewrite.Usage) {
	if !s.State.First.Known {
		s.State.First = u
	}
}

// A Text is output that is kept for the answer. None of it is kept if it is too long.
type Text struct {
	strings.Builder
	TooLong bool
}

// Keep adds a piece.
func (t *Text) Keep(piece []byte) {
	if t.TooLong = t.TooLong || t.Len()+len(piece) > rewrite.LongestLine; t.TooLong {
		t.Reset()
		return
	}
	t.Write(piece)
}

// A ClaudeEvent holds the fields that are read of all types of claude's events. qwen has the same.
type ClaudeEvent struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	SessionID string `json:"session_id"`
	Version   string `json:"claude_code_version"`
	Model     string `json:"model"`
	Parent    string `json:"parent_tool_use_id"`
	UUID      string `json:"uuid"`
	Event     struct {
		Message struct {
			Usage *ClaudeUsage `json:"usage"` // of a message that begins
		} `json:"message"`
	} `json:"event"`

	Message struct {
		ID      string `json:"id"`
		Model   string `json:"model"`
		Content []struct {
			Type  string          `json:"type"`
			ID    string          `json:"id"` // of a call of a tool
			Name  string          `json:"name"`
			Text  string          `json:"text"`
			Input json.RawMessage `json:"input"`
		} `json:"content"`
		Usage *ClaudeUsage `json:"usage"`
	} `json:"message"`

	Usage          *ClaudeUsage         `json:"usage"` // of a result
	IsError        *bool                `json:"is_error"`
	Result         string               `json:"result"`
	Errors         []jsonline.LooseText `json:"errors"`
	TerminalReason string               `json:"terminal_reason"`
	APIStatus      int                  `json:"api_error_status"`
	StartupFailure string               `json:"startup_failure_reason"`

	Whole bool `json:"-"` // every field above had the expected type
}

// Fails reports whether a result is marked as an error.
func (e *ClaudeEvent) Fails() bool { return e.IsError != nil && *e.IsError }

// LearnResult records a result. It is malformed if it does not say whether it is an error.
func (s *Stream) LearnResult(e *ClaudeEvent) {
	s.State.Results++
	s.State.Final, s.State.Answer = true, e.Result
	s.State.Malformed = s.State.Malformed || e.IsError == nil ||
		e.Subtype != "success" && !strings.HasPrefix(e.Subtype, "error")
	s.State.Failed = e.Fails() || e.Subtype != "success" || s.State.Malformed
}

// ClaudeUsage is a request's usage as claude, qwen and droid report it.
type ClaudeUsage struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

// Usage returns it as the ledger has it.
func (u *ClaudeUsage) Usage() rewrite.Usage {
	return rewrite.Usage{Known: true, Input: u.Input, CacheRead: u.CacheRead,
		CacheWrite: u.CacheWrite, Output: u.Output}
}

// Matters reports whether anything is learned from such an event, or might be.
func (e *ClaudeEvent) Matters() bool {
	switch e.Type {
	case "system":
		return e.Subtype == "" || e.Subtype == "init" || e.Subtype == "compact_boundary"
	case "", "stream_event", "assistant", "result":
		return true
	}
	return false
}

// escape matches the escape sequences that color a transcript.
var escape = grammar.Compiled("\x1b\\[[0-9;]*m")

// StripEscapes removes the colors of a text.
func StripEscapes(text string) string {
	return escape().ReplaceAllString(text, "")
}

// Figures are numbers by their paths in an event.
type Figures map[string]json.Number

// EncodeTotals encodes the numbers at wanted paths.
func EncodeTotals(numbers []jsonline.Numeral, wanted func(path string) bool) rewrite.Totals {
	totals := Figures{}
	for _, n := range numbers {
		if wanted(n.Path) {
			totals[n.Path] = json.Number(n.Text)
		}
	}
	if len(totals) == 0 {
		return ""
	}
	text, _ := json.Marshal(totals) // numbers of JSON can always be written
	return rewrite.Totals(text)
}

// SubtractTotals replaces the cumulative numbers in a line by their increase since before. Every
// other byte stays. If one of them has increased by less than the run's own part, as far as that is
// known, they are not cumulative and the line is returned unchanged.
func SubtractTotals(line []byte, numbers []jsonline.Numeral, before Figures,
	own map[string]int64) []byte {
	var out []byte
	at := 0
	for _, n := range numbers {
		was, ok := before[n.Path]
		if !ok {
			continue
		}
		now, errNow := jsonline.Nano(n.Text)
		then, errThen := jsonline.Nano(was.String())
		if errNow != nil || errThen != nil || now-then < own[n.Path]*1e9 {
			return line
		}
		out = append(out, line[at:n.Start]...)
		out = append(out, jsonline.FormatNano(now-then)...)
		at = n.End
	}
	return append(out, line[at:]...)
}

// WithoutUnused returns a line without the models that only the session's earlier runs have used: a
// call of its own lists none that did not answer. Path leads to the models.
func WithoutUnused(line []byte, numbers []jsonline.Numeral, before Figures, path string) []byte {
	used := map[string]bool{}
	for _, n := range numbers {
		model, _, _ := strings.Cut(strings.TrimPrefix(n.Path, path+"\t"), "\t")
		if _, had := before[n.Path]; had && strings.HasPrefix(n.Path, path+"\t") {
			value, err := jsonline.Nano(n.Text)
			used[model] = used[model] || value != 0 || err != nil
		}
	}
	all, key := string(line), ""
	for _, key = range strings.Split(path, "\t") {
		all = jsonline.Member(all, key)
	}
	own := all
	for model, is := range used {
		if !is {
			own = jsonline.RemoveKey(own, model)
		}
	}
	key = `"` + key + `":`
	return bytes.Replace(line, []byte(key+all), []byte(key+own), 1)
}
