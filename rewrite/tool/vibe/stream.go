package vibe

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
)

// stream reads vibe's output in the caller's format. It changes only the output of a resumed run:
// json, which contains the whole session, is cut to this call's turn; json and streaming show the
// caller's prompt in place of the delta.
type stream struct {
	base.Stream
	output     []byte // all of stdout; not kept for streaming
	checkpoint string // the newest that was read
}

func (vibe) Stream(c rewrite.CommandLine, p rewrite.Plan, previous rewrite.Totals) rewrite.Stream {
	s := &stream{Stream: base.NewStream(c, p, previous)}
	if s.AtEnd = c.Format != rewrite.StreamJSON; s.AtEnd {
		s.Max = rewrite.NoLines // json too is shown unchanged, or cut at the end
	}
	s.Holds = c.Format == rewrite.JSON && p.Resume != ""
	return s
}

func (s *stream) Line(line []byte) []byte {
	if s.Call.Format != rewrite.StreamJSON {
		s.output = append(s.output, line...)
		if s.Holds {
			return nil
		}
		return line
	}
	var e entry
	var ok bool
	if ok, e.whole = jsonline.ReadEvent(line, &e); !ok {
		return line
	}
	s.learn(&e)
	if e.Role == "user" {
		return base.AsAsked(&s.Plan, line)
	}
	return line
}

func (s *stream) End() []byte {
	switch {
	case s.Call.Format == rewrite.Text && len(s.output) > 0:
		s.State.Final = true
		s.State.Answer = strings.TrimSuffix(string(s.output), "\n")
		s.State.Content = s.State.Answer != "" && !s.State.WrongID
	case s.Call.Format == rewrite.JSON:
		return s.endJSON()
	}
	return nil
}

// endJSON parses the array of entries and returns the part that a resumed run shows.
func (s *stream) endJSON() []byte {
	start, entries, turn, ok := findEntries(s.output)
	for i := range entries {
		s.learnID(&entries[i])
		s.State.Compacted = s.State.Compacted || entries[i].compacts()
		if i >= turn.first {
			s.learn(&entries[i])
		}
	}
	switch {
	case !s.Holds:
		return nil
	case !ok:
		return s.endUnread()
	}
	s.State.Final = true
	before, after := s.output[:start], s.output[start+turn.offset:]
	return slices.Concat(before, []byte("["), base.AsAsked(&s.Plan, after))
}

// endUnread shows output that is no known array unchanged. If it was cut short it contains earlier
// turns, which vibe would not have shown: it is kept for a run that vibe itself considers
// successful.
func (s *stream) endUnread() []byte {
	begins := 0
	if !bytes.HasPrefix(s.output, []byte("[")) {
		begins = bytes.Index(s.output, []byte("\n[")) + 1
	}
	var array json.RawMessage
	err := json.NewDecoder(bytes.NewReader(s.output[begins:])).Decode(&array)
	if !bytes.HasPrefix(s.output[begins:], []byte("[")) || !errors.Is(err, io.ErrUnexpectedEOF) {
		return s.output
	}
	s.State.Unshown = s.output[begins:]
	return s.output[:begins]
}

// findEntries finds the array of entries, which starts a line: another program might have written
// before it.
func findEntries(output []byte) (start int, entries []entry, last turn, ok bool) {
	const tries = 100 // each can read to the end
	for range tries {
		if entries, last, ok = readEntries(output[start:]); ok {
			return
		}
		_, rest, found := bytes.Cut(output[start:], []byte("\n["))
		if !found {
			return
		}
		start = len(output) - len("[") - len(rest)
	}
	return
}

// A turn is where a turn begins in an array of entries: the index of the first entry, and the
// offset after the comma before it.
type turn struct{ first, offset int }

// readEntries parses an array of entries. The last turn in it is this run's
// (recordings/vibe/resume-ok-json).
func readEntries(array []byte) (entries []entry, last turn, ok bool) {
	if !bytes.HasPrefix(array, []byte("[")) {
		return
	}
	d := json.NewDecoder(bytes.NewReader(array))
	_, _ = d.Token() // the bracket
	id := ""
	last.offset = int(d.InputOffset())
	var asked *turn // the entry before, if it is a prompt that lacks only the turn
	for at := last.offset; d.More(); at = int(d.InputOffset()) {
		rest := bytes.TrimPrefix(array[at:], []byte(","))
		var text json.RawMessage
		if d.Decode(&text) != nil {
			return nil, turn{}, false
		}
		var e entry
		_, e.whole = jsonline.ReadEvent(text, &e)
		here := turn{len(entries), len(array) - len(rest)}
		if e.TurnID != "" && e.TurnID != id {
			id, last = e.TurnID, here
			if asked != nil {
				last = *asked
			}
		}
		asked = nil
		if e.TurnID == "" && e.Role == "user" {
			asked = &here
		}
		entries = append(entries, e)
	}
	if _, err := d.Token(); err != nil || len(entries) == 0 {
		return nil, turn{}, false
	}
	return entries, last, true
}

// A entry holds the fields of all kinds of entries that are read.
type entry struct {
	SessionID string
	TurnID    string
	Type      string
	Role      string
	Kind      string
	Content   json.RawMessage

	whole bool // every field above had the expected type
}

func (e *entry) known() bool {
	return e.Type == "message" || e.Type == "effect" || e.Type == "checkpoint"
}

func (e *entry) compacts() bool { return e.Type == "checkpoint" && e.Kind == "compaction" }

// learn records the facts of an entry of this run for the ledger and the gate. The first one, the
// caller's prompt, is written before the model is asked and shows only that the resume was
// accepted.
func (s *stream) learn(e *entry) {
	s.learnID(e)
	if e.known() || e.Type == "" {
		s.note(e.whole)
	}
	switch {
	case e.compacts():
		s.State.Compacted = true
	case e.Type == "effect":
		// which tool it was is not read
		s.State.ToolRan, s.State.Shell, s.State.Content = true, true, !s.State.WrongID
	case e.Type == "message" && e.Role == "assistant":
		s.State.Content, s.State.Final = !s.State.WrongID, true
		s.State.Answer = ""
		var content []struct{ Text string }
		_, whole := jsonline.ReadEvent(e.Content, &content)
		s.note(whole)
		for _, part := range content {
			s.State.Answer += part.Text
		}
		s.State.AddText(s.State.Answer)
	}
}

// note records whether everything read had the expected shape. A run with an unexpected entry
// cannot be resumed.
func (s *stream) note(whole bool) {
	s.State.Malformed = s.State.Malformed || !whole
	s.State.Failed = s.State.Failed || s.State.Malformed
}

// learnID records the ID of an entry of a known kind. An entry of unexpected shape names no
// session.
func (s *stream) learnID(e *entry) {
	if e.known() {
		s.LearnID(e.SessionID, "stdout", e.whole)
	}
}

// File reads vibe's files in --output-dir. The caller's own directory can hold another run's
// export, so an export counts only if stdout has shown the ID.
func (s *stream) File(name string, data []byte) {
	switch path.Base(name) {
	case export:
		var e run
		ok, whole := jsonline.ReadEvent(data, &e)
		private := base.Own[string](s.Call) == "" // only this run writes to the directory
		if ok && (private || e.SessionID != "" && e.SessionID == s.State.ID) {
			s.State.Malformed = s.State.Malformed || !whole
			s.learnRun(&e, whole)
		}
	case checkpoint:
		s.learnCheckpoint(name, data)
	}
}

// A run is a run as export.json describes it. The figures are this run's alone
// (recordings/vibe/output-dir-2).
type run struct {
	Outcome   string
	SessionID string          `json:"session_id"`
	Version   string          `json:"vibe_version"`
	Steps     int             // how often the model was asked
	Cost      json.RawMessage `json:"cost_usd"`
	Config    struct {
		Model string `json:"active_model"`
	}
	Error struct{ Message, Code string }
	Usage *struct {
		Input  int64 `json:"input_tokens"` // the cached ones included
		Cached int64 `json:"cached_input_tokens"`
		Output int64 `json:"output_tokens"`
	}
}

func (s *stream) learnRun(e *run, whole bool) {
	s.LearnID(e.SessionID, "file", whole)
	s.State.Version, s.State.Model = e.Version, e.Config.Model
	s.State.ToolRan = s.State.ToolRan || e.Steps > 1
	s.State.Shell = s.State.ToolRan
	s.State.Final, s.State.Failed = true, e.Outcome != "finished" || s.State.Malformed
	s.State.Refusal, s.State.Outside = s.refusal(e), failures.Begins(e.Error.Message)
	if u := e.Usage; u != nil && whole {
		s.State.Usage = rewrite.Usage{Known: true, Input: u.Input - u.Cached, CacheRead: u.Cached,
			Output: u.Output}
	}
	if cost, err := jsonline.Nano(string(e.Cost)); err == nil {
		s.State.Usage.CostNano, s.State.Usage.CostKnown = cost, true
	}
}

// failures are how the messages about a request that the API has refused begin, from either of
// vibe's two kinds of providers. The second names the type of an answer that is no JSON behind the
// status, such as a proxy's page (3.0.3).
var failures = base.WithStatus("Client error '%d ",
	base.WithStatus("API error occurred: Status %d"), base.Causes{
		{"Server error '5", reason.ServiceFailed},
		{"API error occurred: Status 5", reason.ServiceFailed},
		{"Invalid API key", reason.LoginRefused}})

// refusal returns why an export shows a session unfit to continue, or "".
func (s *stream) refusal(e *run) reason.Code {
	why := refusals.Begins(e.Error.Message)
	switch {
	case e.Outcome == "finished":
		return ""
	case why != "":
		return why
	case strings.HasPrefix(e.Error.Code, "compaction_"):
		return reason.RefusedContext // it tried this because the history was too long
	case strings.HasPrefix(e.Error.Message, "Client error '400 "),
		strings.HasPrefix(e.Error.Message, "API error occurred: Status 400"):
		return reason.RefusedBroken
	case s.Plan.Resume != "" && e.Outcome == "infrastructure_failure" && e.Steps == 0:
		return reason.RefusedSilent // it gave up before it asked the model
	}
	return ""
}

// learnCheckpoint reads how full the session's context is and whether it was ever shortened. There
// is one checkpoint for each of the last two generations.
func (s *stream) learnCheckpoint(name string, data []byte) {
	var c struct {
		Compactions int   `json:"compaction_count"`
		Context     int64 `json:"last_reported_context_tokens"`
	}
	ok, whole := jsonline.ReadEvent(data, &c)
	if name < s.checkpoint || !ok {
		return
	}
	s.checkpoint = name
	s.State.Compacted = s.State.Compacted || c.Compactions > 0 || !whole
	s.State.ContextUse.Used = c.Context
}
