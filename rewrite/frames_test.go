package rewrite

import (
	"slices"
	"strings"
	"testing"

	"reprise/rewrite/reason"
)

// Lines as the SDKs and claude 2.1.329 send them.
const (
	tsInit  = `{"request_id":"pvg7","type":"control_request","request":{"subtype":"initialize","systemPrompt":[""]}}`
	pyInit  = `{"type": "control_request", "request_id": "req_1_20bd1481", "request": {"subtype": "initialize", "hooks": null}}`
	tsUser  = `{"type":"user","session_id":"","message":{"role":"user","content":[{"type":"text","text":"fix \u0061 \"b\""}]},"parent_tool_use_id":null}`
	pyUser  = `{"type": "user", "message": {"role": "user", "content": "fix it"}, "parent_tool_use_id": null, "session_id": "default"}`
	hookAsk = `{"type":"control_request","request_id":"af64","request":{"subtype":"hook_callback","callback_id":"hook_0","input":{"session_id":"S","transcript_path":"/S.jsonl","cwd":"/w","prompt_id":"P","hook_event_name":"PreToolUse"},"tool_use_id":"T"}}`
)

func TestReadFrames(t *testing.T) {
	tests := []struct {
		line    string
		kind    FrameKind
		id      string
		subtype string
	}{
		{tsInit, RequestFrame, "pvg7", "initialize"},
		{pyInit, RequestFrame, "req_1_20bd1481", "initialize"},
		{tsUser, UserFrame, "", ""},
		{`{"type":"control_response","response":{"subtype":"success","request_id":"af64","response":{}}}`, ResponseFrame, "af64", ""},
		{`{"type":"control_cancel_request","request_id":"af64"}`, CancelFrame, "af64", ""},
		{`{"type":"keep_alive"}`, IdleFrame, "", ""},
		{`{"type":"system","subtype":"init"}`, OtherFrame, "", ""},
		{`{"type":"user"`, OtherFrame, "", ""},
		{`"user"`, OtherFrame, "", ""},
		{``, OtherFrame, "", ""},
	}
	for _, tt := range tests {
		f := ReadInput([]byte(tt.line + "\n"))
		if f.Kind != tt.kind || f.RequestID != tt.id || f.Subtype != tt.subtype ||
			string(f.Line) != tt.line+"\n" {
			t.Errorf("%s: %+v", tt.line, f)
		}
	}
	if f := ReadOutput([]byte(hookAsk)); f.Kind != RequestFrame || f.Subtype != "hook_callback" {
		t.Errorf("a request of claude's is read as %+v", f)
	}
	if f := ReadOutput([]byte(`{"type":"user","message":"control_request"}`)); f.Kind !=
		OtherFrame {
		t.Errorf("an event is read as %+v", f)
	}
}

// A request to change the session is told from others, and from an answer that an SDK sends as a
// request. So is an event, which claude adds to the session.
func TestChangesSession(t *testing.T) {
	for request, want := range map[string]bool{
		`{"subtype":"set_model","model":"opus"}`:       true,
		`{"subtype":"set_permission_mode"}`:            true,
		`{"subtype":"mcp_set_servers","servers":{}}`:   true,
		`{"subtype":"initialize"}`:                     false,
		`{"subtype":"interrupt"}`:                      false,
		`{"subtype":"get_context_usage"}`:              false,
		`{"subtype":"mcp_message","server_name":"s"}`:  true,
		`{"subtype":"mcp_message","message":{"id":1}}`: false,
		`{"subtype":"mcp_message","message":{"result":{"tools":[{"name":"add"}]},"jsonrpc":"2.0","id":1}}`: false,
		`{"subtype":"mcp_message","message":{"method":"notifications/tools/list_changed"}}`:                true,
		`{"subtype":"mcp_message","message":{"method":"elicitation/create","id":1}}`:                       true,
		`{"subtype":"other","message":{"id":1}}`:                                                           true,
	} {
		f := ReadInput([]byte(`{"type":"control_request","request_id":"a","request":` + request +
			"}\n"))
		if got := f.ChangesSession(); got != want {
			t.Errorf("%s: %t", request, got)
		}
	}
	for line, want := range map[string]bool{
		tsUser: false,
		`{"type":"assistant","message":{"role":"assistant","content":"Yes."}}` + "\n": true,
		`{"type":"update_environment_variables","variables":{}}` + "\n":               true,
		`{"type":"control_response","response":{"request_id":"a"}}` + "\n":            false,
		`{"type":"control_cancel_request","request_id":"a"}` + "\n":                   false,
		`{"type":"keep_alive"}` + "\n":                                                false,
	} {
		if got := ReadInput([]byte(line)).ChangesSession(); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}

func TestPromptOfFrame(t *testing.T) {
	content := func(content string) string {
		return `{"type":"user","message":{"role":"user","content":` + content + `}}`
	}
	tests := []struct {
		line, text string
		reason     reason.Code
	}{
		{tsUser, `fix a "b"`, ""},
		{pyUser, "fix it", ""},
		{content(`"a"`), "a", ""},
		{content(`" /compact"`), " /compact", reason.SlashCommand},
		{content(`" "`), "", reason.MessageContent},
		{content(`[]`), "", reason.MessageContent},
		{content(`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`), "",
			reason.MessageContent},
		{content(`[{"type":"image","source":{}}]`), "", reason.MessageContent},
		{content(`[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]`), "",
			reason.MessageContent},
		{content(`7`), "", reason.MessageContent},
		{`{"type":"user","session_id":"S","message":{"role":"user","content":"a"}}`, "a",
			reason.CallerSession},
		{`{"type":"user","session_id":"S","message":{"role":"user","content":[]}}`, "",
			reason.CallerSession},
		{`{"type":"user","parent_tool_use_id":"T","message":{"role":"user","content":"a"}}`, "",
			reason.MessageContent},
		{`{"type":"user","client_composed":true,"message":{"role":"user","content":"a"}}`, "",
			reason.MessageContent},
		{`{"type":"user","message":{"role":"assistant","content":"a"}}`, "", reason.MessageContent},
		{`{"type":"user","message":{"role":"user","content":"a","content":"b"}}`, "",
			reason.MessageContent},
		{`{"type":"user","message":{"role":"user","content":"a"},"message":{"role":"user","content":"b"}}`, "", reason.MessageContent},
		{tsInit, "", reason.MessageContent},
	}
	for _, tt := range tests {
		text, why := ReadInput([]byte(tt.line)).Prompt()
		if text != tt.text || why != tt.reason {
			t.Errorf("%s: %q, %q", tt.line, text, why)
		}
	}
}

// Another text takes the place of the prompt, and no other byte changes.
func TestWithPrompt(t *testing.T) {
	got, _ := ReadInput([]byte(tsUser + "\n")).WithPrompt("new \"\n<é>")
	want := strings.Replace(tsUser, `"fix \u0061 \"b\""`, `"new \"\n<é>"`, 1) + "\n"
	if string(got) != want {
		t.Errorf("got  %swant %s", got, want)
	}
	for line, want := range map[string]bool{
		tsUser: true,
		pyUser: true,
		// stands in the line more than once
		`{"type":"user","message":{"role":"user","content":"user"}}`: false,
		// claude reads another text
		`{"type":"user","message":{"role":"user","content":"\ud800 lone"}}`:    false,
		`{"type":"user","message":{"role":"user","content":"` + "\xff" + `"}}`: false,
		hookAsk: false,
	} {
		got, ok := ReadInput([]byte(line)).WithPrompt("x")
		if changed := string(got) != line; ok != want || changed != want {
			t.Errorf("%s: changed: %v, ok: %v", line, changed, ok)
		}
	}
}

// A run's IDs for session, prompt and uses of tools do not count.
func TestKeyOfRequest(t *testing.T) {
	key := func(line string) string { return ReadOutput([]byte(line)).Key() }
	other := strings.NewReplacer(`"S"`, `"S2"`, `"/S.jsonl"`, `"/S2.jsonl"`, `"P"`, `"P2"`, `"T"`,
		`"T2"`, `"af64"`, `"b"`).Replace(hookAsk)
	if key(hookAsk) != key(other) {
		t.Errorf("%s\n%s", key(hookAsk), key(other))
	}
	for _, change := range [][2]string{{"hook_0", "hook_1"}, {"PreToolUse", "Stop"},
		{`"/w"`, `"/v"`}} {
		if key(hookAsk) == key(strings.Replace(hookAsk, change[0], change[1], 1)) {
			t.Errorf("%s is the same as %s", change[0], change[1])
		}
	}
	answer := ReadInput([]byte(
		`{"type":"control_response","response":{"subtype":"success","request_id":"a\"","response":{"x":1}}}` + "\n"))
	if got := string(answer.Answering("b")); got !=
		`{"type":"control_response","response":{"subtype":"success","request_id":"b","response":{"x":1}}}`+"\n" {
		t.Errorf("got %s", got)
	}
}

func TestOpened(t *testing.T) {
	hooks := func(names string) string {
		return `{"type":"control_request","request_id":"a","request":{"subtype":"initialize","hooks":{` + names + `}}}`
	}
	tests := []struct {
		lines  []string
		reason error
		whole  bool // the prompt must be kept
		fresh  bool
	}{
		{lines: []string{tsInit, tsUser}},
		{lines: []string{pyInit, pyUser}},
		{lines: []string{pyUser}},
		{lines: []string{`{"type":"keep_alive"}`, pyUser}},
		{lines: []string{hooks(`"PreToolUse":[]`),
			`{"type":"control_response","response":{"request_id":"x"}}`, pyUser}},
		{lines: []string{hooks(`"UserPromptSubmit":[]`), pyUser}, whole: true},
		{lines: []string{hooks(`"SessionStart":[]`), pyUser}, fresh: true},
		{lines: []string{hooks(`"SessionEnd":[]`), pyUser}, fresh: true},
		{lines: []string{tsInit,
			`{"type":"control_request","request_id":"b","request":{"subtype":"set_model"}}`,
			tsUser}, reason: reason.MessageContent},
		{lines: []string{`{"type":"update_environment_variables"}`, tsUser},
			reason: reason.MessageContent},
		{lines: []string{`no json`, tsUser}, reason: reason.MessageContent},
		{lines: []string{tsInit, `{"type":"user","message":{"role":"user","content":[]}}`},
			reason: reason.MessageContent, whole: true},
	}
	for _, tt := range tests {
		var frames []Frame
		for _, line := range tt.lines {
			frames = append(frames, ReadInput([]byte(line+"\n")))
		}
		call, _, err := CommandLine{}.Opened(frames)
		if err != tt.reason || call.KeepPrompt != tt.whole || call.HookSet != tt.fresh {
			t.Errorf("%v: %v, kept %v, fresh %v", tt.lines, err, call.KeepPrompt, call.HookSet)
		}
	}
	a, _, _ := CommandLine{}.Opened([]Frame{ReadInput([]byte(tsInit)), ReadInput([]byte(tsUser))})
	b, _, _ := CommandLine{}.Opened([]Frame{
		ReadInput([]byte(strings.ReplaceAll(tsInit, "pvg7", "other"))),
		ReadInput([]byte(tsUser))})
	c, _, _ := CommandLine{}.Opened([]Frame{
		ReadInput([]byte(strings.ReplaceAll(tsInit, `[""]`, `["x"]`))),
		ReadInput([]byte(tsUser))})
	same := func(i int) bool { return a.Settings[i] == c.Settings[i] }
	if len(a.Settings) != 3 || !slices.Equal(a.Settings, b.Settings) || same(0) || !same(1) ||
		same(2) || a.Settings[2].Name != "initialize systemPrompt" {
		t.Errorf("%v\n%v\n%v", a.Settings, b.Settings, c.Settings)
	}
}

// FuzzFrames: no line breaks anything, and a message that is called replaceable is.
func FuzzFrames(f *testing.F) {
	for _, line := range []string{tsInit, pyInit, tsUser, pyUser, hookAsk} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		frame := ReadInput([]byte(line))
		ReadOutput([]byte(line)).Key()
		CommandLine{}.Opened([]Frame{frame})
		replaced, ok := frame.WithPrompt("another text")
		if !ok {
			return
		}
		changed := ReadInput(replaced)
		if text, why := changed.Prompt(); text != "another text" || why != "" {
			t.Errorf("%s: %q, %q in %s", line, text, why, changed.Line)
		}
	})
}
