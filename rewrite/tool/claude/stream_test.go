package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
	"reprise/test/tooltest"
)

// sees plays events to a stream-json caller.
func sees(resume string, events ...string) *rewrite.StreamState {
	s := tool.Stream(parse("-p x --output-format stream-json"), rewrite.Plan{Resume: resume}, "")
	for _, e := range events {
		s.Line([]byte(e + "\n"))
	}
	s.End()
	return s.Seen()
}

func TestClaudeSeesACompaction(t *testing.T) {
	if seen := sees("", tooltest.ClaudeInit,
		`{"type":"system","subtype":"compact_boundary","session_id":"`+tooltest.SomeID+`"}`,
		tooltest.ClaudeEnds); !seen.Compacted {
		t.Error("a compaction is not seen")
	}
	for _, other := range []string{
		`{"type":"system","subtype":"status","status":"compact_boundary"}`,
		`{"type":"novel","subtype":"compact_boundary"}`} {
		if seen := sees("", tooltest.ClaudeInit, other, tooltest.ClaudeEnds); seen.Compacted ||
			seen.Failed {
			t.Errorf("%s: compacted %v, failed %v", other, seen.Compacted, seen.Failed)
		}
	}
}

// The caller sees the start hooks of a resumed call as a new call's.
func TestClaudeNamesStartHooks(t *testing.T) {
	event := func(kind string) string {
		return `{"type":"system","subtype":"hook_started","hook_name":"SessionStart:` + kind +
			`","hook_event":"SessionStart"}` + "\n"
	}
	said := `{"type":"user","tool_use_result":{"type":"system","hook_name":"SessionStart:fork"}}`
	for _, line := range []struct{ resume, printed, shown string }{
		{tooltest.SomeID, event("fork"), event("startup")},
		{tooltest.SomeID, event("resume"), event("startup")},
		{tooltest.SomeID, event("compact"), event("compact")},
		{tooltest.SomeID, said, said},
		{"", event("resume"), event("resume")},
	} {
		s := tool.Stream(parse("-p x --output-format stream-json"),
			rewrite.Plan{Resume: line.resume}, "")
		if shown := string(s.Line([]byte(line.printed))); shown != line.shown {
			t.Errorf("resume %q: %s is shown as %s", line.resume, line.printed, shown)
		}
	}
}

// A subagent's text is not the session's: it is no answer, and fills another window.
func TestClaudeLeavesSubagentsOut(t *testing.T) {
	const usage = `"usage":{"input_tokens":1,"cache_read_input_tokens":20,"cache_creation_input_tokens":300,"output_tokens":4000}`
	own := `{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"I ask."}],` + usage + `},"session_id":"` + tooltest.SomeID + `"}`
	subagent := func(id, message string) string {
		return `{"type":"assistant","parent_tool_use_id":"toolu_1","session_id":"` + id +
			`","message":{` + message + `}}`
	}
	says := subagent(tooltest.SomeID,
		`"model":"m","content":[{"type":"text","text":"I am asked."},{"type":"tool_use"}],"usage":{"input_tokens":9}`)
	fails := subagent(tooltest.ForeignID, `"model":"<synthetic>","content":[]`)
	if seen := sees(tooltest.SomeID, tooltest.ClaudeInit, says, fails); seen.Content ||
		seen.ToolRan || seen.Synthetic || seen.WrongID || len(seen.Texts) > 0 {
		t.Errorf("a subagent alone: %+v", seen)
	}
	seen := sees(tooltest.SomeID, tooltest.ClaudeInit, own, says, fails)
	if !seen.Content || !slices.Equal(seen.Texts, []string{"I ask."}) ||
		seen.ContextUse.Used != 4321 ||
		seen.First.Prompt() != 321 || seen.First.CacheRead != 20 {
		t.Errorf("beside the session's own: %+v", seen)
	}
	later := strings.Replace(own, `"input_tokens":1,`, `"input_tokens":7,`, 1)
	if seen := sees(tooltest.SomeID, tooltest.ClaudeInit, says, own, later); seen.First.Input !=
		1 || seen.ContextUse.Used != 4327 {
		t.Errorf("its first request: %+v", seen)
	}
	tool := strings.Replace(own, `{"type":"text","text":"I ask."}`,
		`{"type":"tool_use","name":"Task","input":{"file_path":"/w/a.go"}}`, 1)
	if seen := sees(tooltest.SomeID, tooltest.ClaudeInit, tool, says); !seen.ToolRan ||
		len(seen.Texts) > 0 || !slices.Equal(seen.Files, []string{"/w/a.go"}) {
		t.Errorf("the tool that asks it: %+v", seen)
	}
}

// The last message counts, for whether it is a model's.
func TestClaudeSeesSyntheticMessages(t *testing.T) {
	synthetic := strings.Replace(tooltest.ClaudeSays, `"model":"m"`, `"model":"<synthetic>"`, 1)
	if seen := sees(tooltest.SomeID, tooltest.ClaudeInit, synthetic); !seen.Synthetic ||
		seen.Content || len(seen.Texts) > 0 {
		t.Errorf("an error as a message: %+v", seen)
	}
	if seen := sees(tooltest.SomeID, tooltest.ClaudeInit, synthetic,
		tooltest.ClaudeSays); seen.Synthetic || !seen.Content {
		t.Errorf("a message behind it: %+v", seen)
	}
	if seen := sees(tooltest.SomeID, tooltest.ClaudeInit,
		`{"type":"stream_event","session_id":"`+tooltest.SomeID+`"}`); !seen.Content {
		t.Error("a part of a message opens no gate")
	}
	if seen := sees(tooltest.ForeignID,
		`{"type":"stream_event","session_id":"`+tooltest.SomeID+`"}`); seen.Content ||
		!seen.WrongID {
		t.Error("a part of another session's message opens the gate")
	}
}

func TestClaudeRefusals(t *testing.T) {
	result := func(fields string) string {
		return `{"type":"result","subtype":"success","session_id":"` + tooltest.SomeID + `",` +
			fields + `}`
	}
	tests := []struct {
		fields  string
		refusal reason.Code
		failed  bool
	}{
		{`"is_error":false,"result":"Prompt is too long","terminal_reason":"prompt_too_long","api_error_status":400`, "", false},
		{`"is_error":true,"result":"Prompt is too long"`, reason.RefusedContext, true},
		{`"is_error":true,"result":"x","terminal_reason":"prompt_too_long"`, reason.RefusedContext,
			true},
		{`"is_error":true,"result":"x","api_error_status":400`, reason.RefusedBroken, true},
		{`"is_error":true,"result":"x","terminal_reason":"image_error"`, reason.RefusedBroken,
			true},
		{`"is_error":true,"result":"API Error: 400 no"`, reason.RefusedBroken, true},
		{`"is_error":true,"result":"x","api_error_status":429,"terminal_reason":"api_error"`, "",
			true},
		{`"is_error":true,"result":"API Error: 500"`, "", true},
		{`"is_error":true,"errors":["x","No conversation found with session ID: x"]`,
			reason.RefusedUnknown, true},
		{`"is_error":true,"errors":[{"message":"No conversation found with session ID: x"}]`,
			reason.RefusedUnknown, true},
	}
	for _, tt := range tests {
		seen := sees("", tooltest.ClaudeInit, result(tt.fields))
		if seen.Refusal != tt.refusal || seen.Failed != tt.failed ||
			seen.Final == (tt.refusal == reason.RefusedUnknown) {
			t.Errorf("%s: refusal %q, failed %v, final %v", tt.fields, seen.Refusal, seen.Failed,
				seen.Final)
		}
	}
}

// A run that could not begin is no end of a run, and names no session.
func TestClaudeThatDoesNotBegin(t *testing.T) {
	event := `{"type":"result","subtype":"error_during_execution","is_error":true,"startup_failure_reason":"x","session_id":"` + tooltest.SomeID + `"}` + "\n"
	for _, format := range formats {
		if shown, seen := run(format, rewrite.Plan{}, event); shown != event || seen.Final ||
			seen.ID != "" {
			t.Errorf("%s: %q, final %v, id %q", format, shown, seen.Final, seen.ID)
		}
	}
}

// Whatever the order of its keys: of a line that is not parsed there is nothing to
// learn.
func TestUnreadLinesTeachNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	id := `"00000000-0000-4000-8000-000000000001"`
	unread := 0
	for range 20_000 {
		fields := []string{
			`"type":` + pick(`"user"`, `"assistant"`, `"system"`, `"result"`, `"stream_event"`,
				`"rate_limit_event"`),
			`"session_id":` + id,
			`"message":{"role":"user","content":` + pick(`"ok"`, `"{\"type\":\"result\"}"`,
				`[{"type":"text","text":"\"init\""}]`, `[{"type":"tool_use"}]`) + `}`,
			`"subtype":` + pick(`"init"`, `"compact_boundary"`, `"status"`, `"success"`),
			`"result":"done"`, `"model":"m"`, `"parent_tool_use_id":null`,
		}
		r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		line := []byte(fmt.Sprintf("{%s}\n", strings.Join(fields[:1+r.IntN(len(fields))], ",")))
		if new(stream).read(line).Type != "" {
			continue
		}
		unread++
		var e base.ClaudeEvent
		if json.Unmarshal(line, &e) != nil {
			continue // nor from a line that no parser takes
		}
		var s stream
		if s.learn(&e); !reflect.DeepEqual(s.State, rewrite.StreamState{}) {
			t.Fatalf("%s is not read", bytes.TrimSpace(line))
		}
	}
	if unread < 1000 {
		t.Errorf("%d lines were left unread", unread)
	}
}

// A copy that is made before the run's costs are in the file can be told apart only by figures of
// its own.
func TestOwnFigures(t *testing.T) {
	for version, tells := range map[string]bool{"2.1.276": true, "2.1.277": false,
		"2.1.329": false} {
		for _, own := range []bool{false, true} {
			s := tool.Stream(rewrite.CommandLine{Format: rewrite.StreamJSON}, rewrite.Plan{}, "")
			s.Line([]byte(`{"type":"system","subtype":"init","claude_code_version":"` + version +
				`"}` + "\n"))
			more := ""
			if own {
				more = `,"model_usage_since_last_result":{"m":{"costUSD":1}}`
			}
			s.Line([]byte(`{"type":"result","total_cost_usd":1` + more + "}\n"))
			if got := s.Seen().OwnFigures; got != (tells || own) {
				t.Errorf("%s, own figures %v: %v", version, own, got)
			}
		}
	}
}
