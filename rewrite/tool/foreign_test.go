package tool

import (
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/test/tooltest"
)

// A session with an unexpected event is not continued, and such an event names no session; the
// fields that can be read still count.
func TestOddEvents(t *testing.T) {
	claudeOdd := strings.Replace(tooltest.ClaudeEnds, `"is_error":false`,
		`"is_error":false,"api_error_status":"429"`, 1)
	claudeOddInit := strings.Replace(tooltest.ClaudeInit, `"model":"m"`, `"model":{"name":"m"}`, 1)
	tests := []struct {
		what          string
		stream        rewrite.Stream
		stdout, id    string
		failed, wrong bool
		answer        string
	}{
		{"claude's result", the("claude").Stream(rewrite.CommandLine{Format: rewrite.StreamJSON},
			rewrite.Plan{}, ""), tooltest.ClaudeInit + tooltest.ClaudeSays + claudeOdd,
			tooltest.SomeID, true, false, "yes"},
		{"claude's init", the("claude").Stream(rewrite.CommandLine{Format: rewrite.StreamJSON},
			rewrite.Plan{}, ""), claudeOddInit, "", false, false, ""},
		{"claude's init, and all else", the("claude").Stream(
			rewrite.CommandLine{Format: rewrite.StreamJSON}, rewrite.Plan{}, ""),
			claudeOddInit + tooltest.ClaudeSays + tooltest.ClaudeEnds, tooltest.SomeID, true, false,
			"yes"},
		{"claude's init of another session",
			the("claude").Stream(rewrite.CommandLine{Format: rewrite.StreamJSON},
				rewrite.Plan{Resume: tooltest.ForeignID}, ""), claudeOddInit, "", false, true, ""},
		{"claude's hooks", the("claude").Stream(rewrite.CommandLine{Format: rewrite.StreamJSON},
			rewrite.Plan{}, ""),
			`{"type":"system","subtype":"hook","model":7,"x":"init"}` + "\n" +
				`{"type":"novel","message":"result"}` + "\n" + `["result"]` + "\n" +
				tooltest.ClaudeInit + tooltest.ClaudeEnds, tooltest.SomeID, false, false, "yes"},
		{"claude's broken result", the("claude").Stream(
			rewrite.CommandLine{Format: rewrite.StreamJSON},
			rewrite.Plan{}, ""),
			tooltest.ClaudeInit + `{"type":"result",}` + "\n" + tooltest.ClaudeEnds,
			tooltest.SomeID, true, false, "yes"},
		{"what a tool says to claude, broken",
			the("claude").Stream(rewrite.CommandLine{Format: rewrite.StreamJSON}, rewrite.Plan{},
				""),
			tooltest.ClaudeInit + `{"type":"user","result",}` + "\n" + `{"type":"novel",}` + "\n" +
				tooltest.ClaudeEnds, tooltest.SomeID, false, false, "yes"},
		{"claude's result without is_error",
			the("claude").Stream(rewrite.CommandLine{Format: rewrite.StreamJSON}, rewrite.Plan{},
				""),
			tooltest.ClaudeInit + strings.Replace(tooltest.ClaudeEnds, `"is_error":false,`, "", 1),
			tooltest.SomeID, true, false, "yes"},
		{"codex's thread", the("codex").Stream(rewrite.CommandLine{Format: rewrite.JSON},
			rewrite.Plan{},
			""), `{"type":"thread.started","thread_id":"` + tooltest.SomeID + `","usage":[]}` +
			"\n", "", false, false, ""},
		{"codex's item", the("codex").Stream(rewrite.CommandLine{Format: rewrite.JSON},
			rewrite.Plan{},
			""), `{"type":"thread.started","thread_id":"` + tooltest.SomeID + `"}` + "\n" +
			`{"type":"item.completed","item":{"type":"agent_message","text":["yes"]}}` + "\n" +
			`{"type":"turn.completed","usage":{}}` + "\n", tooltest.SomeID, true, false, ""},
		{"gemini's init", the("gemini").Stream(rewrite.CommandLine{Format: rewrite.StreamJSON},
			rewrite.Plan{Resume: tooltest.ForeignID}, ""),
			`{"type":"init","session_id":"` + tooltest.SomeID + `","model":7}` + "\n", "", false,
			true, ""},
		{"gemini's message", the("gemini").Stream(rewrite.CommandLine{Format: rewrite.StreamJSON},
			rewrite.Plan{}, ""), `{"type":"message","role":"assistant","content":7}` + "\n" +
			`{"type":"result","status":"success"}` + "\n", "", true, false, ""},
		{"gemini's status", the("gemini").Stream(rewrite.CommandLine{Format: rewrite.StreamJSON},
			rewrite.Plan{}, ""), `{"type":"result"}` + "\n", "", true, false, ""},
		{"gemini's object", the("gemini").Stream(rewrite.CommandLine{Format: rewrite.JSON},
			rewrite.Plan{},
			""), "{\n\"session_id\":\"" + tooltest.SomeID +
			"\",\"response\":\"yes\",\"stats\":7\n}\n", "", true, false, "yes"},
		{"vibe's entry", the("vibe").Stream(rewrite.CommandLine{Format: rewrite.StreamJSON},
			rewrite.Plan{Resume: tooltest.ForeignID}, ""),
			`{"sessionId":"` + tooltest.SomeID + `","turnId":7,"type":"message","role":"user"}` +
				"\n", "", true, true, ""},
		{"vibe's unknown entry", the("vibe").Stream(rewrite.CommandLine{Format: rewrite.StreamJSON},
			rewrite.Plan{}, ""),
			`{"sessionId":"` + tooltest.SomeID + `","turnId":7,"type":"novel"}` + "\n", "", false,
			false, ""},
	}
	for _, tt := range tests {
		tooltest.Feed(tt.stream, []byte(tt.stdout), nil)
		if seen := tt.stream.Seen(); seen.ID != tt.id || seen.Failed != tt.failed ||
			seen.WrongID != tt.wrong || seen.Answer != tt.answer {
			t.Errorf("%s: id %q, failed %v, wrong %v, answer %q", tt.what, seen.ID, seen.Failed,
				seen.WrongID, seen.Answer)
		}
	}
	s := the("vibe").Stream(rewrite.CommandLine{Format: rewrite.Text}, rewrite.Plan{}, "")
	s.File("x/export.json",
		[]byte(`{"session_id":"`+tooltest.SomeID+`","outcome":"finished","steps":"1","cost_usd":"free"}`))
	s.File("x/checkpoint.json", []byte(`{"compaction_count":"1"}`))
	if seen := s.Seen(); seen.ID != "" || !seen.Final || !seen.Failed || !seen.Compacted ||
		seen.Usage.CostKnown {
		t.Errorf("vibe's export: %+v", seen)
	}
}

// A format that is rendered needs each line whole. By a format that the tool writes at the end, it
// does not learn that nobody reads, and nobody reads before.
func TestWhatStreamsNeed(t *testing.T) {
	const most = rewrite.LongestLine
	tests := []struct {
		tool          rewrite.Tool
		format        rewrite.Format
		resume        string
		max           int
		holds, prints bool
	}{
		{the("claude"), rewrite.Text, "", rewrite.NoLines, false, true},
		{the("claude"), rewrite.JSON, "", 0, true, true},
		{the("claude"), rewrite.JSONVerbose, "", 0, true, true},
		{the("claude"), rewrite.StreamJSON, "", most, false, false},
		{the("codex"), rewrite.Text, "", rewrite.NoLines, false, false},
		{the("codex"), rewrite.StreamJSON, "", most, false, false},
		{the("gemini"), rewrite.Text, "", rewrite.NoLines, false, false},
		{the("gemini"), rewrite.JSON, "", 0, false, true},
		{the("gemini"), rewrite.StreamJSON, "", most, false, false},
		{the("vibe"), rewrite.Text, tooltest.SomeID, rewrite.NoLines, false, true},
		{the("vibe"), rewrite.JSON, "", rewrite.NoLines, false, true},
		{the("vibe"), rewrite.JSON, tooltest.SomeID, rewrite.NoLines, true, true},
		{the("vibe"), rewrite.StreamJSON, tooltest.SomeID, most, false, false},
		{the("qwen"), rewrite.Text, "", rewrite.NoLines, true, true},
		{the("qwen"), rewrite.JSON, "", 0, true, true},
		{the("qwen"), rewrite.StreamJSON, "", most, false, false},
		{the("droid"), rewrite.Text, "", 0, true, true},
		{the("droid"), rewrite.JSON, "", 0, true, true},
		{the("droid"), rewrite.StreamJSON, "", most, false, false},
		{the("copilot"), rewrite.Text, "", rewrite.NoLines, false, false},
		{the("opencode"), rewrite.Text, "", rewrite.NoLines, false, false},
	}
	for _, tt := range tests {
		s := tt.tool.Stream(rewrite.CommandLine{Format: tt.format}, rewrite.Plan{Resume: tt.resume},
			"")
		if s.MaxLine() != tt.max || s.HoldsOutput() != tt.holds || s.PrintsAtEnd() != tt.prints {
			t.Errorf("%s %s %q: %d, %v, %v", tt.tool.Descriptor().Name, tt.format, tt.resume,
				s.MaxLine(), s.HoldsOutput(), s.PrintsAtEnd())
		}
	}
}
