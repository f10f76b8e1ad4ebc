package rewrite

import (
	"slices"
	"strings"
	"testing"
)

// claudeSees plays events to a text caller.
func claudeSees(resume string, events ...string) *StreamState {
	s := (claude{}).Stream(parse("-p x"), Plan{Resume: resume}, "")
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
		refusal Reason
		failed  bool
	}{
		{`"is_error":false,"result":"Prompt is too long","terminal_reason":"prompt_too_long","api_error_status":400`, "", false},
		{`"is_error":true,"result":"Prompt is too long"`, RefusedContext, true},
		{`"is_error":true,"result":"x","terminal_reason":"prompt_too_long"`, RefusedContext, true},
		{`"is_error":true,"result":"x","api_error_status":400`, RefusedBroken, true},
		{`"is_error":true,"result":"x","terminal_reason":"image_error"`, RefusedBroken, true},
		{`"is_error":true,"result":"API Error: 400 no"`, RefusedBroken, true},
		{`"is_error":true,"result":"x","api_error_status":429,"terminal_reason":"api_error"`, "", true},
		{`"is_error":true,"result":"API Error: 500"`, "", true},
		{`"is_error":true,"errors":["x","No conversation found with session ID: x"]`, RefusedUnknown, true},
		{`"is_error":true,"errors":[{"message":"No conversation found with session ID: x"}]`, RefusedUnknown, true},
	}
	for _, tt := range tests {
		seen := claudeSees("", claudeInit, result(tt.fields))
		if seen.Refusal != tt.refusal || seen.Failed != tt.failed || seen.Final == (tt.refusal == RefusedUnknown) {
			t.Errorf("%s: refusal %q, failed %v, final %v", tt.fields, seen.Refusal, seen.Failed, seen.Final)
		}
	}
}

// A run that could not begin shows nothing in text and json unless claude takes it for a good one, and is no end of a run.
func TestClaudeThatDoesNotBegin(t *testing.T) {
	event := `{"type":"result","subtype":"error_during_execution","is_error":true,"startup_failure_reason":"x","session_id":"` + someID + `"}` + "\n"
	for _, line := range []string{"-p x", "-p x --output-format json", "-p x --output-format json --verbose"} {
		if got, seen := render(line, []byte(event)); got != "" || seen.Final || seen.ID != "" || string(seen.Unshown) != event {
			t.Errorf("%s: %q, final %v, id %q, unshown %q", line, got, seen.Final, seen.ID, seen.Unshown)
		}
	}
	if got := first(render("-p x --output-format stream-json", []byte(event))); got != event {
		t.Errorf("stream-json: %q", got)
	}
}

func TestClaudeTextOfErrors(t *testing.T) {
	result := func(subtype, fields string) string {
		return `{"type":"result","is_error":true,"subtype":"` + subtype + `"` + fields + `}` + "\n"
	}
	unknown := result("outcome", ``)
	tests := []struct{ event, want string }{
		{result("error_max_turns", ""), "Error: Reached max turns (3)"},
		{result("error_max_budget_usd", ""), "Error: Exceeded USD budget (0.5)"},
		{result("error_max_structured_output_retries", ""), "Error: Failed to provide valid structured output after maximum retries"},
		{result("error_max_structured_output_retries", `,"errors":["no","never"]`), "Error: no"},
		{result("error_max_structured_output_retries", `,"errors":["no"]`), "Error: no"},
		{result("error_max_turns", "") + result("success", `,"result":"x"`), "Error: Reached max turns (3)\n\nx\n"},
		{result("outcome", `,"result":"x","api_error_status":"429"`), "x\n"},
		{result("outcome", `,"result":""`), "\n"},
		{result("outcome", `,"result":["x"]`), result("outcome", `,"result":["x"]`)},
		{result("error_during_execution", `,"result":"x"`), "Execution error"},
		{result("outcome", `,"result":"x"`), "x\n"},
		{unknown, unknown},
	}
	for _, tt := range tests {
		if got := first(render("-p x --max-turns 3 --max-budget-usd 0.5", []byte(tt.event))); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.event, got, tt.want)
		}
	}
}

// Since 2.1.293 text mode prints the result of each turn as the turn ends, and before that the last one at the end.
func TestClaudeShowsTextInTime(t *testing.T) {
	const unread = `{"type":"result","subtype":"outcome"}` + "\n"
	empty := strings.Replace(claudeEnds, `"yes"`, `""`, 1)
	for _, tt := range []struct {
		version string
		lines   []string
		want    []string // at once, and at the end
	}{
		{"2.1.292", []string{claudeEnds, claudeEndsAgain}, []string{"", "", "no\n"}},
		{"2.1.293", []string{claudeEnds, claudeEndsAgain}, []string{"yes\n", "\nno\n", ""}},
		{"2.1.292", []string{claudeEnds, unread}, []string{"", unread, ""}},
		{"2.1.293", []string{claudeEnds, "aside\n"}, []string{"yes\n", "aside\n", ""}},
		{"2.1.293", []string{empty, claudeEnds, "aside\n"}, []string{"", "yes\n", "aside\n", ""}},
		{"2.1.293", []string{empty, "aside\n"}, []string{"", "", "\naside\n"}},
		{"2.1.293", []string{claudeEnds, empty}, []string{"yes\n", "", ""}},
	} {
		s := claude{}.Stream(parse("-p x"), Plan{}, "")
		s.Line([]byte(strings.Replace(claudeInit, "2.1.329", tt.version, 1)))
		var got []string
		for _, line := range tt.lines {
			got = append(got, string(s.Line([]byte(line))))
		}
		if got = append(got, string(s.End())); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q: %q, want %q", tt.version, tt.lines, got, tt.want)
		}
	}
}

// Since 2.1.326 text mode repeats an error on a stderr that is a terminal.
func TestClaudeRepeatsErrors(t *testing.T) {
	result := func(fields string) string { return `{"type":"result",` + fields + `}` + "\n" }
	tests := []struct {
		version, event string
		terminal       bool
		want           string
	}{
		{"2.1.326", result(`"subtype":"success","is_error":true,"result":"API Error \n\n"`), true, "API Error\n"},
		{"2.1.326", result(`"subtype":"error_max_turns","is_error":true`), true, "Error: Reached max turns (3)\n"},
		{"2.1.326", result(`"subtype":"error_max_turns","is_error":true`), false, ""},
		{"2.1.325", result(`"subtype":"error_max_turns","is_error":true`), true, ""},
		{"2.1.326", result(`"subtype":"success","is_error":false,"result":"x"`), true, ""},
		{"2.1.326", result(`"subtype":"success","result":"x"`), true, ""},
		{"2.1.326", result(`"subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"`), true, ""},
	}
	for _, tt := range tests {
		c := parse("-p x --max-turns 3")
		c.StderrTTY = tt.terminal
		s := claude{}.Stream(c, Plan{}, "")
		s.Line([]byte(strings.Replace(claudeInit, "2.1.329", tt.version, 1)))
		s.Line([]byte(tt.event))
		if got := s.TakeStderr(); got != tt.want {
			t.Errorf("%s, terminal %v: %s: %q, want %q", tt.version, tt.terminal, tt.event, got, tt.want)
		}
		if again := s.TakeStderr(); again != "" {
			t.Errorf("it is repeated again: %q", again)
		}
	}
}

func TestRawSeparators(t *testing.T) {
	tests := []struct{ line, want string }{
		{`"a\u2028b\u2029c"`, "\"a\u2028b\u2029c\""},
		{`"a\\u2028b\\\u2029c"`, "\"a\\\\u2028b\\\\\u2029c\""},
		{`"\n\"\u2027\u202a"`, `"\n\"\u2027\u202a"`},
		{`cut\`, `cut\`},
		{`\u202`, `\u202`},
		{"", ""},
	}
	for _, tt := range tests {
		if got := string(appendRawSeparators([]byte("x"), []byte(tt.line))); got != "x"+tt.want {
			t.Errorf("%q: %q, want %q", tt.line, got, tt.want)
		}
	}
	result := strings.Replace(claudeEnds, "yes", `a\u2028b`, 1)
	for version, want := range map[string]string{"2.1.310": "a\u2028b", "2.1.311": `a\u2028b`} {
		init := strings.Replace(claudeInit, "2.1.329", version, 1)
		for _, line := range []string{"-p x --output-format json", "-p x --output-format json --verbose"} {
			if got := first(render(line, []byte(init+result))); !strings.Contains(got, want) {
				t.Errorf("%s, %s: %s", version, line, got)
			}
		}
	}
}

// json has less than stream-json.
func TestClaudeLeavesOutOfJSON(t *testing.T) {
	init := strings.Replace(claudeInit, `"model":"m"`, `"capabilities":["a",`+claudeStreamOnlyCapability+`"b"]`, 1)
	result := strings.Replace(claudeEnds, `"result"`, `"model_usage_since_last_result":{"m":{"inputTokens":1}},"result"`, 2)
	stream := init + strings.Replace(result, `"type":"model_usage_since_last_result":{"m":{"inputTokens":1}},`, `"type":`, 1)
	wantInit := strings.Replace(claudeInit, `"model":"m"`, `"capabilities":["a","b"]`, 1)
	if got := first(render("-p x --output-format json", []byte(stream))); got != claudeEnds {
		t.Errorf("json: %s", got)
	}
	if got := first(render("-p x --output-format json --verbose", []byte(stream+"\n"))); got != claudeArray(wantInit, claudeEnds)+"\n" {
		t.Errorf("json with --verbose: %s", got)
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
