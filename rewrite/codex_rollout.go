package rewrite

import (
	"bytes"
	"encoding/json"
	"strings"
)

// A rolloutLine is a line of some thread's rollout.
type rolloutLine struct {
	path string
	data []byte
}

// maxHeld bounds the bytes of rollouts kept while our thread's ID is unknown.
const maxHeld = 256 << 10

// codexRecord holds the fields of all rollout records that are read.
type codexRecord struct {
	Type    string `json:"type"`
	Payload struct {
		Type       string     `json:"type"`
		CLIVersion string     `json:"cli_version"`
		Model      string     `json:"model"`
		TurnID     string     `json:"turn_id"`
		TurnUsage  codexUsage `json:"turn_token_usage"`
		Info       struct {
			Total  json.RawMessage `json:"total_token_usage"`
			Last   codexUsage      `json:"last_token_usage"`
			Window int64           `json:"model_context_window"`
		} `json:"info"`
		LastMessage string `json:"last_agent_message"`
	} `json:"payload"`
}

// codexRecordMarks are texts of which every record worth parsing contains at least one.
var codexRecordMarks = newMarks("session_meta", "turn_context", "token_usage_record", "token_count", "compacted", "task_complete")

// File reads the lines of the rollout whose name ends in our thread's ID. Others belong to other
// threads.
func (s *codexStream) File(path string, data []byte) {
	switch {
	case !codexRecordMarks.in(data):
	case s.seen.ID == "":
		if s.heldLen += len(data); s.heldLen <= maxHeld {
			s.held = append(s.held, rolloutLine{path, bytes.Clone(data)})
		}
	case strings.HasSuffix(path, "-"+s.seen.ID+".jsonl"):
		var r codexRecord
		// A record with unreadable figures is ignored as a whole.
		if ok, whole := readEvent(data, &r); ok && (whole || r.Type == "compacted") {
			s.learnRecord(&r)
		}
	}
}

func (s *codexStream) learnRecord(r *codexRecord) {
	p := &r.Payload
	switch r.Type {
	case "session_meta":
		s.seen.Version = p.CLIVersion
	case "turn_context":
		s.seen.Model = p.Model
	case "compacted":
		s.seen.Compacted = true
	case "token_usage_record":
		if p.TurnID != s.turnID {
			s.earlier, s.turnID = s.earlier.plus(s.turn), p.TurnID
		}
		s.turn = p.TurnUsage
		s.seen.Usage = s.earlier.plus(s.turn).usage()
		if !s.seen.First.Known {
			s.seen.First = s.turn.usage()
		}
	case "event_msg":
		s.learnRolloutEvent(r)
	}
}

func (s *codexStream) learnRolloutEvent(r *codexRecord) {
	p := &r.Payload
	switch p.Type {
	case "token_count":
		if p.Info.Total != nil {
			s.seen.ContextUse = Context{p.Info.Last.Total, p.Info.Window}
			s.learnTotal(p.Info.Total)
		}
	case "task_complete":
		if s.seen.Answer == "" {
			s.seen.Answer = p.LastMessage
		}
	}
}

// learnTotal keeps the thread's total for a later call in the other format: a transcript shows only
// this sum.
func (s *codexStream) learnTotal(total json.RawMessage) {
	if s.call.Format != Text {
		return
	}
	totals := map[string]json.Number{}
	for _, n := range jsonNumbers(total) {
		totals[codexUsageKey+n.path] = json.Number(n.text)
	}
	if text, err := json.Marshal(totals); err == nil {
		s.seen.Totals, s.exact = Totals(text), true
	}
}
