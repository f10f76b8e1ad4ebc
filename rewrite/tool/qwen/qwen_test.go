package qwen

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
	"reprise/test/tooltest"
)

// parseQwen reads a command line as parseGemini does.
func parseQwen(line string, env ...string) rewrite.CommandLine {
	return tool.Parse(tooltest.Invocation(line, env...))
}

func TestQwenReads(t *testing.T) {
	tooltest.CheckReadings(t, parseQwen, []tooltest.Reading{
		{"-p hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"look here", "", rewrite.Fresh, "", "look here", rewrite.Text},
		{"", "", rewrite.Fresh, "", "", rewrite.Text}, // the prompt is on stdin
		{"hi -o stream-json --include-partial-messages", "", rewrite.Fresh, "", "hi",
			rewrite.StreamJSON},
		{"hi --add-dir a --addDir b", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"hi --input-format text", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"hi --chat-recording --max-session-turns 3", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"?_why", "", rewrite.Fresh, "", "? why", rewrite.Text},
		{"-p hi --fork-session=false", "", rewrite.Fresh, "", "hi", rewrite.Text},

		{"-v", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text},
		{"sessions list", "", rewrite.Passthrough, reason.NotManaged, "sessions list",
			rewrite.Text},
		{"-y review run", "", rewrite.Passthrough, reason.NotManaged, "review run", rewrite.Text},
		{"-i hi", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text},
		{"serve --port 1", "", rewrite.Passthrough, reason.AppServer, "serve", rewrite.Text},
		{"--acp", "", rewrite.Passthrough, reason.AppServer, "", rewrite.Text},
		{"hi -r", "", rewrite.Passthrough, reason.CallerSession, "hi", rewrite.Text},
		{"hi -c", "", rewrite.Passthrough, reason.CallerSession, "hi", rewrite.Text},
		{"hi -o json --session-id " + tooltest.SomeID, "", rewrite.Observe, reason.CallerSession,
			"hi", rewrite.JSON},
		{"hi -o json --resume=" + tooltest.SomeID + " --fork-session", "", rewrite.Observe,
			reason.CallerSession, "hi", rewrite.JSON},
		{"hi --no-chat-recording", "", rewrite.Passthrough, reason.OptedOut, "hi", rewrite.Text},
		{"hi --chat-recording=false", "", rewrite.Passthrough, reason.OptedOut, "hi", rewrite.Text},
		{"-p hi", "QWEN_CODE=1", rewrite.Passthrough, reason.Nested, "hi", rewrite.Text},
		{"hi --json-file f", "", rewrite.Passthrough, reason.UnmanagedOption, "hi", rewrite.Text},
		{"hi --worktree", "", rewrite.Passthrough, reason.UnmanagedOption, "hi", rewrite.Text},
		{"hi -o stream-json --input-format stream-json", "", rewrite.Passthrough,
			reason.UnmanagedOption, "hi", rewrite.StreamJSON},
		{"hi --bogus", "", rewrite.Passthrough, reason.UnknownOption, "hi", rewrite.Text},
		{"hi --include-partial-messages", "", rewrite.Passthrough, reason.BadUsage, "hi",
			rewrite.Text},
		{"-p hi there", "", rewrite.Passthrough, reason.BadUsage, "hi there", rewrite.Text},
		{"-p hi -p there", "", rewrite.Passthrough, reason.BadUsage, "hi there", rewrite.Text},
		{"hi -o json -o text", "", rewrite.Passthrough, reason.BadUsage, "hi", rewrite.Text},
		{"-- hi", "", rewrite.Passthrough, reason.BadUsage, "", rewrite.Text},
		{"/help", "", rewrite.Passthrough, reason.SlashCommand, "/help", rewrite.Text},
	})
}

func TestQwenModelAndHomes(t *testing.T) {
	for env, want := range map[string][2]string{
		"":                    {"", "/.qwen"},
		"OPENAI_MODEL=a":      {"a", "/.qwen"},
		"QWEN_MODEL=b":        {"b", "/.qwen"},
		"QWEN_HOME=/q":        {"", "/q"},
		"QWEN_RUNTIME_DIR=/r": {"", "/r"},
	} {
		if c := parseQwen("hi", env); c.Model != want[0] || c.Home != want[1] {
			t.Errorf("%s: model %q, home %q", env, c.Model, c.Home)
		}
	}
	if c := parseQwen("hi -m c", "OPENAI_MODEL=a"); c.Model != "c" {
		t.Errorf("model %q", c.Model)
	}
}

// Versions that do not copy sessions are passed through: with stream-json they end well where the
// API refuses.
func TestQwenOldVersions(t *testing.T) {
	for version, want := range map[string]rewrite.Mode{"0.15.10": rewrite.Passthrough,
		"0.23.3": rewrite.Passthrough, "0.23.4": rewrite.Fresh, "0.24.4": rewrite.Fresh,
		"": rewrite.Fresh} {
		if c := tool.ResolveWithEnv(parseQwen("hi", ""),
			rewrite.HostEnv{Version: version}); c.Mode != want ||
			c.Copies != (want == rewrite.Fresh && version != "") {
			t.Errorf("%q: %s (%s), copies %t", version, c.Mode, c.Reason, c.Copies)
		}
	}
}

// The form's version is no setting, and qwen adds it itself.
func TestQwenSettles(t *testing.T) {
	settle := func(text string) rewrite.CommandLine {
		c := parseQwen("hi", "")
		return tool.ResolveWithEnv(c, rewrite.HostEnv{
			Settings: []rewrite.File{{Path: ".qwen/settings.json", Text: text}}})
	}
	without := settle(`{"a": 1, "b": {"c": true}}`)
	for _, text := range []string{`{"$version": 4, "a": 1, "b": {"c": true}}`,
		"{\n  \"a\": 1,\n  \"b\": {\"c\": true},\n  \"$version\": 4\n}\n"} {
		if c := settle(text); !slices.Equal(c.Settings, without.Settings) {
			t.Errorf("%s: %v, want %v", text, c.Settings, without.Settings)
		}
	}
	if c := settle(`{"$version": 4}`); len(c.Settings) != len(settle("").Settings) {
		t.Errorf("nothing is set: %v", c.Settings)
	}
	if c := settle(`{"a": 2, "b": {"c": true}}`); slices.Equal(c.Settings, without.Settings) {
		t.Error("a change is not seen")
	}
}

func TestQwenSchemaFile(t *testing.T) {
	for line, want := range map[string]rewrite.Setting{
		"hi --json-schema @a.json": {Name: "--json-schema", Value: "a.json", File: true},
		"hi --json-schema {}":      {Name: "--json-schema", Value: "{}"},
	} {
		if c := parseQwen(line, ""); !slices.Contains(c.Settings, want) {
			t.Errorf("%s: %v", line, c.Settings)
		}
	}
}

func TestQwenPlans(t *testing.T) {
	text := prompt.New("hi", tooltest.Key)
	resume, fork := rewrite.ToResume(tooltest.SomeID, text, prompt.Continuity{}, reason.DeltaOff),
		rewrite.ToCopy(tooltest.SomeID, text, prompt.Continuity{}, reason.DeltaOff)
	tests := []struct {
		line   string
		target rewrite.Target
		want   string
	}{
		{"hi", tooltest.Beginning(rewrite.ToFresh("hi"), tooltest.ForeignID),
			"hi --session-id=" + tooltest.ForeignID},
		{"-o json -p hi", rewrite.ToFresh("hi"), "-o json -p hi"},
		{"-o text -yp hi", resume, "-o text --resume=" + tooltest.SomeID + " -yp hi"},
		{"hi", tooltest.Beginning(fork, tooltest.ForeignID),
			"hi --resume=" + tooltest.SomeID + " --fork-session"},
		{"hi -o stream-json", fork, "hi --resume=" + tooltest.SomeID +
			" --fork-session -o stream-json"},
	}
	for _, tt := range tests {
		plan := tool.Plan(parseQwen(tt.line, ""), tt.target)
		if got := strings.Join(plan.Args, " "); got != tt.want || !plan.ReexecsSelf ||
			!plan.ExitsBeforeFlush {
			t.Errorf("%q: %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestQwenComposes(t *testing.T) {
	for _, tt := range []struct{ line, stdin, want string }{
		{"look", "", "look"},
		{"look", "hi\n", "hi\n\n\nlook"},
		{"", "hi\n", "hi\n"},
		{"look", "/etc/passwd", ""},
		{"", strings.Repeat("x", base.MaxYargsStdin+1), ""},
	} {
		if got := tool.EffectivePrompt(parseQwen(tt.line, ""), tt.stdin); got != tt.want {
			t.Errorf("%q and %.20q: %.20q", tt.line, tt.stdin, got)
		}
	}
}

func recording(t *testing.T, name, stream string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../testdata/recordings/qwen", name, stream))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// playQwen returns a recorded stdout as a caller of a format sees it.
func playQwen(format rewrite.Format, plan rewrite.Plan, previous rewrite.Totals,
	stdout string) (out, errOut string, seen *rewrite.StreamState) {
	s := tool.Stream(rewrite.CommandLine{Format: format}, plan, previous)
	for line := range strings.Lines(stdout) {
		out += string(s.Line([]byte(line)))
		errOut += s.TakeStderr()
	}
	out += string(s.End())
	return out, errOut, s.Seen()
}

// Both formats of events are shown as they are, and the same is learned of both.
func TestQwenShowsEvents(t *testing.T) {
	for _, name := range []string{"fresh", "multi", "tool", "http401", "resume-unknown"} {
		stream, array := recording(t, name+"-stream", "stdout"),
			recording(t, name+"-json", "stdout")
		out, _, seen := playQwen(rewrite.StreamJSON, rewrite.Plan{}, "", stream)
		other, _, also := playQwen(rewrite.JSON, rewrite.Plan{}, "", array)
		if out != stream || other != array {
			t.Errorf("%s is changed: %s%s", name, out, other)
		}
		if seen.Answer != also.Answer || seen.Failed != also.Failed || seen.Final != also.Final ||
			seen.Usage.Output != also.Usage.Output || seen.ToolRan != also.ToolRan {
			t.Errorf("%s: %+v and %+v", name, seen, also)
		}
	}
	partial := recording(t, "partial-stream", "stdout")
	if out, _, seen := playQwen(rewrite.StreamJSON, rewrite.Plan{}, "", partial); out != partial ||
		!seen.Content || seen.Answer != "Got it: 456." {
		t.Errorf("%+v", seen)
	}
}

// A resumed call, also one in a copy, shows its own share of the totals. The session of the
// recordings was resumed in the order text, json, stream.
func TestQwenOwnFigures(t *testing.T) {
	tests := []struct {
		recording string
		format    rewrite.Format
		copied    bool
		before    string
		previous  rewrite.Format
	}{
		{"resume-fork-stream", rewrite.StreamJSON, true, "fresh-stream", rewrite.StreamJSON},
		{"resume-fork-json", rewrite.JSON, true, "fresh-stream", rewrite.StreamJSON},
		{"resume-stream", rewrite.StreamJSON, false, "resume-json", rewrite.JSON},
	}
	for _, tt := range tests {
		_, _, before := playQwen(tt.previous, rewrite.Plan{}, "", recording(t, tt.before, "stdout"))
		stdout := recording(t, tt.recording, "stdout")
		out, _, seen := playQwen(tt.format, rewrite.Plan{Resume: before.ID, Copy: tt.copied},
			before.Totals, stdout)
		if u := seen.Usage; seen.WrongID || !u.Known ||
			u.Input+u.CacheRead+u.Output != seen.ContextUse.Used || seen.First.Input != u.Input {
			t.Errorf("%s: %+v", tt.recording, seen)
		}
		if out == stdout || tt.format == rewrite.JSON && !json.Valid([]byte(out)) ||
			stripNumbersAll(out) != stripNumbersAll(stdout) {
			t.Errorf("%s is shown as %s", tt.recording, out)
		}
	}
}

// A version that reports a call's own figures is shown as it is, and so is the call after that.
func TestQwenFiguresByCall(t *testing.T) {
	const events = `{"type":"system","subtype":"init","session_id":"` + tooltest.SomeID + `","qwen_code_version":"0.99.0"}
{"type":"assistant","message":{"content":[{"type":"text","text":"ok"}],"usage":{"input_tokens":%[1]d,"output_tokens":1}}}
{"type":"result","subtype":"success","result":"ok","usage":{"input_tokens":%[2]d,"output_tokens":%[3]d}}
`
	for _, tt := range []struct {
		own, told, output int
		want              string
	}{
		{14_000, 14_000, 9, `"usage":{"input_tokens":14000,"output_tokens":9}`},
		{14_000, 27_000, 9, `"usage":{"input_tokens":14000,"output_tokens":2}`},
	} {
		out, _, seen := playQwen(rewrite.StreamJSON, rewrite.Plan{Resume: tooltest.SomeID},
			`{"usage\tinput_tokens":13000,"usage\toutput_tokens":7}`,
			fmt.Sprintf(events, tt.own, tt.told, tt.output))
		if !strings.Contains(out, tt.want) || seen.Usage.Input != int64(tt.own) {
			t.Errorf("%d tokens of a run that sent %d are shown as %s", tt.told, tt.own, out)
		}
	}
}

// The models of earlier runs alone are not in a call's figures. Of a prompt that a hook blocked no
// model is.
func TestQwenLeavesModelsOut(t *testing.T) {
	const m, n = `"m":{"tokens":{"prompt":3}}`, `"n":{"tokens":{"prompt":4}}`
	const earlier = `{"usage\ttotal_tokens":7,"stats\tmodels\tm\ttokens\tprompt":3}`
	result := func(models, total, pace string) string {
		return `{"type":"result","usage":{"input_tokens":0` + total + `},"stats":{"models":{` +
			models + `},"skills":{"count":0}` + pace + "}}"
	}
	pace := `,"generation":{"last":{"model":"m"}}`
	told := func(count string) string { return `,"total_tokens":` + count }
	for _, tt := range []struct{ models, total, want string }{
		{m, "7", result("", "", "")},
		{m + "," + n, "11", result(n, told("4"), pace)},
	} {
		line := result(tt.models, told(tt.total), pace)
		for _, f := range []rewrite.Format{rewrite.StreamJSON, rewrite.JSON} {
			want := tt.want
			if f == rewrite.JSON {
				line, want = "["+line+"]", "["+want+"]"
			}
			if out, _, _ := playQwen(f, rewrite.Plan{Resume: tooltest.SomeID}, earlier,
				line+"\n"); out != want+"\n" {
				t.Errorf("%s is shown as %s, not %s", line, out, want)
			}
		}
	}
}

// A result of stream-json has no models: a run without an answer and without tokens has no total.
func TestQwenLeavesTotalOut(t *testing.T) {
	const answer = `{"type":"assistant","message":{"content":[{"type":"text","text":"ok"}]}}` + "\n"
	const result = `{"type":"result","usage":{"input_tokens":9,"total_tokens":9}}`
	const none = `{"type":"result","usage":{"input_tokens":0`
	for shown, want := range map[string]string{"": none + "}}\n",
		answer: answer + none + `,"total_tokens":0}}` + "\n"} {
		if out, _, _ := playQwen(rewrite.StreamJSON, rewrite.Plan{Resume: tooltest.SomeID},
			`{"usage\tinput_tokens":9,"usage\ttotal_tokens":9}`, shown+result+"\n"); out != want {
			t.Errorf("shown as %s, not %s", out, want)
		}
	}
}

// Two messages of one request's answer have the same figures, which count once.
func TestQwenSplitAnswer(t *testing.T) {
	const message = `{"type":"assistant","message":{"content":[{"type":"text","text":"ok"}],"usage":{"input_tokens":9,"output_tokens":6}}}` + "\n"
	const stdout = `{"type":"system","subtype":"init","session_id":"` + tooltest.SomeID +
		`","qwen_code_version":"0.24.4"}` + "\n" +
		message + message +
		`{"type":"result","subtype":"success","result":"ok","usage":{"input_tokens":27,"output_tokens":18}}` + "\n"
	out, _, _ := playQwen(rewrite.StreamJSON, rewrite.Plan{Resume: tooltest.SomeID},
		`{"usage\tinput_tokens":18,"usage\toutput_tokens":12}`, stdout)
	if want := `"usage":{"input_tokens":9,"output_tokens":6}}`; strings.Count(out, want) != 3 {
		t.Errorf("shown as %s", out)
	}
}

// stripNumbersAll puts 0 for every number of a member.
func stripNumbersAll(text string) string {
	return regexp.MustCompile(`":\d+`).ReplaceAllString(text, `":0`)
}

func TestQwenRefuses(t *testing.T) {
	tests := []struct {
		recording string
		exit      int
		want      reason.Code
	}{
		{"resume-unknown-text", 1, reason.RefusedUnknown},
		{"resume-unknown-json", 1, reason.RefusedUnknown},
		{"resume-othercwd", 1, reason.RefusedUnknown},
		{"http401-text", 1, ""},
		{"no-prompt", 1, ""},
		{"resume-text", 0, ""},
	}
	for _, tt := range tests {
		if got := tool.Refused(recording(t, tt.recording, "stderr"), tt.exit); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.recording, got, tt.want)
		}
	}
	for name, want := range map[string]reason.Code{"badtool-stream": reason.RefusedBroken,
		"http401-stream": ""} {
		for _, format := range []rewrite.Format{rewrite.StreamJSON} {
			_, _, seen := playQwen(format, rewrite.Plan{}, "", recording(t, name, "stdout"))
			if seen.Refusal != want || seen.Content {
				t.Errorf("%s as %s: %q, content %v", name, format, seen.Refusal, seen.Content)
			}
		}
	}
	if got := refusals.In(
		"[API Error: 400 This model's maximum context length is 128000 tokens.]"); got !=
		reason.RefusedContext {
		t.Errorf("an overflow: %q", got)
	}
}

// An overflow of a session is answered: qwen shortens its history and asks again.
func TestQwenCompacts(t *testing.T) {
	for name, want := range map[string]bool{"toobig-stream": true, "resume-stream": false} {
		for _, format := range []rewrite.Format{rewrite.StreamJSON} {
			if _, _, seen := playQwen(format, rewrite.Plan{}, "",
				recording(t, name, "stdout")); seen.Compacted != want || seen.Failed ||
				!seen.Content {
				t.Errorf("%s as %s: %+v", name, format, seen)
			}
		}
	}
}

// The gate stays closed under another ID, and in the source in place of a copy.
func TestQwenWrongID(t *testing.T) {
	stdout := recording(t, "resume-stream", "stdout")
	_, _, seen := playQwen(rewrite.StreamJSON, rewrite.Plan{}, "", stdout)
	id := seen.ID
	for _, tt := range []struct {
		plan rewrite.Plan
		want bool
	}{{rewrite.Plan{Resume: id}, false}, {rewrite.Plan{Resume: id, Copy: true}, true},
		{rewrite.Plan{Resume: tooltest.SomeID}, true},
		{rewrite.Plan{Resume: tooltest.SomeID, Copy: true}, false}} {
		if _, _, seen := playQwen(rewrite.StreamJSON, tt.plan, "", stdout); seen.WrongID !=
			tt.want || seen.Content == tt.want {
			t.Errorf("%+v: wrong %v, content %v", tt.plan, seen.WrongID, seen.Content)
		}
	}
}

func TestQwenSessionFiles(t *testing.T) {
	paths := rewrite.SessionPaths(tool, "/h/.qwen", "/work/my app", tooltest.SomeID)
	file := "/projects/-work-my-app/chats/" + tooltest.SomeID + ".jsonl"
	if want := []string{"/h/.qwen" + file, "/h/.qwen/projects/*/chats/" + tooltest.SomeID +
		".jsonl"}; !slices.Equal(paths, want) {
		t.Errorf("%q, want %q", paths, want)
	}
	files, ok := rewrite.FilesOf(tool, "/h/.qwen", tooltest.SomeID, paths[0])
	if !ok || files.Paths[0] != file[1:] ||
		!slices.Contains(files.Paths, "file-history/"+tooltest.SomeID) || len(files.Paths) != 5 {
		t.Errorf("%v, %+v", ok, files)
	}
	if _, ok := rewrite.FilesOf(tool, "/h/.qwen", tooltest.SomeID,
		"/h/.qwen/projects/x/"+tooltest.SomeID+".jsonl"); ok {
		t.Error("a file elsewhere is a session")
	}
}

func TestQwenHelp(t *testing.T) {
	help, err := os.ReadFile("../../../testdata/help/qwen-0.24.4.txt")
	if err != nil {
		t.Fatal(err)
	}
	probe := tool.Options(string(help))
	if !probe.Known || !probe.Resume || len(probe.Options) < 50 {
		t.Fatalf("probe known %v, resume %v, %d options", probe.Known, probe.Resume,
			len(probe.Options))
	}
	for _, o := range probe.Options {
		for _, name := range o.Names {
			known, ok := options.Find(name)
			arity := known.Arity
			if arity == rewrite.OptionalValue { // --help does not tell
				arity = rewrite.OneValue
			}
			if !ok || arity != o.Arity {
				t.Errorf("%s: the grammar has it: %v, with arity %v; --help says %v", name, ok,
					known.Arity, o.Arity)
			}
		}
	}
}
