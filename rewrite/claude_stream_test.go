package rewrite

import (
	"slices"
	"strings"
	"testing"

	"reprise/rewrite/reason"
)

// claudeSees plays events to a stream-json caller.
func claudeSees(resume string, events ...string) *StreamState {
	s := (claude{}).Stream(parse("-p x --output-format stream-json"), Plan{Resume: resume}, "")
	for _, e := range events {
		s.Line([]byte(e + "\n"))
	}
	s.End()
	return s.Seen()
}

func TestClaudeSeesACompaction(t *testing.T) {
	if seen := claudeSees("", claudeInit, `{"type":"system","subtype":"compact_boundary","session_id":"`+someID+`"}`, claudeEnds); !seen.Compacted {
		t.Error("a compaction is not seen")
	}
	for _, other := range []string{`{"type":"system","subtype":"status","status":"compact_boundary"}`, `{"type":"novel","subtype":"compact_boundary"}`} {
		if seen := claudeSees("", claudeInit, other, claudeEnds); seen.Compacted || seen.Failed {
			t.Errorf("%s: compacted %v, failed %v", other, seen.Compacted, seen.Failed)
		}
	}
}

// What a subagent says is not the session's: it is no answer, and fills another window.
func TestClaudeLeavesSubagentsOut(t *testing.T) {
	const usage = `"usage":{"input_tokens":1,"cache_read_input_tokens":20,"cache_creation_input_tokens":300,"output_tokens":4000}`
	own := `{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"I ask."}],` + usage + `},"session_id":"` + someID + `"}`
	subagent := func(id, message string) string {
		return `{"type":"assistant","parent_tool_use_id":"toolu_1","session_id":"` + id + `","message":{` + message + `}}`
	}
	says := subagent(someID, `"model":"m","content":[{"type":"text","text":"I am asked."},{"type":"tool_use"}],"usage":{"input_tokens":9}`)
	fails := subagent(foreignID, `"model":"<synthetic>","content":[]`)
	if seen := claudeSees(someID, claudeInit, says, fails); seen.Content || seen.ToolRan || seen.Synthetic || seen.WrongID || len(seen.Texts) > 0 {
		t.Errorf("a subagent alone: %+v", seen)
	}
	seen := claudeSees(someID, claudeInit, own, says, fails)
	if !seen.Content || !slices.Equal(seen.Texts, []string{"I ask."}) || seen.ContextUse.Used != 4321 ||
		seen.First != (Usage{Known: true, Input: 1, CacheRead: 20, CacheWrite: 300}) {
		t.Errorf("beside the session's own: %+v", seen)
	}
	later := strings.Replace(own, `"input_tokens":1,`, `"input_tokens":7,`, 1)
	if seen := claudeSees(someID, claudeInit, says, own, later); seen.First.Input != 1 || seen.ContextUse.Used != 4327 {
		t.Errorf("its first request: %+v", seen)
	}
	tool := strings.Replace(own, `{"type":"text","text":"I ask."}`, `{"type":"tool_use","name":"Task","input":{"file_path":"/w/a.go"}}`, 1)
	if seen := claudeSees(someID, claudeInit, tool, says); !seen.ToolRan || len(seen.Texts) > 0 || !slices.Equal(seen.Files, []string{"/w/a.go"}) {
		t.Errorf("the tool that asks it: %+v", seen)
	}
}

// The last message counts, for whether it is a model's.
func TestClaudeSeesSyntheticMessages(t *testing.T) {
	synthetic := strings.Replace(claudeSays, `"model":"m"`, `"model":"<synthetic>"`, 1)
	if seen := claudeSees(someID, claudeInit, synthetic); !seen.Synthetic || seen.Content || len(seen.Texts) > 0 {
		t.Errorf("an error as a message: %+v", seen)
	}
	if seen := claudeSees(someID, claudeInit, synthetic, claudeSays); seen.Synthetic || !seen.Content {
		t.Errorf("a message behind it: %+v", seen)
	}
	if seen := claudeSees(someID, claudeInit, `{"type":"stream_event","session_id":"`+someID+`"}`); !seen.Content {
		t.Error("a part of a message opens no gate")
	}
	if seen := claudeSees(foreignID, `{"type":"stream_event","session_id":"`+someID+`"}`); seen.Content || !seen.WrongID {
		t.Error("a part of another session's message opens the gate")
	}
}

func TestClaudeRefusals(t *testing.T) {
	result := func(fields string) string {
		return `{"type":"result","subtype":"success","session_id":"` + someID + `",` + fields + `}`
	}
	tests := []struct {
		fields  string
		refusal reason.Code
		failed  bool
	}{
		{`"is_error":false,"result":"Prompt is too long","terminal_reason":"prompt_too_long","api_error_status":400`, "", false},
		{`"is_error":true,"result":"Prompt is too long"`, reason.RefusedContext, true},
		{`"is_error":true,"result":"x","terminal_reason":"prompt_too_long"`, reason.RefusedContext, true},
		{`"is_error":true,"result":"x","api_error_status":400`, reason.RefusedBroken, true},
		{`"is_error":true,"result":"x","terminal_reason":"image_error"`, reason.RefusedBroken, true},
		{`"is_error":true,"result":"API Error: 400 no"`, reason.RefusedBroken, true},
		{`"is_error":true,"result":"x","api_error_status":429,"terminal_reason":"api_error"`, "", true},
		{`"is_error":true,"result":"API Error: 500"`, "", true},
		{`"is_error":true,"errors":["x","No conversation found with session ID: x"]`, reason.RefusedUnknown, true},
		{`"is_error":true,"errors":[{"message":"No conversation found with session ID: x"}]`, reason.RefusedUnknown, true},
	}
	for _, tt := range tests {
		seen := claudeSees("", claudeInit, result(tt.fields))
		if seen.Refusal != tt.refusal || seen.Failed != tt.failed || seen.Final == (tt.refusal == reason.RefusedUnknown) {
			t.Errorf("%s: refusal %q, failed %v, final %v", tt.fields, seen.Refusal, seen.Failed, seen.Final)
		}
	}
}

// A run that could not begin is no end of a run, and names no session.
func TestClaudeThatDoesNotBegin(t *testing.T) {
	event := `{"type":"result","subtype":"error_during_execution","is_error":true,"startup_failure_reason":"x","session_id":"` + someID + `"}` + "\n"
	for _, format := range claudeFormats {
		if shown, seen := claudeRun(format, Plan{}, event); shown != event || seen.Final || seen.ID != "" {
			t.Errorf("%s: %q, final %v, id %q", format, shown, seen.Final, seen.ID)
		}
	}
}

func TestAtLeast(t *testing.T) {
	tests := []struct {
		version string
		want    bool
	}{{"2.1.293", true}, {"2.1.292", false}, {"2.1.1000", true}, {"2.2.0", true}, {"2.0.999", false}, {"3.0.0", true}, {"1.9.999", false},
		{"", true}, {"2.1", true}, {"x.y.z", true}, {"2.1.293-beta", true}, {"2.1.300.1", true}}
	for _, tt := range tests {
		if got := atLeast(tt.version, 2, 1, 293); got != tt.want {
			t.Errorf("%q: %v", tt.version, got)
		}
	}
}
