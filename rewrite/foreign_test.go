package rewrite

import (
	"strings"
	"testing"
)

// Events of claude.
const (
	claudeInit = `{"type":"system","subtype":"init","session_id":"` + someID + `","model":"m","claude_code_version":"2.1.329"}` + "\n"
	claudeSays = `{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"yes"}]},"session_id":"` + someID + `"}` + "\n"
	claudeEnds = `{"type":"result","subtype":"success","is_error":false,"result":"yes","session_id":"` + someID + `"}` + "\n"
)

func TestBacklog(t *testing.T) {
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
		{"claude's result", claude{}.Stream(Call{Format: StreamJSON}, Plan{}, ""), claudeInit + claudeSays + claudeOdd, someID, true, false, "yes"},
		{"claude's init", claude{}.Stream(Call{Format: StreamJSON}, Plan{}, ""), claudeOddInit, "", false, false, ""},
		{"claude's init, and all else", claude{}.Stream(Call{Format: StreamJSON}, Plan{}, ""), claudeOddInit + claudeSays + claudeEnds, someID, true, false, "yes"},
		{"claude's init of another session", claude{}.Stream(Call{Format: StreamJSON}, Plan{Resume: foreignID}, ""), claudeOddInit, "", false, true, ""},
		{"claude's hooks", claude{}.Stream(Call{Format: StreamJSON}, Plan{}, ""),
			`{"type":"system","subtype":"hook","model":7,"x":"init"}` + "\n" + `{"type":"novel","message":"result"}` + "\n" + `["result"]` + "\n" + claudeInit + claudeEnds, someID, false, false, "yes"},
		{"claude's broken result", claude{}.Stream(Call{Format: StreamJSON}, Plan{}, ""),
			claudeInit + `{"type":"result",}` + "\n" + claudeEnds, someID, true, false, "yes"},
		{"what a tool says to claude, broken", claude{}.Stream(Call{Format: StreamJSON}, Plan{}, ""),
			claudeInit + `{"type":"user","result",}` + "\n" + `{"type":"novel",}` + "\n" + claudeEnds, someID, false, false, "yes"},
		{"claude's result without is_error", claude{}.Stream(Call{Format: StreamJSON}, Plan{}, ""),
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

// A format that is rendered needs each line whole; one that the tool writes at its end does not show it that nobody reads,
// and nobody reads before it.
func TestWhatStreamsNeed(t *testing.T) {
	const most = LongestLine
	tests := []struct {
		tool          Tool
		format        Format
		resume        string
		max           int
		holds, prints bool
	}{
		{claude{}, Text, "", NoLines, false, true}, {claude{}, JSON, "", 0, true, true}, {claude{}, JSONVerbose, "", 0, true, true},
		{claude{}, StreamJSON, "", most, false, false},
		{codex{}, Text, "", NoLines, false, false}, {codex{}, JSON, "", most, false, false},
		{gemini{}, Text, "", NoLines, false, false}, {gemini{}, JSON, "", 0, false, true}, {gemini{}, StreamJSON, "", most, false, false},
		{vibe{}, Text, someID, NoLines, false, true}, {vibe{}, JSON, "", NoLines, false, true}, {vibe{}, JSON, someID, NoLines, true, true},
		{vibe{}, StreamJSON, someID, most, false, false},
		{qwen{}, Text, "", NoLines, true, true}, {qwen{}, JSON, "", 0, true, true}, {qwen{}, StreamJSON, "", most, false, false},
		{droid{}, Text, "", 0, true, true}, {droid{}, JSON, "", 0, true, true}, {droid{}, StreamJSON, "", most, false, false},
		{copilot{}, Text, "", NoLines, false, false}, {opencode{}, Text, "", NoLines, false, false},
	}
	for _, tt := range tests {
		s := tt.tool.Stream(Call{Format: tt.format}, Plan{Resume: tt.resume}, "")
		if s.MaxLine() != tt.max || s.HoldsOutput() != tt.holds || s.PrintsAtEnd() != tt.prints {
			t.Errorf("%s %s %q: %d, %v, %v", tt.tool.Descriptor().Name, tt.format, tt.resume, s.MaxLine(), s.HoldsOutput(), s.PrintsAtEnd())
		}
	}
}
