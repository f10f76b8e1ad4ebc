package rewrite

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"reprise/rewrite/reason"
)

// vibeStream reads vibe's output in the caller's format. It changes only what a resumed run shows:
// json, which contains the whole session, is cut to this call's turn; json and streaming show the
// caller's prompt in place of the delta.
type vibeStream struct {
	streamBase
	private bool // only this run writes to the followed directory

	output     []byte // all of stdout; not kept for streaming
	checkpoint string // the newest that was read
	malformed  bool   // an entry had an unexpected shape
	ended      bool
}

func (vibe) Stream(c Call, p Plan, _ Totals) Stream {
	return &vibeStream{streamBase: streamBase{call: c, plan: p}, private: vibeOutputDir(c) == ""}
}

// MaxLine returns NoLines for text and json, which are shown unchanged or cut at the end. If a long
// line waited here, vibe would not notice that its reader is gone.
func (s *vibeStream) MaxLine() int {
	if s.call.Format == StreamJSON {
		return LongestLine
	}
	return NoLines
}

func (s *vibeStream) PrintsAtEnd() bool { return s.call.Format != StreamJSON }

func (s *vibeStream) HoldsOutput() bool { return s.call.Format == JSON && s.plan.Resume != "" }

func (s *vibeStream) Line(line []byte) []byte {
	if s.call.Format != StreamJSON {
		s.output = append(s.output, line...)
		if s.HoldsOutput() {
			return nil
		}
		return line
	}
	var e vibeEntry
	var ok bool
	if ok, e.whole = readEvent(line, &e); !ok {
		return line
	}
	s.learn(&e)
	if e.Role == "user" {
		return s.plan.asAsked(line)
	}
	return line
}

func (s *vibeStream) End() []byte {
	if s.ended {
		return nil
	}
	s.ended = true
	switch {
	case s.call.Format == Text && len(s.output) > 0:
		s.seen.Final = true
		s.seen.Answer = strings.TrimSuffix(string(s.output), "\n")
	case s.call.Format == JSON:
		return s.endJSON()
	}
	return nil
}

// endJSON parses the array of entries and returns the part that a resumed run shows.
func (s *vibeStream) endJSON() []byte {
	start, entries, turn, ok := findVibeEntries(s.output)
	for i := range entries {
		s.learnID(&entries[i])
		s.seen.Compacted = s.seen.Compacted || entries[i].compacts()
		if i >= turn.first {
			s.learn(&entries[i])
		}
	}
	switch {
	case !s.HoldsOutput():
		return nil
	case !ok:
		return s.endUnread()
	}
	s.seen.Final = true
	before, after := s.output[:start], s.output[start+turn.offset:]
	return slices.Concat(before, []byte("["), s.plan.asAsked(after))
}

// endUnread shows output that is no known array unchanged. If it was cut short it contains earlier
// turns, which vibe would not have shown: it is kept for a run that vibe itself considers
// successful.
func (s *vibeStream) endUnread() []byte {
	begins := 0
	if !bytes.HasPrefix(s.output, []byte("[")) {
		begins = bytes.Index(s.output, []byte("\n[")) + 1
	}
	var array json.RawMessage
	err := json.NewDecoder(bytes.NewReader(s.output[begins:])).Decode(&array)
	if !bytes.HasPrefix(s.output[begins:], []byte("[")) || !errors.Is(err, io.ErrUnexpectedEOF) {
		return s.output
	}
	s.seen.Unshown = s.output[begins:]
	return s.output[:begins]
}

// findVibeEntries finds the array of entries, which starts a line: another program may have written
// before it.
func findVibeEntries(output []byte) (start int, entries []vibeEntry, last vibeTurn, ok bool) {
	const tries = 100 // each may read to the end
	for range tries {
		if entries, last, ok = readVibeEntries(output[start:]); ok {
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

// A vibeTurn is where a turn begins in an array of entries: the index of its first entry, and the
// offset after the comma before it.
type vibeTurn struct{ first, offset int }

// readVibeEntries parses an array of entries. The last turn in it is this run's
// (recordings/vibe/resume-ok-json).
func readVibeEntries(array []byte) (entries []vibeEntry, last vibeTurn, ok bool) {
	if !bytes.HasPrefix(array, []byte("[")) {
		return
	}
	d := json.NewDecoder(bytes.NewReader(array))
	_, _ = d.Token() // the bracket
	id := ""
	last.offset = int(d.InputOffset())
	var asked *vibeTurn // the entry before, if it is a prompt that lacks only its turn
	for at := last.offset; d.More(); at = int(d.InputOffset()) {
		rest := bytes.TrimPrefix(array[at:], []byte(","))
		var text json.RawMessage
		if d.Decode(&text) != nil {
			return nil, vibeTurn{}, false
		}
		var e vibeEntry
		_, e.whole = readEvent(text, &e)
		here := vibeTurn{len(entries), len(array) - len(rest)}
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
		return nil, vibeTurn{}, false
	}
	return entries, last, true
}

// A vibeEntry holds the fields of all kinds of entries that are read.
type vibeEntry struct {
	SessionID string
	TurnID    string
	Type      string
	Role      string
	Kind      string
	Content   json.RawMessage

	whole bool // every field above had the expected type
}

func (e *vibeEntry) known() bool {
	return e.Type == "message" || e.Type == "effect" || e.Type == "checkpoint"
}

func (e *vibeEntry) compacts() bool { return e.Type == "checkpoint" && e.Kind == "compaction" }

// learn records what the ledger and the gate need from an entry of this run. The first one, the
// caller's prompt, is written before the model is asked and shows only that the resume was
// accepted.
func (s *vibeStream) learn(e *vibeEntry) {
	s.learnID(e)
	if e.known() || e.Type == "" {
		s.note(e.whole)
	}
	switch {
	case e.compacts():
		s.seen.Compacted = true
	case e.Type == "effect":
		s.seen.ToolRan, s.seen.Content = true, !s.seen.WrongID
	case e.Type == "message" && e.Role == "assistant":
		s.seen.Content, s.seen.Final = !s.seen.WrongID, true
		s.seen.Answer = ""
		var content []struct{ Text string }
		_, whole := readEvent(e.Content, &content)
		s.note(whole)
		for _, part := range content {
			s.seen.Answer += part.Text
		}
		s.seen.addText(s.seen.Answer)
	}
}

// note records whether everything read had the expected shape. A run with an unexpected entry
// cannot be resumed.
func (s *vibeStream) note(whole bool) {
	s.malformed = s.malformed || !whole
	s.seen.Failed = s.seen.Failed || s.malformed
}

// learnID records the ID of an entry of a known kind. An entry of unexpected shape names no
// session.
func (s *vibeStream) learnID(e *vibeEntry) {
	if e.known() {
		s.learnIDFrom(e.SessionID, "stdout", e.whole)
	}
}

func (s *vibeStream) learnIDFrom(id, source string, sure bool) {
	if !isUUID(id) {
		return
	}
	if s.plan.Resume != "" && id != s.plan.Resume {
		s.seen.WrongID = true
	}
	if s.seen.ID == "" && sure {
		s.seen.ID, s.seen.Source = id, source
	}
}

// File reads what vibe writes to --output-dir. The caller's own directory may hold another run's
// export, so an export counts only if stdout has shown its ID.
func (s *vibeStream) File(name string, data []byte) {
	switch path.Base(name) {
	case vibeExport:
		var e vibeRun
		ok, whole := readEvent(data, &e)
		if ok && (s.private || e.SessionID != "" && e.SessionID == s.seen.ID) {
			s.malformed = s.malformed || !whole
			s.learnRun(&e, whole)
		}
	case vibeCheckpoint:
		s.learnCheckpoint(name, data)
	}
}

// A vibeRun is what export.json says about a run. Its figures are this run's alone
// (recordings/vibe/output-dir-2).
type vibeRun struct {
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

func (s *vibeStream) learnRun(e *vibeRun, whole bool) {
	s.learnIDFrom(e.SessionID, "file", whole)
	s.seen.Version, s.seen.Model = e.Version, e.Config.Model
	s.seen.ToolRan = s.seen.ToolRan || e.Steps > 1
	s.seen.Final, s.seen.Failed = true, e.Outcome != "finished" || s.malformed
	s.seen.Refusal = s.refusal(e)
	if u := e.Usage; u != nil && whole {
		s.seen.Usage = Usage{Known: true, Input: u.Input - u.Cached, CacheRead: u.Cached, Output: u.Output}
	}
	if cost, err := nano(string(e.Cost)); err == nil {
		s.seen.Usage.CostNano, s.seen.Usage.CostKnown = cost, true
	}
}

// vibeBadRequest matches the message about a history that the API rejects, from either of vibe's
// two kinds of providers.
var vibeBadRequest = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(Client error '400 |API error occurred: Status 400\b)`)
})

// refusal returns why an export shows a session unfit to continue, or "".
func (s *vibeStream) refusal(e *vibeRun) reason.Code {
	why := vibeRefusals.find(e.Error.Message, strings.HasPrefix)
	switch {
	case e.Outcome == "finished":
		return ""
	case why != "":
		return why
	case strings.HasPrefix(e.Error.Code, "compaction_"):
		return reason.RefusedContext // it tried this because the history was too long
	case vibeBadRequest().MatchString(e.Error.Message):
		return reason.RefusedBroken
	case s.plan.Resume != "" && e.Outcome == "infrastructure_failure" && e.Steps == 0:
		return reason.RefusedSilent // it gave up before it asked the model
	}
	return ""
}

// learnCheckpoint reads how full the session's context is and whether it was ever shortened. There
// is one checkpoint for each of the last two generations.
func (s *vibeStream) learnCheckpoint(name string, data []byte) {
	var c struct {
		Compactions int   `json:"compaction_count"`
		Context     int64 `json:"last_reported_context_tokens"`
	}
	ok, whole := readEvent(data, &c)
	if name < s.checkpoint || !ok {
		return
	}
	s.checkpoint = name
	s.seen.Compacted = s.seen.Compacted || c.Compactions > 0 || !whole
	s.seen.ContextUse.Used = c.Context
}
