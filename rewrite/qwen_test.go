package rewrite

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// parseQwen reads a command line as parseGemini does.
func parseQwen(line string, env ...string) Call { return qwen{}.Parse(invocation(line, env...)) }

func TestQwenReads(t *testing.T) {
	checkReadings(t, parseQwen, []reading{
		{"-p hi", "", Fresh, "", "hi", Text},
		{"look here", "", Fresh, "", "look here", Text},
		{"", "", Fresh, "", "", Text}, // the prompt is on stdin
		{"hi -o stream-json --include-partial-messages", "", Fresh, "", "hi", StreamJSON},
		{"hi --add-dir a --addDir b", "", Fresh, "", "hi", Text},
		{"hi --input-format text", "", Fresh, "", "hi", Text},
		{"hi --chat-recording --max-session-turns 3", "", Fresh, "", "hi", Text},
		{"?_why", "", Fresh, "", "? why", Text},
		{"-p hi --fork-session=false", "", Fresh, "", "hi", Text},

		{"-v", "", Passthrough, reason.Admin, "", Text},
		{"sessions list", "", Passthrough, reason.Admin, "sessions list", Text},
		{"-y review run", "", Passthrough, reason.Admin, "review run", Text},
		{"-i hi", "", Passthrough, reason.Admin, "", Text},
		{"serve --port 1", "", Passthrough, reason.AppServer, "serve", Text},
		{"--acp", "", Passthrough, reason.AppServer, "", Text},
		{"hi -r", "", Passthrough, reason.CallerSession, "hi", Text},
		{"hi -c", "", Passthrough, reason.CallerSession, "hi", Text},
		{"hi -o json --session-id " + someID, "", Observe, reason.CallerSession, "hi", JSON},
		{"hi -o json --resume=" + someID + " --fork-session", "", Observe, reason.CallerSession, "hi", JSON},
		{"hi --no-chat-recording", "", Passthrough, reason.OptedOut, "hi", Text},
		{"hi --chat-recording=false", "", Passthrough, reason.OptedOut, "hi", Text},
		{"-p hi", "QWEN_CODE=1", Passthrough, reason.Nested, "hi", Text},
		{"hi --json-file f", "", Passthrough, reason.UnmanagedOption, "hi", Text},
		{"hi --worktree", "", Passthrough, reason.UnmanagedOption, "hi", Text},
		{"hi -o stream-json --input-format stream-json", "", Passthrough, reason.UnmanagedOption, "hi", StreamJSON},
		{"hi --bogus", "", Passthrough, reason.UnknownOption, "hi", Text},
		{"hi --include-partial-messages", "", Passthrough, reason.BadUsage, "hi", Text},
		{"-p hi there", "", Passthrough, reason.BadUsage, "hi there", Text},
		{"-p hi -p there", "", Passthrough, reason.BadUsage, "hi there", Text},
		{"hi -o json -o text", "", Passthrough, reason.BadUsage, "hi", Text},
		{"-- hi", "", Passthrough, reason.BadUsage, "", Text},
		{"/help", "", Passthrough, reason.SlashCommand, "/help", Text},
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

// Versions that do not copy sessions are passed through: with stream-json they end well where the API refuses.
func TestQwenOldVersions(t *testing.T) {
	for version, want := range map[string]Mode{"0.15.10": Passthrough, "0.23.3": Passthrough, "0.23.4": Fresh, "0.24.4": Fresh, "": Fresh} {
		if c := (qwen{}).ResolveWithEnv(parseQwen("hi", ""), HostEnv{Version: version}); c.Mode != want || c.Copies != (want == Fresh && version != "") {
			t.Errorf("%q: %s (%s), copies %t", version, c.Mode, c.Reason, c.Copies)
		}
	}
}

// The form's version is no setting, and qwen adds it itself.
func TestQwenSettles(t *testing.T) {
	settle := func(text string) Call {
		c := parseQwen("hi", "")
		return qwen{}.ResolveWithEnv(c, HostEnv{Settings: map[string]string{".qwen/settings.json": text}})
	}
	without := settle(`{"a": 1, "b": {"c": true}}`)
	for _, text := range []string{`{"$version": 4, "a": 1, "b": {"c": true}}`, "{\n  \"a\": 1,\n  \"b\": {\"c\": true},\n  \"$version\": 4\n}\n"} {
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
	if c := settle(`{"hooks": {"SessionStart": []}}`); c.Reason != reason.HookSetting {
		t.Errorf("a hook: %s %s", c.Mode, c.Reason)
	}
}

func TestQwenSchemaFile(t *testing.T) {
	for line, want := range map[string]Setting{
		"hi --json-schema @a.json": {Name: "--json-schema", Value: "a.json", File: true},
		"hi --json-schema {}":      {Name: "--json-schema", Value: "{}"},
	} {
		if c := parseQwen(line, ""); !slices.Contains(c.Settings, want) {
			t.Errorf("%s: %v", line, c.Settings)
		}
	}
}

func TestQwenPlans(t *testing.T) {
	text := prompt.New("hi", toolKey)
	resume, fork := ToResume(someID, text, prompt.Continuity{}, true), ToCopy(someID, text, prompt.Continuity{}, true)
	tests := []struct {
		line   string
		target Target
		want   string
	}{
		{"hi", ToFresh("hi").Beginning(foreignID), "--session-id=" + foreignID + " hi"},
		{"-o json -p hi", ToFresh("hi"), "-o json -p hi"},
		{"-o text -yp hi", resume, "--resume=" + someID + " --prompt=hi -o text -y"},
		{"hi", fork.Beginning(foreignID), "--resume=" + someID + " --fork-session --prompt=hi"},
		{"hi -o stream-json", fork, "--resume=" + someID + " --fork-session --prompt=hi -o stream-json"},
	}
	for _, tt := range tests {
		plan := qwen{}.Plan(parseQwen(tt.line, ""), tt.target)
		if got := strings.Join(plan.Args, " "); got != tt.want || !plan.ReexecsSelf || !plan.ExitsBeforeFlush {
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
		{"", strings.Repeat("x", maxYargsStdin+1), ""},
	} {
		if got := (qwen{}).EffectivePrompt(parseQwen(tt.line, ""), tt.stdin); got != tt.want {
			t.Errorf("%q and %.20q: %.20q", tt.line, tt.stdin, got)
		}
	}
}

func qwenRecording(t *testing.T, name, stream string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../testdata/recordings/qwen", name, stream))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// playQwen returns what a caller of a format sees of a recorded stdout.
func playQwen(format Format, plan Plan, previous Totals, stdout string) (out, errOut string, seen *StreamState) {
	s := qwen{}.Stream(Call{Format: format}, plan, previous)
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
		stream, array := qwenRecording(t, name+"-stream", "stdout"), qwenRecording(t, name+"-json", "stdout")
		out, _, seen := playQwen(StreamJSON, Plan{}, "", stream)
		other, _, also := playQwen(JSON, Plan{}, "", array)
		if out != stream || other != array {
			t.Errorf("%s is changed: %s%s", name, out, other)
		}
		if seen.Answer != also.Answer || seen.Failed != also.Failed || seen.Final != also.Final || seen.Usage.Output != also.Usage.Output || seen.ToolRan != also.ToolRan {
			t.Errorf("%s: %+v and %+v", name, seen, also)
		}
	}
	partial := qwenRecording(t, "partial-stream", "stdout")
	if out, _, seen := playQwen(StreamJSON, Plan{}, "", partial); out != partial || !seen.Content || seen.Answer != "Got it: 456." {
		t.Errorf("%+v", seen)
	}
}

// A resumed call, also one in a copy, shows its own share of the totals. The session of the recordings
// was resumed in the order text, json, stream.
func TestQwenOwnFigures(t *testing.T) {
	tests := []struct {
		recording string
		format    Format
		copied    bool
		before    string
		previous  Format
	}{
		{"resume-fork-stream", StreamJSON, true, "fresh-stream", StreamJSON},
		{"resume-fork-json", JSON, true, "fresh-stream", StreamJSON},
		{"resume-stream", StreamJSON, false, "resume-json", JSON},
	}
	for _, tt := range tests {
		_, _, before := playQwen(tt.previous, Plan{}, "", qwenRecording(t, tt.before, "stdout"))
		stdout := qwenRecording(t, tt.recording, "stdout")
		out, _, seen := playQwen(tt.format, Plan{Resume: before.ID, Copy: tt.copied}, before.Totals, stdout)
		if u := seen.Usage; seen.WrongID || !u.Known || u.Input+u.CacheRead+u.Output != seen.ContextUse.Used || seen.First.Input != u.Input {
			t.Errorf("%s: %+v", tt.recording, seen)
		}
		if out == stdout || tt.format == JSON && !json.Valid([]byte(out)) || stripNumbersAll(out) != stripNumbersAll(stdout) {
			t.Errorf("%s is shown as %s", tt.recording, out)
		}
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
		if got := (qwen{}).Refused(qwenRecording(t, tt.recording, "stderr"), tt.exit); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.recording, got, tt.want)
		}
	}
	for name, want := range map[string]reason.Code{"badtool-stream": reason.RefusedBroken, "http401-stream": ""} {
		for _, format := range []Format{StreamJSON} {
			_, _, seen := playQwen(format, Plan{}, "", qwenRecording(t, name, "stdout"))
			if seen.Refusal != want || seen.Content {
				t.Errorf("%s as %s: %q, content %v", name, format, seen.Refusal, seen.Content)
			}
		}
	}
	if got := qwenRefusals.in("[API Error: 400 This model's maximum context length is 128000 tokens.]"); got != reason.RefusedContext {
		t.Errorf("an overflow: %q", got)
	}
}

// An overflow of a session is answered: qwen shortens its history and asks again.
func TestQwenCompacts(t *testing.T) {
	for name, want := range map[string]bool{"toobig-stream": true, "resume-stream": false} {
		for _, format := range []Format{StreamJSON} {
			if _, _, seen := playQwen(format, Plan{}, "", qwenRecording(t, name, "stdout")); seen.Compacted != want || seen.Failed || !seen.Content {
				t.Errorf("%s as %s: %+v", name, format, seen)
			}
		}
	}
}

// The gate stays closed under another ID, and in the source in place of a copy.
func TestQwenWrongID(t *testing.T) {
	stdout := qwenRecording(t, "resume-stream", "stdout")
	_, _, seen := playQwen(StreamJSON, Plan{}, "", stdout)
	id := seen.ID
	for _, tt := range []struct {
		plan Plan
		want bool
	}{{Plan{Resume: id}, false}, {Plan{Resume: id, Copy: true}, true}, {Plan{Resume: someID}, true}, {Plan{Resume: someID, Copy: true}, false}} {
		if _, _, seen := playQwen(StreamJSON, tt.plan, "", stdout); seen.WrongID != tt.want || seen.Content == tt.want {
			t.Errorf("%+v: wrong %v, content %v", tt.plan, seen.WrongID, seen.Content)
		}
	}
}

func TestQwenSessionFiles(t *testing.T) {
	paths := qwen{}.SessionPaths("/h/.qwen", "/work/my app", someID)
	file := "/projects/-work-my-app/chats/" + someID + ".jsonl"
	if want := []string{"/h/.qwen" + file, "/h/.qwen/projects/*/chats/" + someID + ".jsonl"}; !slices.Equal(paths, want) {
		t.Errorf("%q, want %q", paths, want)
	}
	files, ok := qwen{}.SessionFiles("/h/.qwen", someID, paths[0])
	if !ok || files.Paths[0] != file[1:] || !slices.Contains(files.Paths, "file-history/"+someID) || len(files.Paths) != 5 {
		t.Errorf("%v, %+v", ok, files)
	}
	if _, ok := (qwen{}).SessionFiles("/h/.qwen", someID, "/h/.qwen/projects/x/"+someID+".jsonl"); ok {
		t.Error("a file elsewhere is a session")
	}
}

func TestQwenHelp(t *testing.T) {
	help, err := os.ReadFile("../testdata/help/qwen-0.24.4.txt")
	if err != nil {
		t.Fatal(err)
	}
	probe := (qwen{}).Options(string(help))
	if !probe.Known || !probe.Resume || len(probe.Options) < 50 {
		t.Fatalf("probe known %v, resume %v, %d options", probe.Known, probe.Resume, len(probe.Options))
	}
	for _, o := range probe.Options {
		for _, name := range o.Names {
			known, ok := qwenOptions.find(name)
			arity := known.Arity
			if arity == OptionalValue { // --help does not tell
				arity = OneValue
			}
			if !ok || arity != o.Arity {
				t.Errorf("%s: the grammar has it: %v, with arity %v; --help says %v", name, ok, known.Arity, o.Arity)
			}
		}
	}
}
