package rewrite

import (
	"strings"
	"testing"
)

// events of a claude that prints each turn's result, and what its formats make of them.
const (
	claudeInit      = `{"type":"system","subtype":"init","session_id":"` + someID + `","model":"m","claude_code_version":"2.1.329"}` + "\n"
	claudeOldInit   = `{"type":"system","subtype":"init","session_id":"` + someID + `","model":"m","claude_code_version":"2.1.197"}` + "\n"
	claudeSays      = `{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"yes"}]},"session_id":"` + someID + `"}` + "\n"
	claudeToolSays  = `{"type":"user","message":{"content":[{"type":"tool_result","content":"x"}]},"session_id":"` + someID + `"}` + "\n"
	claudeEnds      = `{"type":"result","subtype":"success","is_error":false,"result":"yes","session_id":"` + someID + `"}` + "\n"
	claudeEndsAgain = `{"type":"result","subtype":"success","is_error":false,"result":"no","session_id":"` + someID + `"}` + "\n"
)

func claudeArray(lines ...string) string {
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\n")
	}
	return "[" + strings.Join(lines, ",") + "]\n"
}

// What stands on stdout and is no event is somebody's word to the caller: it is shown in
// its place. Before and after the array or the object that a format ends with is where
// the tool itself would have had it.
func TestClaudeShowsWhatIsNoEvent(t *testing.T) {
	tests := []struct{ what, stdout, text, json, verbose string }{
		{"a banner", "Hello.\n" + claudeInit + claudeEnds,
			"Hello.\nyes\n", "Hello.\n" + claudeEnds, "Hello.\n" + claudeArray(claudeInit, claudeEnds)},
		{"lines between", claudeInit + "a\n" + claudeSays + "b\n\n" + claudeToolSays + claudeEnds,
			"a\nb\n\nyes\n", "a\nb\n\n" + claudeEnds, "a\nb\n\n" + claudeArray(claudeInit, claudeSays, claudeToolSays, claudeEnds)},
		{"lines behind", claudeInit + claudeEnds + "Bye.\n[done]",
			"yes\nBye.\n[done]", claudeEnds + "Bye.\n[done]", claudeArray(claudeInit, claudeEnds) + "Bye.\n[done]"},
		{"lines behind, of an old version", claudeOldInit + claudeEnds + "Bye.\n",
			"yes\nBye.\n", claudeEnds + "Bye.\n", claudeArray(claudeOldInit, claudeEnds) + "Bye.\n"},
		{"lines between two results", claudeInit + claudeEnds + "more\n" + claudeEndsAgain,
			"yes\nmore\n\nno\n", "more\n" + claudeEndsAgain, "more\n" + claudeArray(claudeInit, claudeEnds, claudeEndsAgain)},
		{"the same, of an old version", claudeOldInit + claudeEnds + "more\n" + claudeEndsAgain,
			"more\nno\n", "more\n" + claudeEndsAgain, "more\n" + claudeArray(claudeOldInit, claudeEnds, claudeEndsAgain)},
		{"an event after them", claudeInit + claudeEnds + "more\n" + claudeSays,
			"yes\nmore\n", "more\n" + claudeEnds, "more\n" + claudeArray(claudeInit, claudeEnds, claudeSays)},
		{"no events", "plain\n\ntext", "plain\n\ntext", "plain\n\ntext", "plain\n\ntext"},
		{"an object in lines", "{\n  \"result\": 7\n}\n", "{\n  \"result\": 7\n}\n", "{\n  \"result\": 7\n}\n", "{\n  \"result\": 7\n}\n"},
		{"objects without a type", "{}\n{\"result\":\"x\"}\n[]\n7\n", "{}\n{\"result\":\"x\"}\n[]\n7\n", "{}\n{\"result\":\"x\"}\n[]\n7\n", "{}\n{\"result\":\"x\"}\n[]\n7\n"},
		{"an event that is none", claudeInit + `{"type":"user",` + "\n" + `{"type":"result",}` + "\n",
			`{"type":"user",` + "\n" + `{"type":"result",}` + "\n", `{"type":"user",` + "\n" + `{"type":"result",}` + "\n",
			`{"type":"user",` + "\n" + `{"type":"result",}` + "\n"},
		{"a crash in a line", claudeInit + "panic: out of", "panic: out of", "panic: out of", "panic: out of"},
		{"a crash in an event", claudeInit + claudeSays[:40], "", "", ""},
		{"an unknown event", claudeInit + `{"type":"novel","text":"x"}` + "\n" + claudeEnds,
			"yes\n", claudeEnds, claudeArray(claudeInit, `{"type":"novel","text":"x"}`, claudeEnds)},
	}
	for _, tt := range tests {
		for line, want := range map[string]string{"-p x": tt.text, "-p x --output-format json": tt.json,
			"-p x --output-format json --verbose": tt.verbose, "-p x --output-format stream-json": tt.stdout} {
			if got := first(render(line, []byte(tt.stdout))); got != want {
				t.Errorf("%s, %s: %q, want %q", tt.what, line, got, want)
			}
		}
	}
}

// Much that stands behind a result is not held back: the tool has ended.
func TestClaudeHoldsLittleBack(t *testing.T) {
	for line, first := range map[string]string{"-p x --output-format json": claudeEnds,
		"-p x --output-format json --verbose": claudeArray(claudeOldInit, claudeEnds), "-p x": "yes\n"} {
		s := claude{}.Stream(parse(line), Plan{}, "")
		for _, event := range []string{claudeOldInit, claudeEnds} {
			if got := s.Line([]byte(event)); len(got) > 0 {
				t.Errorf("%s: %q at once", line, got)
			}
		}
		much := strings.Repeat("x", maxBacklog-1) + "\n"
		if got := s.Line([]byte(much)); len(got) > 0 {
			t.Errorf("%s: %d bytes at once", line, len(got))
		}
		if got := string(s.Line([]byte("\n"))); got != first+much+"\n" {
			t.Errorf("%s: %d bytes of %d", line, len(got), len(first+much)+1)
		}
		if got := string(s.Line([]byte("more\n"))) + string(s.End()); got != "more\n" {
			t.Errorf("%s: then %q", line, got)
		}
	}
}

// Where no result comes, what was not shown since the model last spoke is kept.
func TestClaudeKeepsWhatWasNotShown(t *testing.T) {
	const novel = `{"type":"outcome","answer":"yes"}` + "\n"
	tests := []struct{ stdout, text, verbose string }{
		{claudeInit + claudeSays + claudeToolSays + claudeSays + novel, claudeSays + novel,
			claudeArray(claudeInit, claudeSays, claudeToolSays, claudeSays, novel)},
		{claudeInit, claudeInit, claudeArray(claudeInit)},
		{claudeInit + claudeSays[:40], claudeInit + claudeSays[:40], claudeArray(claudeInit) + claudeSays[:40]},
		{claudeInit + claudeSays + claudeEnds, "", ""},
		{"plain", "", ""},
	}
	for _, tt := range tests {
		for line, want := range map[string]string{"-p x": tt.text, "-p x --output-format json": tt.text,
			"-p x --output-format json --verbose": tt.verbose, "-p x --output-format stream-json": ""} {
			_, seen := render(line, []byte(tt.stdout))
			if got := string(seen.Unshown); got != want {
				t.Errorf("%s of %q: %q, want %q", line, tt.stdout, got, want)
			}
		}
	}
	var b backlog
	for range 3 {
		b.add([]byte(strings.Repeat("x", maxBacklog/2) + "\n"))
	}
	if len(b) != maxBacklog/2+1 {
		t.Errorf("%d bytes are kept", len(b))
	}
}

// A resumed run's json is cut wherever the array stands, and shown as it is where it is
// not as expected.
func TestVibeShowsWhatIsNoEntry(t *testing.T) {
	const (
		old    = `{"sessionId":"` + someID + `","turnId":"a","type":"message","role":"user"}`
		prompt = `{"sessionId":"` + someID + `","turnId":"b","type":"message","role":"user"}`
		bare   = `{"sessionId":"` + someID + `","type":"message","role":"user"}`
		says   = `{"sessionId":"` + someID + `","turnId":"b","type":"message","role":"assistant","content":[{"text":"yes"}]}`
		odd    = `{"sessionId":"` + someID + `","turnId":"b","type":"message","role":"assistant","content":"yes"}`
		aside  = `{"sessionId":"` + someID + `","type":"checkpoint","kind":"x"}`
	)
	tests := []struct {
		what, stdout, want string
		failed             bool
	}{
		{"a blank line", "\n[" + old + "," + prompt + "," + says + "]\n", "\n[" + prompt + "," + says + "]\n", false},
		{"one turn", "[" + old + "]\n", "[" + old + "]\n", false},
		{"an entry without a turn", "[" + old + "," + prompt + "," + aside + "," + says + "]\n", "[" + prompt + "," + aside + "," + says + "]\n", false},
		{"one before the prompt", "[" + old + "," + aside + "," + prompt + "," + says + "]\n", "[" + prompt + "," + says + "]\n", false},
		{"one behind a prompt without a turn", "[" + old + "," + bare + "," + aside + "," + says + "]\n", "[" + says + "]\n", false},
		{"a banner", "Hello.\n[not yet]\n[" + old + "," + prompt + "," + says + "]\n", "Hello.\n[not yet]\n[" + prompt + "," + says + "]\n", false},
		{"lines behind", "[" + old + "," + prompt + "," + says + "]\nBye.\n[done]", "[" + prompt + "," + says + "]\nBye.\n[done]", false},
		{"a prompt without a turn", "[" + old + "," + bare + "," + says + "]\n", "[" + bare + "," + says + "]\n", false},
		{"a turn that is only looked like", "[" + bare + "," + old + "," + says + "]\n", "[" + says + "]\n", false},
		{"an answer of another type", "[" + prompt + "," + odd + "]\n", "[" + prompt + "," + odd + "]\n", true},
		{"no array", "plain\n[text]\n", "plain\n[text]\n", false},
	}
	for _, tt := range tests {
		got, seen := vibeShow(vibeCall("-p x --output json"), Plan{Resume: someID}, []byte(tt.stdout))
		if got != tt.want || seen.Failed != tt.failed {
			t.Errorf("%s: %q, failed %v, want %q", tt.what, got, seen.Failed, tt.want)
		}
		if fresh, _ := vibeShow(vibeCall("-p x --output json"), Plan{}, []byte(tt.stdout)); fresh != tt.stdout {
			t.Errorf("%s, fresh: %q", tt.what, fresh)
		}
	}
	// An array that was cut short holds earlier turns, which the caller is not shown unless vibe takes the run for whole.
	for banner, array := range map[string]string{"": "[" + old + "," + prompt[:20], "Hello.\n": "[" + old, "\n": "["} {
		if got, seen := vibeShow(vibeCall("-p x --output json"), Plan{Resume: someID}, []byte(banner+array)); got != banner || string(seen.Unshown) != array || seen.ID != "" {
			t.Errorf("cut short behind %q: %q, and %q unshown", banner, got, seen.Unshown)
		}
	}
}

// Every entry of a session must be of the session that was asked for, and a compaction counts whenever it was.
func TestVibeReadsEarlierTurns(t *testing.T) {
	entry := func(id, turn, rest string) string {
		return `{"sessionId":"` + id + `","turnId":"` + turn + `",` + rest + `}`
	}
	const asks, says = `"type":"message","role":"user"`, `"type":"message","role":"assistant","content":[{"text":"yes"}]`
	for _, tt := range []struct {
		what, earlier    string
		wrong, compacted bool
	}{
		{"its own", entry(someID, "a", asks), false, false},
		{"another session's", entry(foreignID, "a", asks), true, false},
		{"a compaction", entry(someID, "a", `"type":"checkpoint","kind":"compaction"`), false, true},
		{"another checkpoint", entry(someID, "a", `"type":"checkpoint","kind":"novel"`), false, false},
		{"a message of that kind", entry(someID, "a", `"type":"message","kind":"compaction"`), false, false},
		{"a compaction, and more", entry(someID, "a", `"type":"checkpoint","kind":"compaction"`) + "," + entry(someID, "a", asks), false, true},
	} {
		_, seen := vibeShow(vibeCall("-p x --output json"), Plan{Resume: someID},
			[]byte("["+tt.earlier+","+entry(someID, "b", asks)+","+entry(someID, "b", says)+"]\n"))
		if seen.WrongID != tt.wrong || seen.Content == tt.wrong || seen.Compacted != tt.compacted {
			t.Errorf("%s: wrong %v, content %v, compacted %v", tt.what, seen.WrongID, seen.Content, seen.Compacted)
		}
	}
}

// A session with an event that was not as expected is not one to go on with, and such an
// event names none; what there is to see of it still counts.
func TestOddEvents(t *testing.T) {
	claudeOdd := strings.Replace(claudeEnds, `"is_error":false`, `"is_error":false,"api_error_status":"429"`, 1)
	claudeOddInit := strings.Replace(claudeInit, `"model":"m"`, `"model":{"name":"m"}`, 1)
	tests := []struct {
		what          string
		stream        Stream
		stdout, id    string
		failed, wrong bool
		answer        string
	}{
		{"claude's result", claude{}.Stream(Call{Format: Text}, Plan{}, ""), claudeInit + claudeSays + claudeOdd, someID, true, false, "yes"},
		{"claude's init", claude{}.Stream(Call{Format: Text}, Plan{}, ""), claudeOddInit, "", false, false, ""},
		{"claude's init, and all else", claude{}.Stream(Call{Format: Text}, Plan{}, ""), claudeOddInit + claudeSays + claudeEnds, someID, true, false, "yes"},
		{"claude's init of another session", claude{}.Stream(Call{Format: Text}, Plan{Resume: foreignID}, ""), claudeOddInit, "", false, true, ""},
		{"claude's hooks", claude{}.Stream(Call{Format: Text}, Plan{}, ""),
			`{"type":"system","subtype":"hook","model":7,"x":"init"}` + "\n" + `{"type":"novel","message":"result"}` + "\n" + `["result"]` + "\n" + claudeInit + claudeEnds, someID, false, false, "yes"},
		{"claude's broken result", claude{}.Stream(Call{Format: Text}, Plan{}, ""),
			claudeInit + `{"type":"result",}` + "\n" + claudeEnds, someID, true, false, "yes"},
		{"what a tool says to claude, broken", claude{}.Stream(Call{Format: Text}, Plan{}, ""),
			claudeInit + `{"type":"user","result",}` + "\n" + `{"type":"novel",}` + "\n" + claudeEnds, someID, false, false, "yes"},
		{"claude's result without is_error", claude{}.Stream(Call{Format: Text}, Plan{}, ""),
			claudeInit + strings.Replace(claudeEnds, `"is_error":false,`, "", 1), someID, true, false, "yes"},
		{"codex's thread", codex{}.Stream(Call{Format: JSON}, Plan{}, ""), `{"type":"thread.started","thread_id":"` + someID + `","usage":[]}` + "\n", "", false, false, ""},
		{"codex's item", codex{}.Stream(Call{Format: JSON}, Plan{}, ""), `{"type":"thread.started","thread_id":"` + someID + `"}` + "\n" +
			`{"type":"item.completed","item":{"type":"agent_message","text":["yes"]}}` + "\n" + `{"type":"turn.completed","usage":{}}` + "\n", someID, true, false, ""},
		{"gemini's init", gemini{}.Stream(Call{Format: StreamJSON}, Plan{Resume: foreignID}, ""), `{"type":"init","session_id":"` + someID + `","model":7}` + "\n", "", false, true, ""},
		{"gemini's message", gemini{}.Stream(Call{Format: StreamJSON}, Plan{}, ""), `{"type":"message","role":"assistant","content":7}` + "\n" +
			`{"type":"result","status":"success"}` + "\n", "", true, false, ""},
		{"gemini's status", gemini{}.Stream(Call{Format: StreamJSON}, Plan{}, ""), `{"type":"result"}` + "\n", "", true, false, ""},
		{"gemini's object", gemini{}.Stream(Call{Format: JSON}, Plan{}, ""), "{\n\"session_id\":\"" + someID + "\",\"response\":\"yes\",\"stats\":7\n}\n", "", true, false, "yes"},
		{"vibe's entry", vibe{}.Stream(Call{Format: StreamJSON}, Plan{Resume: foreignID}, ""),
			`{"sessionId":"` + someID + `","turnId":7,"type":"message","role":"user"}` + "\n", "", true, true, ""},
		{"vibe's unknown entry", vibe{}.Stream(Call{Format: StreamJSON}, Plan{}, ""),
			`{"sessionId":"` + someID + `","turnId":7,"type":"novel"}` + "\n", "", false, false, ""},
	}
	for _, tt := range tests {
		codexRun(tt.stream, []byte(tt.stdout), nil)
		if seen := tt.stream.Seen(); seen.ID != tt.id || seen.Failed != tt.failed || seen.WrongID != tt.wrong || seen.Answer != tt.answer {
			t.Errorf("%s: id %q, failed %v, wrong %v, answer %q", tt.what, seen.ID, seen.Failed, seen.WrongID, seen.Answer)
		}
	}
	s := vibe{}.Stream(Call{Format: Text}, Plan{}, "")
	s.File("x/"+vibeExport, []byte(`{"session_id":"`+someID+`","outcome":"finished","steps":"1","cost_usd":"free"}`))
	s.File("x/"+vibeCheckpoint, []byte(`{"compaction_count":"1"}`))
	if seen := s.Seen(); seen.ID != "" || !seen.Final || !seen.Failed || !seen.Compacted || seen.Usage.CostKnown {
		t.Errorf("vibe's export: %+v", seen)
	}
}

// A format that is rendered needs each line whole; one that the tool writes at its end
// does not show it that nobody reads.
func TestWhatStreamsNeed(t *testing.T) {
	const most = LongestLine
	tests := []struct {
		tool   Tool
		format Format
		resume string
		max    int
		atEnd  bool
	}{
		{claude{}, Text, "", 0, false}, {claude{}, JSON, "", 0, true}, {claude{}, JSONVerbose, "", 0, true}, {claude{}, StreamJSON, "", most, false},
		{codex{}, Text, "", NoLines, false}, {codex{}, JSON, "", most, false},
		{gemini{}, Text, "", NoLines, false}, {gemini{}, JSON, "", 0, false}, {gemini{}, StreamJSON, "", most, false},
		{qwen{}, Text, "", NoLines, true}, {qwen{}, JSON, "", 0, true}, {qwen{}, StreamJSON, "", most, false},
		{vibe{}, Text, someID, NoLines, false}, {vibe{}, JSON, "", NoLines, false}, {vibe{}, JSON, someID, NoLines, true}, {vibe{}, StreamJSON, someID, most, false},
	}
	for _, tt := range tests {
		s := tt.tool.Stream(Call{Format: tt.format}, Plan{Resume: tt.resume}, "")
		if s.MaxLine() != tt.max || s.HoldsOutput() != tt.atEnd {
			t.Errorf("%s %s %q: %d, %v", tt.tool.Descriptor().Name, tt.format, tt.resume, s.MaxLine(), s.HoldsOutput())
		}
	}
}
