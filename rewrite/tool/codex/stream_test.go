package codex

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/test/tooltest"
)

const starts = `{"type":"thread.started","thread_id":"` + tooltest.SomeID + `"}` + "\n"

func item(event, kind string) string {
	return `{"type":"` + event + `","item":{"type":"` + kind + `","text":"yes"}}` + "\n"
}

// Words and plans are content, all else is a tool at work; codex's own warnings are neither.
func TestCodexItems(t *testing.T) {
	tests := []struct {
		stdout               string
		content, tool, wrong bool
		texts                []string
	}{
		{starts + item("item.completed", "agent_message"), true, false, false, []string{"yes"}},
		{starts + item("item.started", "agent_message"), true, false, false, nil},
		{starts + item("item.completed", "reasoning"), true, false, false, nil},
		{starts + item("item.updated", "todo_list"), true, false, false, nil},
		{starts + item("item.started", "command_execution"), true, true, false, nil},
		{starts + item("item.completed", "error"), false, false, false, nil},
		{starts + `{"type":"item.completed"}` + "\n", false, false, false, nil},
		{starts + `{"type":"turn.started","item":{"type":"agent_message"}}` + "\n", false, false,
			false, nil},
		{item("item.completed", "agent_message"), false, false, false, []string{"yes"}},
		{strings.Replace(starts, tooltest.SomeID, tooltest.ForeignID, 1) +
			item("item.completed", "agent_message"), false, false, true, []string{"yes"}},
	}
	for _, tt := range tests {
		s := tool.Stream(parseCodex("exec --json x"), rewrite.Plan{Resume: tooltest.SomeID}, "")
		tooltest.Feed(s, []byte(tt.stdout), nil)
		if seen := s.Seen(); seen.Content != tt.content || seen.ToolRan != tt.tool ||
			seen.WrongID != tt.wrong || !slices.Equal(seen.Texts, tt.texts) {
			t.Errorf("%s: %+v", tt.stdout, seen)
		}
	}
}

// A turn that completes after one has failed is an end, and figures that cannot be read are
// none.
func TestCodexTurns(t *testing.T) {
	const failed, done = `{"type":"turn.failed","error":{"message":"no"}}` + "\n",
		`{"type":"turn.completed","usage":{"input_tokens":3}}` + "\n"
	tests := []struct {
		call                 rewrite.CommandLine
		stdout               string
		final, failed, known bool
	}{
		{rewrite.CommandLine{Format: rewrite.JSON}, starts, false, false, false},
		{rewrite.CommandLine{Format: rewrite.JSON}, starts + failed, true, true, false},
		{rewrite.CommandLine{Format: rewrite.JSON}, starts + failed + done, true, false, true},
		{rewrite.CommandLine{Format: rewrite.JSON, Mode: rewrite.Observe}, starts + done, true,
			false,
			false},
		{rewrite.CommandLine{Format: rewrite.JSON}, starts + `{"type":"turn.failed","error":"no"}` +
			"\n",
			true, true, false},
		{rewrite.CommandLine{Format: rewrite.JSON},
			starts + `{"type":"turn.completed","usage":{"input_tokens":"3"}}` + "\n", true, false,
			false},
		{rewrite.CommandLine{Format: rewrite.JSON}, starts + `{"type":"turn.completed","usage":3}` +
			"\n",
			true, false, false},
	}
	for _, tt := range tests {
		s := tool.Stream(tt.call, rewrite.Plan{}, "")
		if shown, _ := tooltest.Feed(s, []byte(tt.stdout), nil); shown != tt.stdout {
			t.Errorf("%s is shown as %s", tt.stdout, shown)
		}
		if seen := s.Seen(); seen.Final != tt.final || seen.Failed != tt.failed ||
			seen.Usage.Known != tt.known {
			t.Errorf("%s: %+v", tt.stdout, seen)
		}
	}
}

// Text behind the prompt that is not codex's own is the model's.
func TestCodexTranscripts(t *testing.T) {
	const banner = "OpenAI Codex\n--------\nmodel: m\nsession id: " + tooltest.SomeID +
		"\n--------\nuser\nhi\n"
	tests := []struct {
		behind                       string
		content, tool, final, failed bool
		refusal                      reason.Code
	}{
		{"warning: w\nhook: h\ndeprecated: d\n\n2026-11-21T04:26:52.348Z ERROR codex: x\nturn " +
			"interrupted\n", false, false, false, false, ""},
		{"codex\nyes\n", true, false, false, false, ""},
		{"thinking\n", true, false, false, false, ""},
		{"exec\nls\n", true, true, false, false, ""},
		{"ERROR: no\nmore of it\n", false, false, true, true, ""},
		{"ERROR: no\nran out of room in the model's context window\n", false, false, true, true,
			reason.RefusedContext},
		{"ERROR: no\ncodex\nyes\n", true, false, true, false, ""},
		{"ERROR: no\ntokens used\n3\n", false, false, true, true, ""},
		{"codex\nyes\ntokens used\n3\nERROR: says the model\n", true, false, true, false, ""},
		{"\x1b[35mcodex\x1b[0m\nyes\n", true, false, false, false, ""},
	}
	for _, tt := range tests {
		s := tool.Stream(parseCodex("exec -"), rewrite.Plan{Prompt: "hi", Resume: tooltest.SomeID},
			"")
		if _, shown := tooltest.Feed(s, nil, []byte(banner+tt.behind)); shown != banner+tt.behind {
			t.Errorf("%q is shown as %q", tt.behind, shown)
		}
		if seen := s.Seen(); seen.Content != tt.content || seen.ToolRan != tt.tool ||
			seen.Final != tt.final || seen.Failed != tt.failed || seen.Refusal != tt.refusal {
			t.Errorf("%q: %+v", tt.behind, seen)
		}
	}
	for name, transcript := range map[string]string{
		"no session id": strings.Replace(banner, "session id", "session", 1) +
			"codex\nyes\n",
		"another session's id": strings.Replace(banner, tooltest.SomeID, tooltest.ForeignID,
			1) + "codex\nyes\n",
		"a line before the prompt": strings.Replace(banner, "\nhi\n", "\nho\nhi\n", 1) +
			"codex\nyes\n",
		"a total that is cut off": banner + "tokens used\n",
		"another prompt": strings.Replace(banner, "\nhi\n", "\nho\n", 1) +
			"codex\nyes\ntokens used\n3\n",
		"a total that is no number":  banner + "tokens used\nmany\n",
		"no header":                  "user\nhi\ncodex\nyes\n",
		"a header without its end":   "--------\nsession id: " + tooltest.SomeID + "\nuser\nhi\n",
		"a header with another line": strings.Replace(banner, "model: m", "novel: n\nmodel", 1),
	} {
		s := tool.Stream(parseCodex("exec -"), rewrite.Plan{Prompt: "hi", Resume: tooltest.SomeID},
			`{"tokens used":3}`)
		if _, shown := tooltest.Feed(s, nil, []byte(transcript)); shown != transcript {
			t.Errorf("%s: %q is shown as %q", name, transcript, shown)
		}
		if seen := s.Seen(); seen.Content || seen.Totals != "" {
			t.Errorf("%s: %+v", name, seen)
		}
	}
}

// The caller sees its own prompt in the place of the part of it that the model was sent, and all
// lines of a transcript that does not have that part.
func TestCodexShowsTheCallersPrompt(t *testing.T) {
	const banner = "--------\nsession id: " + tooltest.SomeID + "\n--------\nuser\n"
	for _, tt := range []struct {
		behind, asked, want string
		content             bool
	}{
		{"one\n\ntwo\ncodex\nyes\n", "", "one\n\ntwo\ncodex\nyes\n", true},
		{"one\n\ntwo\ncodex\nyes\n", "ALL\nOF IT", "ALL\nOF IT\ncodex\nyes\n", true},
		{"one\n\nthree\ntwo\ncodex\nyes\n", "", "one\n\nthree\ntwo\ncodex\nyes\n", false},
		{"one\n\nthree\ntwo\ncodex\nyes\n", "ALL\nOF IT", "one\n\nthree\ntwo\ncodex\nyes\n", false},
		{"one\n\n", "ALL\nOF IT", "one\n\n", false}, // it was ended here
	} {
		s := tool.Stream(parseCodex("exec -"), rewrite.Plan{Prompt: "one\n\ntwo", Asked: tt.asked,
			Resume: tooltest.SomeID}, "")
		if _, shown := tooltest.Feed(s, nil, []byte(banner+tt.behind)); shown != banner+tt.want ||
			s.Seen().Content != tt.content {
			t.Errorf("%q for %q: %q, content %v", tt.behind, tt.asked, shown, s.Seen().Content)
		}
	}
}

// The final message counts once the header has named the session, whichever of the two is read
// first.
func TestCodexBelievesItsFinalMessage(t *testing.T) {
	header := "--------\nsession id: " + tooltest.SomeID + "\n--------\n"
	for _, tt := range []struct {
		stdout, resume string
		final, content bool
	}{
		{"y", "", true, true}, {"yes\n", tooltest.SomeID, true, true},
		{"yes\n", tooltest.ForeignID, true, false}, {"", "", false, false},
	} {
		for _, late := range []bool{false, true} {
			s := tool.Stream(parseCodex("exec -"), rewrite.Plan{Prompt: "hi", Resume: tt.resume},
				"")
			if late && tt.stdout != "" {
				s.Line([]byte(tt.stdout))
				if seen := s.Seen(); seen.Final || seen.Content {
					t.Errorf("%q is believed without a header", tt.stdout)
				}
			}
			for line := range strings.Lines(header) {
				s.ErrLine([]byte(line))
			}
			if !late && tt.stdout != "" {
				s.Line([]byte(tt.stdout))
			}
			if seen := s.Seen(); seen.Final != tt.final || seen.Content != tt.content ||
				seen.Answer != strings.TrimSuffix(tt.stdout, "\n") {
				t.Errorf("%q, late %v: %+v", tt.stdout, late, seen)
			}
		}
	}
}

// Input that was read from the cache or written to it is counted there alone, and of the event
// nothing but its usage is a total.
func TestCodexUsage(t *testing.T) {
	for usage, want := range map[string]rewrite.Usage{
		`{"input_tokens":9,"cached_input_tokens":4,"cache_write_input_tokens":2,"output_tokens":5}`: {Known: true, Input: 3, CacheRead: 4, CacheWrite: 2, Output: 5},
		`{"input_tokens":4,"cached_input_tokens":4}`:                                                {Known: true, CacheRead: 4},
		`{"input_tokens":4,"cached_input_tokens":5}`:                                                {Known: true, CacheRead: 5},
	} {
		s := tool.Stream(rewrite.CommandLine{Format: rewrite.JSON}, rewrite.Plan{}, "")
		tooltest.Feed(s, []byte(starts+`{"type":"turn.completed","n":7,"usage":`+usage+"}\n"), nil)
		if seen := s.Seen(); seen.Usage != want || strings.Contains(string(seen.Totals), `"n"`) {
			t.Errorf("%s: %+v, totals %s", usage, seen.Usage, seen.Totals)
		}
	}
}

// A version that reports a turn's own figures is shown as it is, if the rollout has told them.
func TestCodexFiguresByTurn(t *testing.T) {
	const record = `{"type":"token_usage_record","payload":{"turn_id":"t","turn_token_usage":{"input_tokens":%d,"cached_input_tokens":5,"output_tokens":9}}}` + "\n"
	for _, tt := range []struct {
		own, told int
		want      string
	}{
		{14_000, 14_000, `"usage":{"input_tokens":14000,"output_tokens":9}`},
		{14_000, 27_000, `"usage":{"input_tokens":14000,"output_tokens":2}`},
	} {
		s := tool.Stream(parseCodex("exec --json x"), rewrite.Plan{Resume: tooltest.SomeID},
			`{"usage\tinput_tokens":13000,"usage\toutput_tokens":7}`)
		s.Line([]byte(starts))
		s.File("rollout-x-"+tooltest.SomeID+".jsonl", fmt.Appendf(nil, record, tt.own))
		line := fmt.Sprintf(`{"type":"turn.completed","usage":{"input_tokens":%d,"output_tokens":9}}`+"\n", tt.told)
		if shown := s.Line([]byte(line)); !strings.Contains(string(shown), tt.want) {
			t.Errorf("%d tokens of a turn that sent %d are shown as %s", tt.told, tt.own, shown)
		}
	}
}

// So is the sum at a transcript's end.
func TestCodexTotalByTurn(t *testing.T) {
	for told, want := range map[string]string{"10,002": "10,002", "14,985": "10,002"} {
		transcript := bytes.Replace(recorded(t, "resume-ok-text", "stderr"), []byte("10,002"),
			[]byte(told), 1)
		id := string(regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).Find(
			transcript))
		s := tool.Stream(parseCodex("exec -"), rewrite.Plan{Resume: id, Prompt: "what number"},
			`{"tokens used":4983}`)
		s.File("rollout-x-"+id+".jsonl", []byte(
			`{"type":"token_usage_record","payload":{"turn_id":"t","turn_token_usage":{"input_tokens":9990,"output_tokens":12}}}`+"\n"))
		if _, shown := tooltest.Feed(s, nil, transcript); !strings.HasSuffix(shown,
			"\ntokens used\n"+want+"\n") {
			t.Errorf("%s of a turn of 10,002 are shown as %q", told, shown[len(shown)-30:])
		}
	}
}

// Figures wait for a rollout that comes late: a turn's would be taken for the thread's.
func TestCodexLateRollout(t *testing.T) {
	const record = `{"type":"token_usage_record","payload":{"turn_id":"t","turn_token_usage":` +
		`{"input_tokens":14000,"output_tokens":9}}}` + "\n"
	const header = "--------\nsession id: " + tooltest.SomeID +
		"\n--------\nuser\nhi\ncodex\nyes\n"
	completed := func(input string) string {
		return starts + `{"type":"turn.completed","usage":{"input_tokens":` + input + "}}\n"
	}
	file := "rollout-x-" + tooltest.SomeID + ".jsonl"
	for _, tt := range []struct{ call, told, want, behind string }{
		{"exec --json x", completed("14000"), `{"input_tokens":14000}`, ""},
		{"exec --json x", completed("27000"), `{"input_tokens":14000}`, ""},
		{"exec x", header + "tokens used\n14,009\n", "tokens used\n14,009\n", "yes\n"},
		{"exec x", header + "tokens used\n27,016\n", "tokens used\n14,009\n", "yes\n"},
	} {
		s := tool.Stream(parseCodex(tt.call), rewrite.Plan{Resume: tooltest.SomeID, Prompt: "hi"},
			`{"usage\tinput_tokens":13000,"usage\toutput_tokens":7}`)
		var shown string
		for line := range strings.Lines(tt.told + tt.behind) {
			if tt.call == "exec x" {
				shown += string(s.ErrLine([]byte(line)))
			} else {
				shown += string(s.Line([]byte(line)))
			}
		}
		s.File(file, []byte(record))
		shown += string(s.End()) + s.TakeStderr()
		if !strings.Contains(shown, tt.want) || !strings.HasSuffix(shown, tt.behind) {
			t.Errorf("%s: %q, want %q", tt.call, shown, tt.want)
		}
	}
}

// The files that a turn changes are those that the ledger remembers of it.
func TestCodexTellsFiles(t *testing.T) {
	s := tool.Stream(rewrite.CommandLine{Format: rewrite.JSON}, rewrite.Plan{}, "")
	s.Line([]byte(`{"type":"item.completed","item":{"type":"file_change","changes":[{"path":"/w/a.go","kind":"add"},{"path":"/w/b.go"}]}}` + "\n"))
	if seen := s.Seen(); !slices.Equal(seen.Files, []string{"/w/a.go", "/w/b.go"}) {
		t.Errorf("files %v", seen.Files)
	}
}

// The records of a rollout that can be read count, and a compaction in any case.
func TestCodexOddRecords(t *testing.T) {
	see := func(records ...string) *rewrite.StreamState {
		s := tool.Stream(parseCodex("exec --json x"), rewrite.Plan{}, "")
		s.Line([]byte(starts))
		for _, r := range records {
			s.File("rollout-x-"+tooltest.SomeID+".jsonl", []byte(r+"\n"))
			s.File("rollout-x-"+tooltest.ForeignID+".jsonl", []byte(`{"type":"compacted"}`+"\n"))
		}
		return s.Seen()
	}
	if seen := see(`{"type":"session_meta","payload":{"cli_version":"0.169.0"}}`); seen.Version !=
		"0.169.0" || seen.Compacted {
		t.Errorf("%+v", seen)
	}
	for _, record := range []string{`{"type":"compacted","payload":{"message":""}}`,
		`{"type":"compacted","payload":"text"}`, `{"type":"compacted","payload":{"model":7}}`} {
		if !see(record).Compacted {
			t.Errorf("%s is not seen", record)
		}
	}
	odd := `{"type":"token_usage_record","payload":{"turn_id":"a","turn_token_usage":{"input_tokens":5,"output_tokens":"7"}}}`
	if seen := see(odd); seen.Usage.Known {
		t.Errorf("%s: %+v", odd, seen.Usage)
	}
}

// The line about stdin is shown once, before the first of stderr's own or at the end.
func TestCodexNoticeIsShownOnce(t *testing.T) {
	const notice = "Reading additional input from stdin...\n"
	for _, line := range []string{"", "x\n"} {
		s := tool.Stream(parseCodex("exec --json x"), rewrite.Plan{Resume: tooltest.SomeID}, "")
		got := ""
		if line != "" {
			got = string(s.ErrLine([]byte(line))) + string(s.ErrLine([]byte(line)))
		}
		s.End()
		if got += s.TakeStderr(); got != notice+line+line {
			t.Errorf("behind %q: %q", line, got)
		}
	}
}

// In json codex writes the notice before its first event.
func TestCodexNoticeComesFirst(t *testing.T) {
	call := tool.Parse(tooltest.Invocation("exec --json x"))
	s := tool.Stream(call, rewrite.Plan{Resume: tooltest.SomeID}, "")
	s.Line([]byte(`{"type":"thread.started","thread_id":"` + tooltest.SomeID + "\"}\n"))
	if got, end := s.TakeStderr(), string(s.End())+s.TakeStderr(); got !=
		"Reading additional input from stdin...\n" || end != "" {
		t.Errorf("%q at the first event, %q at the end", got, end)
	}
}
