package codex

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/tool/base"
)

type rolloutLine struct {
	path string
	data []byte
}

// maxHeld bounds the bytes of rollouts kept while our thread's ID is unknown.
const maxHeld = 256 << 10

// record holds the fields of all rollout records that are read.
type record struct {
	Type    string `json:"type"`
	Payload struct {
		Type       string `json:"type"`
		CLIVersion string `json:"cli_version"`
		Model      string `json:"model"`
		TurnID     string `json:"turn_id"`
		TurnUsage  usage  `json:"turn_token_usage"`
		Info       struct {
			Total  json.RawMessage `json:"total_token_usage"`
			Last   usage           `json:"last_token_usage"`
			Window int64           `json:"model_context_window"`
		} `json:"info"`
		LastMessage string `json:"last_agent_message"`
	} `json:"payload"`
}

// recordMarks are texts; every record worth parsing contains at least one.
var recordMarks = jsonline.NewMarks("session_meta", "turn_context", "token_usage_record",
	"token_count", "compacted", "task_complete")

// File reads the lines of the rollout named after our thread's ID. Others belong to other
// threads.
func (s *stream) File(path string, data []byte) {
	switch {
	case !recordMarks.In(data):
	case s.State.ID == "":
		if s.heldLen += len(data); s.heldLen <= maxHeld {
			s.held = append(s.held, rolloutLine{path, bytes.Clone(data)})
		}
	case strings.HasSuffix(path, "-"+s.State.ID+".jsonl"):
		var r record
		// A record with unreadable figures is ignored as a whole.
		if ok, whole := jsonline.ReadEvent(data, &r); ok && (whole || r.Type == "compacted") {
			s.learnRecord(&r)
		}
	}
}

func (s *stream) learnRecord(r *record) {
	p := &r.Payload
	switch r.Type {
	case "session_meta":
		s.State.Version = p.CLIVersion
	case "turn_context":
		s.State.Model = p.Model
	case "compacted":
		s.State.Compacted = true
	case "token_usage_record":
		if p.TurnID != s.turnID {
			s.earlier, s.turnID = s.earlier.Plus(s.turn), p.TurnID
		}
		s.turn = p.TurnUsage.usage()
		s.State.Usage = s.used()
		s.LearnFirst(s.turn)
	case "event_msg":
		if p.Type == "task_complete" {
			s.State.Answer = cmp.Or(s.State.Answer, p.LastMessage)
		}
		if p.Type == "token_count" && p.Info.Total != nil {
			s.State.ContextUse = rewrite.Context{Used: p.Info.Last.Total, Limit: p.Info.Window}
			s.learnTotal(p.Info.Total)
		}
	}
}

// learnTotal keeps the thread's total for a later call in the other format: a transcript shows only
// this sum.
func (s *stream) learnTotal(total json.RawMessage) {
	if s.Call.Format != rewrite.Text {
		return
	}
	numbers := jsonline.Numbers(total)
	for i := range numbers {
		numbers[i].Path = usageKey + numbers[i].Path
	}
	s.State.Totals, s.exact = base.EncodeTotals(numbers, func(string) bool { return true }), true
}
