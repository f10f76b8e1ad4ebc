package opencode

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
	"reprise/test/tooltest"
)

// call reads a command line written as words; underscores stand for spaces.
func call(line string, env ...string) rewrite.CommandLine {
	return tool().Parse(tooltest.Invocation(line, env...))
}

func tool() opencode {
	registered, _ := rewrite.Lookup("opencode")
	return registered.(opencode)
}

func TestOpencodeReads(t *testing.T) {
	tooltest.CheckReadings(t, call, []tooltest.Reading{
		{"run hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"run hi there_you", "", rewrite.Fresh, "", "hi there you", rewrite.Text},
		{"run hi -- -x y", "", rewrite.Fresh, "", "hi -x y", rewrite.Text},
		{"run --auto hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"--pure run hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"run hi --format json", "", rewrite.Fresh, "", "hi", rewrite.StreamJSON},
		{"run hi --format=default -m a/b --agent plan --variant high", "", rewrite.Fresh, "", "hi",
			rewrite.Text},
		{"run", "", rewrite.Fresh, "", "", rewrite.Text}, // the prompt is on stdin
		{"run 007", "", rewrite.Fresh, "", "007", rewrite.Text},
		{"run /init", "", rewrite.Fresh, "", "/init", rewrite.Text}, // sent as it stands
		{"run hi --print-logs --log-level DEBUG", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"run hi --fork=false", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"run hi --title", "", rewrite.Fresh, "", "hi", rewrite.Text},

		{"", "", rewrite.Passthrough, reason.Interactive, "", rewrite.Text},
		{"--continue", "", rewrite.Passthrough, reason.Interactive, "", rewrite.Text},
		{"session list", "", rewrite.Passthrough, reason.NotManaged, "list", rewrite.Text},
		{"run --help", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text},
		{"serve", "", rewrite.Passthrough, reason.AppServer, "", rewrite.Text},
		{"acp --port 1", "", rewrite.Passthrough, reason.AppServer, "", rewrite.Text},
		{"run hi", "OPENCODE=1", rewrite.Passthrough, reason.Nested, "hi", rewrite.Text},
		{"run hi", rewrite.NestedEnv + "=opencode:1", rewrite.Passthrough, reason.Nested, "hi",
			rewrite.Text},
		{"run hi -s " + tooltest.SomeSession, "", rewrite.Passthrough, reason.CallerSession, "hi",
			rewrite.Text},
		{"run hi --format json -s " + tooltest.SomeSession, "", rewrite.Observe,
			reason.CallerSession, "hi", rewrite.StreamJSON},
		{"run hi -c --format json", "", rewrite.Observe, reason.CallerSession, "hi",
			rewrite.StreamJSON},
		{"run hi --attach http://x", "", rewrite.Passthrough, reason.UnmanagedOption, "hi",
			rewrite.Text},
		{"run --command init hi", "", rewrite.Passthrough, reason.UnmanagedOption, "hi",
			rewrite.Text},
		{"run hi -f a b", "", rewrite.Passthrough, reason.UnmanagedOption, "hi b", rewrite.Text},
		{"run hi --share", "", rewrite.Passthrough, reason.UnmanagedOption, "hi", rewrite.Text},
		{"run hi --log-level ERROR", "", rewrite.Passthrough, reason.UnmanagedOption, "hi",
			rewrite.Text},
		{"run hi", "OPENCODE_LOG_LEVEL=WARN", rewrite.Passthrough, reason.UnmanagedOption, "hi",
			rewrite.Text},
		// each line names the session
		{"run hi --log-level ERROR --format json", "", rewrite.Fresh, "", "hi", rewrite.StreamJSON},
		{"run hi", "OPENCODE_DB=/x.db", rewrite.Passthrough, reason.UnmanagedOption, "hi",
			rewrite.Text},
		{"run hi --bogus", "", rewrite.Passthrough, reason.UnknownOption, "hi", rewrite.Text},
		{"run hi --format xml", "", rewrite.Passthrough, reason.BadUsage, "hi", ""},
		{"run hi --agent a --agent b", "", rewrite.Passthrough, reason.BadUsage, "hi",
			rewrite.Text},
		{"run hi --model", "", rewrite.Passthrough, reason.BadUsage, "hi", rewrite.Text},
	})
}

// opencode works in the directory that PWD names.
func TestOpencodeDirectory(t *testing.T) {
	for _, tt := range []struct{ line, pwd, want string }{
		{"run hi", "", ""}, {"run hi", "/a", "/a"}, {"run hi", "relative", ""},
		{"run hi --dir b", "/a", "/a/b"},
		{"run hi --dir /b", "/a", "/b"}, {"run hi --dir b", "", "b"},
	} {
		if got := call(tt.line, "PWD="+tt.pwd).Dir; got != tt.want {
			t.Errorf("%s in %q: %q, want %q", tt.line, tt.pwd, got, tt.want)
		}
	}
}

func TestOpencodePrompt(t *testing.T) {
	for _, tt := range []struct{ line, stdin, want string }{
		{"run hi there_you", "", "hi there you"}, {"run hi", "data\n", "hi\ndata\n"},
		{"run", "  data\n\n", "  data\n\n"},
	} {
		if got := tool().EffectivePrompt(call(tt.line), tt.stdin); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestOpencodePlan(t *testing.T) {
	whole := func(prompt string) rewrite.Target {
		return tooltest.To{ID: tooltest.SomeSession, Prompt: prompt, Whole: true}.Target()
	}
	delta := func(prompt, asked string) rewrite.Target {
		return tooltest.To{ID: tooltest.SomeSession, Prompt: prompt, Asked: asked}.Target()
	}
	long := strings.Repeat("x", base.LongestArg+1)
	tests := []struct {
		line   string
		target rewrite.Target
		args   string // with | between them
		stdin  string // "-" for the caller's own
	}{
		{"run hi", rewrite.ToFresh("hi"), "run|--print-logs=true|hi", "-"},
		{"run hi --format json", rewrite.ToFresh("hi"), "run|hi|--format|json", "-"},
		{"run hi --print-logs", rewrite.ToFresh("hi"), "run|hi|--print-logs", "-"},
		{"--pure run hi", rewrite.ToFresh("hi"), "--pure|run|--print-logs=true|hi", "-"},
		{"run a b_c --auto", whole("a b c"),
			"run|--print-logs=true|--session=" + tooltest.SomeSession + "|a|b c|--auto", "-"},
		{"run old --format=json --auto", delta("-new", "old"),
			"run|--session=" + tooltest.SomeSession + "|--format=json|--auto", "-new"},
		{"run old --format=json", delta("new words", "old"),
			"run|--session=" + tooltest.SomeSession + "|new words|--format=json", ""},
		{"--pure run -- old", delta("new words", "old"),
			"--pure|run|--print-logs=true|--session=" + tooltest.SomeSession + "|--|new words", ""},
		{"run a --format=json -- -b", delta("new", "a -b"),
			"run|--session=" + tooltest.SomeSession + "|--format=json|--", "new"},
		{"run --format=json", delta("new", "old"), "run|--session=" + tooltest.SomeSession +
			"|--format=json", "new"},
		{"run a --format=json", delta("new", "a\nold"),
			"run|--session=" + tooltest.SomeSession + "|--format=json", "new"},
		{"run old --format=json", delta(long, "old"),
			"run|--session=" + tooltest.SomeSession + "|--format=json", long},
	}
	for _, tt := range tests {
		p := tool().Plan(call(tt.line), tt.target)
		if got := strings.Join(p.Args, "|"); got != tt.args {
			t.Errorf("%s: %s, want %s", tt.line, got, tt.args)
		}
		if p.HasStdin != (tt.stdin != "-") || p.HasStdin && p.Stdin != tt.stdin {
			t.Errorf("%s: stdin %v %.20q", tt.line, p.HasStdin, p.Stdin)
		}
	}
}

func TestOpencodeVersions(t *testing.T) {
	for version, want := range map[string]reason.Code{"": reason.NoResume,
		"1.15.13": reason.NoResume, "1.17.0": "", "1.18.33": "", "2.0.0": reason.NoResume} {
		if got := tool().ResolveWithEnv(call("run hi"),
			rewrite.HostEnv{Version: version}).Reason; got != want {
			t.Errorf("%q: %q", version, got)
		}
	}
}

// Lines that opencode or kilo itself writes into a configuration are no change.
func TestOpencodeSettings(t *testing.T) {
	settings := func(path, text string) []rewrite.Setting {
		c := call("run hi", "HOME=/h")
		c.SettingsFiles = []string{path}
		return tool().ResolveWithEnv(c, rewrite.HostEnv{Version: "1.18.33",
			Settings: []rewrite.File{{Path: path, Text: text}}}).Settings
	}
	tests := []struct {
		path, a, b string
		same       bool
	}{
		{"/h/opencode.json", `{"model":"a"}`,
			"{\n  \"$schema\": \"https://opencode.ai/config.json\",\"model\":\"a\"}", true},
		{"/h/opencode.json", "{\n  // mine\n  \"model\": \"a\",\n}",
			"{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  // mine\n  \"model\": " +
				"\"a\",\n}", true},
		{"/h/opencode.json", "{}", `{"$schema": "https://opencode.ai/config.json"}`, true},
		{"/h/opencode.json", `{"model":"a"}`, `{"model":"b"}`, false},
		{"/h/opencode.jsonc", "{ // c\n\"model\":\"a\",}", "{ // c\n\"model\":\"b\",}", false},
		{"/h/kilo.json", `{"model":"a"}`,
			`{"$schema":"x","model":"a","permission":{"bash":"allow"}}`, true},
		{"/h/opencode.json", `{"model":"a"}`, `{"model":"a","permission":{"bash":"allow"}}`, false},
		{"/h/auth.json", `{"p":{"type":"oauth","access":"1","refresh":"2","expires":3}}`,
			`{"p":{"type":"oauth","access":"4","refresh":"5","expires":6}}`, true},
		{"/h/auth.json", `{"p":{"type":"api","key":"1"}}`, `{"p":{"type":"api","key":"2"}}`, false},
		{"/h/auth.json", `{}`, `{"p":{"type":"api","key":"2"}}`, false},
	}
	for _, tt := range tests {
		if got := slices.Equal(settings(tt.path, tt.a), settings(tt.path, tt.b)); got != tt.same {
			t.Errorf("%s: %s and %s: same %v", tt.path, tt.a, tt.b, got)
		}
	}
}

func TestOpencodeIDs(t *testing.T) {
	for id, want := range map[string]bool{
		tooltest.SomeSession: true, "ses_dfc14b2ceffekXc3G9bVDVUSG": false,
		"ses_dfc14b2ceffgkXc3G9bVDVUSG5g": false, "msg_dfc14b2ceffekXc3G9bVDVUSG5": false,
		"ses_xfc14b2ceffekXc3G9bVDVUSG5": false, "ses_dfc14b2ceffekXc3G9bVDVU-G5": false, "": false,
	} {
		if got := tool().ValidID(id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}

// playOpencode plays a recording and returns the output for the caller.
func playOpencode(t *testing.T, name string, c rewrite.CommandLine, p rewrite.Plan) (stdout,
	stderr string,
	seen *rewrite.StreamState) {
	t.Helper()
	stream := tool().Stream(c, p, "")
	read := func(file string, take func([]byte) []byte) (shown string) {
		text, err := os.ReadFile(filepath.Join("../../../testdata/recordings/opencode", name, file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			shown += string(take([]byte(line)))
		}
		return shown
	}
	stderr, stdout = read("stderr", stream.ErrLine), read("stdout", stream.Line)
	stdout += string(stream.End())
	return stdout, stderr, stream.Seen()
}

// A call with the log on stderr shows the same as a call without it.
func TestOpencodeTakesItsLogOut(t *testing.T) {
	for with, without := range map[string]string{
		"logs-text": "tool-text", "logs-http401-text": "http401-text",
		"logs-badtool-text": "badtool-text", "logs-toobig-text": "toobig-text",
		"logs-resume-text": "resume-ok-text",
	} {
		stdout, stderr, seen := playOpencode(t, with, rewrite.CommandLine{Format: rewrite.Text},
			rewrite.Plan{})
		wantOut, wantErr, _ := playOpencode(t, without, rewrite.CommandLine{Format: rewrite.Text},
			rewrite.Plan{})
		if stdout != wantOut || stderr != wantErr {
			t.Errorf("%s: %q, %q; want %q, %q", with, stdout, stderr, wantOut, wantErr)
		}
		if !tool().ValidID(seen.ID) || seen.Source != "stderr" || seen.Model != "stand-in" {
			t.Errorf("%s: %+v", with, seen)
		}
		kept, shown, _ := playOpencode(t, with,
			rewrite.CommandLine{Format: rewrite.Text, Own: true}, rewrite.Plan{})
		if kept != wantOut || strings.Count(shown, " run=") < 10 {
			t.Errorf("%s, whose caller wants the log: %q, %q", with, kept, shown)
		}
	}
}

// A tool's output can look like a log, even like this run's own.
func TestOpencodeShowsAForeignLog(t *testing.T) {
	s := tool().Stream(rewrite.CommandLine{Format: rewrite.Text}, rewrite.Plan{}, "")
	line := func(at, run, rest string) string {
		return "timestamp=2026-11-22T15:39:" + at + "Z level=INFO run=" + run + " message=" + rest +
			"\n"
	}
	other := "ses_aaaaaaaaaaaakXc3G9bVDVUSG5"
	for _, tt := range []struct {
		text  string
		shown bool
	}{
		{line("32.392", "bd5b6dac", "created id="+tooltest.SomeSession+" parentID=undefined"),
			false},
		{line("33.000", "5eb1b50a", "created id="+other+" parentID=undefined"), true},
		{line("32.391", "bd5b6dac", "created id="+other+" parentID=undefined"), true},
		{line("32.392", "bd5b6dac", "x"), false},
		{"INFO  2026-11-22T15:53:23 +423ms service=bus publishing\n", true}, // kilo's
		{"hi\n", true},
		{line("40.000", "bd5b6dac", "loop session.id="+tooltest.SomeSession+" step=1"), false},
	} {
		if got := string(s.ErrLine([]byte(tt.text))); (got == tt.text) != tt.shown {
			t.Errorf("%q: %q", tt.text, got)
		}
	}
	if seen := s.Seen(); seen.ID != tooltest.SomeSession || !seen.Content {
		t.Errorf("%+v", seen)
	}
}

func TestOpencodeJSON(t *testing.T) {
	tests := []struct {
		name    string
		resume  string // "" for a fresh call
		answer  string
		final   bool
		failed  bool
		tool    bool
		refusal reason.Code
	}{
		{"fresh-json", "", "Got it: 456.", true, false, false, ""},
		{"tool-json", "", "ok", true, false, true, ""},
		{"empty-json", "", "", true, false, false, ""},
		{"multi-json", "", "line one\n\n  line two \u2028 é \x1b[31mred\x1b[0m\n\n", true, false,
			false, ""},
		{"http401-json", "", "", true, true, false, ""},
		{"toobig-json", "", "", true, true, false, reason.RefusedContext},
		{"badtool-json", "", "", true, true, false, reason.RefusedBroken},
		{"fork-json", tooltest.SomeSession, "456", true, false, false, ""}, // under another ID
		{"resume-othercwd-json", "", "", false, false, false, ""},          // it hung
	}
	for _, tt := range tests {
		stdout, _, seen := playOpencode(t, tt.name, rewrite.CommandLine{Format: rewrite.StreamJSON},
			rewrite.Plan{Resume: tt.resume})
		if text, err := os.ReadFile("../../../testdata/recordings/opencode/" + tt.name +
			"/stdout"); err != nil || string(text) != stdout {
			t.Errorf("%s: it is changed (%v)", tt.name, err)
		}
		if seen.Final != tt.final || seen.Failed != tt.failed || seen.ToolRan != tt.tool ||
			seen.Refusal != tt.refusal || seen.WrongID != (tt.resume != "") {
			t.Errorf("%s: %+v", tt.name, seen)
		}
		if seen.Answer != tt.answer {
			t.Errorf("%s: answer %q", tt.name, seen.Answer)
		}
		if seen.Usage.Known != (tt.final && !tt.failed) {
			t.Errorf("%s: usage %+v", tt.name, seen.Usage)
		}
	}
}

func TestOpencodeRefused(t *testing.T) {
	_, stderr, _ := playOpencode(t, "resume-unknown-text",
		rewrite.CommandLine{Format: rewrite.Text},
		rewrite.Plan{})
	if got := tool().Refused(stderr, 1); got != reason.RefusedUnknown {
		t.Errorf("%q: %q", stderr, got)
	}
	if got := tool().Refused("Session not found\n", 1); got != "" {
		t.Errorf("the model's words: %q", got)
	}
}

// Text shows no figures: the call's are the increase of the session's.
func TestOpencodeRow(t *testing.T) {
	sessionRow := func(cost, in, out, read, summaries string) string {
		return `[1,"/p",0,"1.18.33","m",` + cost + "," + in + "," + out + "," + read +
			`,5,4,"msg_1",900,` + summaries + "]"
	}
	before := sessionRow("0.25", "100", "10", "20", "0")
	for _, tt := range []struct {
		format rewrite.Format
		resume string
		before string
		want   rewrite.Usage
	}{
		{rewrite.Text, "", "", rewrite.Usage{Known: true, Input: 150, CacheRead: 30, CacheWrite: 5,
			Output: 12, CostNano: 5e8, CostKnown: true}},
		{rewrite.Text, tooltest.SomeSession, before,
			rewrite.Usage{Known: true, Input: 50, CacheRead: 10, CacheWrite: 0, Output: 2,
				CostNano: 25e7, CostKnown: true}},
		{rewrite.Text, tooltest.SomeSession, "", rewrite.Usage{}},
		{rewrite.StreamJSON, tooltest.SomeSession, before, rewrite.Usage{}},
	} {
		s := tool().Stream(rewrite.CommandLine{Format: tt.format}, rewrite.Plan{Resume: tt.resume},
			rewrite.Totals(tt.before))
		s.File("opencode.db", []byte(sessionRow("0.5", "150", "12", "30", "1")))
		s.File("opencode.db", []byte("[]"))
		seen := s.Seen()
		if seen.Usage != tt.want || !seen.Compacted || seen.Model != "m" ||
			seen.Version != "1.18.33" || seen.Totals == "" {
			t.Errorf("%s %q: %+v", tt.format, tt.resume, seen)
		}
	}
}
