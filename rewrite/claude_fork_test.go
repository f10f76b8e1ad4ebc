package rewrite

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// entry is a line of a transcript.
func entry(kind, uuid, more string) string {
	return `{"parentUuid":null,"isSidechain":false,"type":"` + kind + `","uuid":"` + uuid + `"` + more + "}\n"
}

func TestClaudeForkPoint(t *testing.T) {
	const a, b = "aaaaaaaa-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002"
	tests := map[string]struct{ tail, want string }{
		"an answer":                     {entry("user", a, "") + entry("assistant", b, ""), b},
		"what belongs to it":            {entry("assistant", a, "") + entry("attachment", b, ""), b},
		"what a hook said":              {entry("assistant", a, "") + entry("system", b, `,"subtype":"stop_hook_summary"`), b},
		"records behind":                {entry("assistant", b, "") + `{"type":"last-prompt","leafUuid":"` + a + `"}` + "\n" + `{"type":"cost-state"}` + "\n", b},
		"an entry that is no message":   {entry("assistant", b, "") + entry("progress", a, ""), b},
		"a subagent's":                  {entry("assistant", b, "") + strings.Replace(entry("assistant", a, ""), "false", "true", 1), b},
		"an id in an answer":            {entry("assistant", b, `,"message":{"uuid":"`+a+`"}`), b},
		"no id":                         {entry("assistant", a, "") + entry("assistant", "", ""), ""},
		"no id of its form":             {entry("assistant", a, "") + entry("assistant", "--dangerously-skip-permissions", ""), ""},
		"a line that is not JSON":       {entry("assistant", a, "") + "turn\n", ""},
		"a line that was cut":           {entry("assistant", a, "") + `{"type":"assistant","uuid":"` + b + "\n", ""},
		"an empty line":                 {entry("assistant", a, "") + "\n", ""},
		"no message":                    {`{"type":"cost-state"}` + "\n", ""},
		"nothing":                       {"", ""},
		"something before, that is cut": {"half a line\n" + entry("assistant", b, ""), b},
	}
	for name, tt := range tests {
		if got := (claude{}).ForkPoint([]byte(tt.tail)); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// Only tools that can make a copy are asked for one. An unknown version of claude is asked for none.
func TestWhoCopies(t *testing.T) {
	for version, want := range map[string]bool{"": false, "1.0.124": false, "2.0.72": false, "2.0.73": true, "2.1.329": true} {
		if c := (claude{}).ResolveWithEnv(parse("-p x"), HostEnv{Version: version}); c.Copies != want {
			t.Errorf("claude %q: %v", version, c.Copies)
		}
	}
	for version, want := range map[string]bool{"": false, "0.21.10": false, "0.23.4": true, "0.24.4": true} {
		if c := (qwen{}).ResolveWithEnv(Call{Mode: Fresh}, HostEnv{Version: version}); c.Copies != want {
			t.Errorf("qwen %q: %v", version, c.Copies)
		}
	}
	for _, tool := range tools {
		if name := tool.Descriptor().Name; name == "claude" || name == "droid" || name == "qwen" {
			continue
		}
		c := tool.ResolveWithEnv(Call{Mode: Fresh}, HostEnv{Version: "99.0.0"})
		if point := tool.ForkPoint([]byte(entry("assistant", someID, ""))); c.Copies || point != "" {
			t.Errorf("%s forks %v, at %q", tool.Descriptor().Name, c.Copies, point)
		}
	}
}

func TestForkIsSentWhatAResumeIs(t *testing.T) {
	long := "You are the coder.\n\n" + strings.Repeat("Keep functions small. ", 200)
	p := prompt.New(long+"\n\nThe contract.\n\nA note.", toolKey)
	c := prompt.Compare(namedSent(long+"\n\nThe contract."), p)
	for _, always := range []bool{false, true} {
		resume, fork, copied := ToResume(someID, p, c, always), ToFork(someID, someID, p, c, always), ToCopy(someID, p, c, always)
		text, whole := resume.Prompt()
		if got, all := copied.Prompt(); got != text || all != whole || copied.Session() != someID || !copied.Copied() || copied.ForkAt() != "" {
			t.Errorf("%q (%v) to a copy of %q, want %q", got, all, copied.Session(), text)
		}
		if got, all := fork.Prompt(); got != text || all != whole || whole != always || fork.Session() != someID || fork.ForkAt() != someID {
			t.Errorf("%q (%v) to session %q at %q, want %q", got, all, fork.Session(), fork.ForkAt(), text)
		}
		if resume.ForkAt() != "" || resume.Copied() || !fork.Copied() {
			t.Errorf("a resume ends at %q, in a copy: %v, a fork: %v", resume.ForkAt(), resume.Copied(), fork.Copied())
		}
	}
	fork := ToFork(someID, "", p, c, false)
	if text, whole := fork.Prompt(); text != p.Text || !whole || fork.Session() != "" {
		t.Errorf("without a message to end with: %q to session %q", text, fork.Session())
	}
}

func TestClaudePlansAFork(t *testing.T) {
	const at = "aaaaaaaa-0000-4000-8000-000000000001"
	p := claude{}.Plan(parse("-p OLD --tools A"), Target{id: someID, newID: foreignID, copied: true, forkAt: at, prompt: "NEW WORDS", asked: "OLD"})
	want := "--resume " + someID + " --fork-session --resume-session-at " + at + " --session-id " + foreignID + " -p NEW WORDS --tools A"
	if got := strings.Join(p.Args, " "); got != want || p.Resume != someID || !p.Copy {
		t.Errorf("%q of %q, copied %v, want %q", got, p.Resume, p.Copy, want)
	}
	p = claude{}.Plan(parse("-p OLD --tools A"), Target{id: someID, newID: foreignID, copied: true, prompt: "NEW WORDS", asked: "OLD"})
	want = "--resume " + someID + " --fork-session --session-id " + foreignID + " -p NEW WORDS --tools A"
	if got := strings.Join(p.Args, " "); got != want || p.Resume != someID || !p.Copy {
		t.Errorf("%q of %q, copied %v, want %q", got, p.Resume, p.Copy, want)
	}
}

func TestClaudeSeesAFork(t *testing.T) {
	const copied, forked = "2c6cd948-06ab-4fd7-8b35-e8471cf5c3db", "resume-fork-stream"
	for name, tt := range map[string]struct {
		recording string
		wrong     bool
	}{"another id": {forked, false}, "the id of what was to be copied": {"resume-ok-stream", true}} {
		s := (claude{}).Stream(parse("-p x --output-format stream-json"), Plan{Resume: copied, Copy: true}, "")
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

// What claude says when it does not find the message names a session that was never
// there.
func TestClaudeRefusesAFork(t *testing.T) {
	s := (claude{}).Stream(parse("-p x --output-format stream-json"), Plan{Resume: someID, Copy: true}, "")
	s.Line([]byte(`{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"session_id":` +
		`"b949bc3b-1b0f-41b4-b199-7be8fd1d96c4","total_cost_usd":0,"modelUsage":{},"errors":["No message found with message.uuid of: x"]}` + "\n"))
	if got := s.Seen(); got.Refusal != reason.RefusedBroken || got.ID != "" || got.WrongID {
		t.Errorf("refusal %q, id %q, wrong %v", got.Refusal, got.ID, got.WrongID)
	}
	for text, want := range map[string]reason.Code{
		"error: unknown option '--resume'": reason.RefusedNoResume, "error: unknown option '--resume-session-at'": reason.RefusedSilent,
		"error: unknown option '--fork-session'": reason.RefusedSilent,
	} {
		if got := (claude{}).Refused(text, 1); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// A copy takes over the cost of all that the session took, whatever of it was known.
func TestClaudeFiguresOfAFork(t *testing.T) {
	init := `{"type":"system","subtype":"init","session_id":"` + someID + `","claude_code_version":"2.1.329"}` + "\n"
	known := Totals(`{"total_cost_usd":0.25,"modelUsage\tm\tinputTokens":3,"modelUsage\tm\tcostUSD":0.25}`)
	result := func(cost float64, tokens int, since string) string {
		text, err := json.Marshal(cost)
		if err != nil {
			t.Fatal(err)
		}
		n, err := json.Marshal(tokens)
		if err != nil {
			t.Fatal(err)
		}
		return `{"total_cost_usd":` + string(text) + `,"modelUsage":{"m":{"inputTokens":` + string(n) + `,"costUSD":` + string(text) +
			`,"contextWindow":1000}},"type":"result","subtype":"success","result":"x"` + since + "}\n"
	}
	const since = `,"model_usage_since_last_result":{"m":{"inputTokens":2,"costUSD":0.125,"contextWindow":1000}}`
	const smaller = `,"model_usage_since_last_result":{"m":{"inputTokens":2,"costUSD":0.125,"contextWindow":900}}`
	const dearer = `,"model_usage_since_last_result":{"m":{"inputTokens":2,"costUSD":0.5,"contextWindow":1000}}`
	const again = `,"model_usage_since_last_result":{"m":{"inputTokens":5,"costUSD":0.5,"contextWindow":1000}}`
	tests := map[string]struct{ lines, want []string }{
		"nothing else meanwhile":    {[]string{result(0.375, 5, since)}, []string{result(0.125, 2, since)}},
		"another run meanwhile":     {[]string{result(1.125, 9, since)}, []string{result(0.125, 2, since)}},
		"another window meanwhile":  {[]string{result(0.375, 5, smaller)}, []string{result(0.125, 2, smaller)}},
		"a version that says less":  {[]string{result(0.375, 5, "")}, []string{result(0.125, 2, "")}},
		"another turn of this call": {[]string{result(1.125, 9, since), result(1.625, 14, again)}, []string{result(0.125, 2, since), result(0.625, 7, again)}},
	}
	for name, tt := range tests {
		s := (claude{}).Stream(parse("-p x --output-format stream-json"), Plan{Resume: "2c6cd948-06ab-4fd7-8b35-e8471cf5c3db", Copy: true}, known)
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
	s := (claude{}).Stream(parse("-p x --output-format stream-json"), Plan{Resume: "2c6cd948-06ab-4fd7-8b35-e8471cf5c3db", Copy: true}, known)
	s.Line([]byte(init))
	if got, want := string(s.Line([]byte(result(0.375, 5, dearer)))), result(0.375, 2, dearer); got != want {
		t.Errorf("a result that took more than all: %s\nwant %s", got, want)
	}
}
