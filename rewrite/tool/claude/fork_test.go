package claude

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/test/tooltest"
)

// entry is a line of a transcript.
func entry(kind, uuid, more string) string {
	return `{"parentUuid":null,"isSidechain":false,"type":"` + kind + `","uuid":"` + uuid + `"` +
		more + "}\n"
}

func TestClaudeForkPoint(t *testing.T) {
	const a, b = "aaaaaaaa-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002"
	tests := map[string]struct{ tail, want string }{
		"an answer": {entry("user", a, "") + entry("assistant", b, ""), b},
		"what belongs to it": {entry("assistant", a, "") + entry("attachment", b, ""),
			b},
		"what a hook said": {entry("assistant", a, "") +
			entry("system", b, `,"subtype":"stop_hook_summary"`), b},
		"records behind": {entry("assistant", b, "") +
			`{"type":"last-prompt","leafUuid":"` + a + `"}` + "\n" + `{"type":"cost-state"}` + "\n",
			b},
		"an entry that is no message": {entry("assistant", b, "") + entry("progress", a, ""), b},
		"a subagent's": {entry("assistant", b, "") +
			strings.Replace(entry("assistant", a, ""), "false", "true", 1), b},
		"an id in an answer": {entry("assistant", b, `,"message":{"uuid":"`+a+`"}`), b},
		"no id": {entry("assistant", a, "") + entry("assistant", "", ""),
			""},
		"no id of its form": {entry("assistant", a, "") +
			entry("assistant", "--dangerously-skip-permissions", ""), ""},
		"a line that is not JSON": {entry("assistant", a, "") + "turn\n", ""},
		"a line that was cut": {entry("assistant", a, "") +
			`{"type":"assistant","uuid":"` + b + "\n", ""},
		"an empty line":                 {entry("assistant", a, "") + "\n", ""},
		"no message":                    {`{"type":"cost-state"}` + "\n", ""},
		"nothing":                       {"", ""},
		"something before, that is cut": {"half a line\n" + entry("assistant", b, ""), b},
	}
	for name, tt := range tests {
		if got := tool.ForkPoint([]byte(tt.tail)); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestClaudePlansAFork(t *testing.T) {
	const at = "aaaaaaaa-0000-4000-8000-000000000001"
	p := tool.Plan(parse("-p OLD --tools A"),
		tooltest.To{ID: tooltest.SomeID, NewID: tooltest.ForeignID, Copied: true, ForkAt: at,
			Prompt: "NEW WORDS", Asked: "OLD"}.Target())
	want := "-p --resume " + tooltest.SomeID + " --fork-session --resume-session-at " + at +
		" --session-id " + tooltest.ForeignID + " NEW WORDS --tools A"
	if got := strings.Join(p.Args, " "); got != want || p.Resume != tooltest.SomeID || !p.Copy {
		t.Errorf("%q of %q, copied %v, want %q", got, p.Resume, p.Copy, want)
	}
	p = tool.Plan(parse("-p OLD --tools A"),
		tooltest.To{ID: tooltest.SomeID, NewID: tooltest.ForeignID, Copied: true,
			Prompt: "NEW WORDS", Asked: "OLD"}.Target())
	want = "-p --resume " + tooltest.SomeID + " --fork-session --session-id " + tooltest.ForeignID +
		" NEW WORDS --tools A"
	if got := strings.Join(p.Args, " "); got != want || p.Resume != tooltest.SomeID || !p.Copy {
		t.Errorf("%q of %q, copied %v, want %q", got, p.Resume, p.Copy, want)
	}
}

func TestClaudeSeesAFork(t *testing.T) {
	const copied, forked = "2c6cd948-06ab-4fd7-8b35-e8471cf5c3db", "resume-fork-stream"
	for name, tt := range map[string]struct {
		recording string
		wrong     bool
	}{"another id": {forked, false}, "the id of what was to be copied": {"resume-ok-stream",
		true}} {
		s := tool.Stream(parse("-p x --output-format stream-json"),
			rewrite.Plan{Resume: copied, Copy: true}, "")
		for l := range bytes.Lines(recording(t, tt.recording)) {
			s.Line(l)
			if got := s.Seen(); got.WrongID != tt.wrong && got.ID != "" {
				t.Fatalf("%s: wrong %v, after %.100s", name, got.WrongID, l)
			}
		}
		if got := s.Seen(); got.Content == tt.wrong || !got.Final {
			t.Errorf("%s: content %v, final %v", name, got.Content, got.Final)
		}
	}
}

// claude's error about a message that it does not find names a session that was never there.
func TestClaudeRefusesAFork(t *testing.T) {
	s := tool.Stream(parse("-p x --output-format stream-json"),
		rewrite.Plan{Resume: tooltest.SomeID, Copy: true}, "")
	s.Line([]byte(`{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"session_id":` +
		`"b949bc3b-1b0f-41b4-b199-7be8fd1d96c4","total_cost_usd":0,"modelUsage":{},"errors":["No message found with message.uuid of: x"]}` + "\n"))
	if got := s.Seen(); got.Refusal != reason.RefusedBroken || got.ID != "" || got.WrongID {
		t.Errorf("refusal %q, id %q, wrong %v", got.Refusal, got.ID, got.WrongID)
	}
	for text, want := range map[string]reason.Code{
		"error: unknown option '--resume'":            reason.RefusedNoResume,
		"error: unknown option '--resume-session-at'": reason.RefusedSilent,
		"error: unknown option '--fork-session'":      reason.RefusedSilent,
	} {
		if got := tool.Refused(text, 1); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// A copy takes over the whole cost of the session, even if only a part of that is known.
func TestClaudeFiguresOfAFork(t *testing.T) {
	init := `{"type":"system","subtype":"init","session_id":"` + tooltest.SomeID +
		`","claude_code_version":"2.1.329"}` + "\n"
	known := rewrite.Totals(
		`{"total_cost_usd":0.25,"modelUsage\tm\tinputTokens":3,"modelUsage\tm\tcostUSD":0.25}`)
	result := func(cost float64, tokens int, since string) string {
		text, err := json.Marshal(cost)
		if err != nil {
			t.Fatal(err)
		}
		n, err := json.Marshal(tokens)
		if err != nil {
			t.Fatal(err)
		}
		return `{"total_cost_usd":` + string(text) + `,"modelUsage":{"m":{"inputTokens":` +
			string(n) + `,"costUSD":` + string(text) +
			`,"contextWindow":1000}},"type":"result","subtype":"success","result":"x"` + since +
			"}\n"
	}
	const since = `,"model_usage_since_last_result":{"m":{"inputTokens":2,"costUSD":0.125,"contextWindow":1000}}`
	const smaller = `,"model_usage_since_last_result":{"m":{"inputTokens":2,"costUSD":0.125,"contextWindow":900}}`
	const dearer = `,"model_usage_since_last_result":{"m":{"inputTokens":2,"costUSD":0.5,"contextWindow":1000}}`
	const again = `,"model_usage_since_last_result":{"m":{"inputTokens":5,"costUSD":0.5,"contextWindow":1000}}`
	tests := map[string]struct{ lines, want []string }{
		"nothing else meanwhile": {[]string{result(0.375, 5, since)},
			[]string{result(0.125, 2, since)}},
		"another run meanwhile": {[]string{result(1.125, 9, since)},
			[]string{result(0.125, 2, since)}},
		"another window meanwhile": {[]string{result(0.375, 5, smaller)},
			[]string{result(0.125, 2, smaller)}},
		"a version that says less": {[]string{result(0.375, 5, "")},
			[]string{result(0.125, 2, "")}},
		"another turn of this call": {[]string{result(1.125, 9, since), result(1.625, 14, again)},
			[]string{result(0.125, 2, since), result(0.625, 7, again)}},
	}
	for name, tt := range tests {
		s := tool.Stream(parse("-p x --output-format stream-json"),
			rewrite.Plan{Resume: "2c6cd948-06ab-4fd7-8b35-e8471cf5c3db", Copy: true}, known)
		s.Line([]byte(init))
		for i, line := range tt.lines {
			if got := string(s.Line([]byte(line))); got != tt.want[i] {
				t.Errorf("%s: %s\nwant %s", name, got, tt.want[i])
			}
		}
		if u := s.Seen().Usage; len(tt.lines) == 1 && (u.CostNano != 125_000_000 || u.Input != 2) {
			t.Errorf("%s: usage %+v", name, u)
		}
	}
	// A run that says that it took more than all is not believed to have begun below nothing.
	s := tool.Stream(parse("-p x --output-format stream-json"),
		rewrite.Plan{Resume: "2c6cd948-06ab-4fd7-8b35-e8471cf5c3db", Copy: true}, known)
	s.Line([]byte(init))
	if got, want := string(s.Line([]byte(result(0.375, 5, dearer)))),
		result(0.375, 2, dearer); got != want {
		t.Errorf("a result that took more than all: %s\nwant %s", got, want)
	}
}
