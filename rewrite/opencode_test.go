package rewrite

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite/reason"
)

const someSession = "ses_dfc14b2ceffekXc3G9bVDVUSG5"

// opencodeCall reads a command line written as words; underscores stand for spaces.
func opencodeCall(line string, env ...string) Call {
	return theOpencode().Parse(invocation(line, env...))
}

func theOpencode() opencode {
	return opencode{base{}, &opencodeDescriptor, "OPENCODE_", []int{1, 17, 0}, []int{2}}
}

func TestOpencodeReads(t *testing.T) {
	checkReadings(t, opencodeCall, []reading{
		{"run hi", "", Fresh, "", "hi", Text},
		{"run hi there_you", "", Fresh, "", "hi there you", Text},
		{"run hi -- -x y", "", Fresh, "", "hi -x y", Text},
		{"run --auto hi", "", Fresh, "", "hi", Text},
		{"--pure run hi", "", Fresh, "", "hi", Text},
		{"run hi --format json", "", Fresh, "", "hi", StreamJSON},
		{"run hi --format=default -m a/b --agent plan --variant high", "", Fresh, "", "hi", Text},
		{"run", "", Fresh, "", "", Text}, // the prompt is on stdin
		{"run 007", "", Fresh, "", "007", Text},
		{"run /init", "", Fresh, "", "/init", Text}, // sent as it stands
		{"run hi --print-logs --log-level DEBUG", "", Fresh, "", "hi", Text},
		{"run hi --fork=false", "", Fresh, "", "hi", Text},
		{"run hi --title", "", Fresh, "", "hi", Text},

		{"", "", Passthrough, reason.Interactive, "", Text},
		{"--continue", "", Passthrough, reason.Interactive, "", Text},
		{"session list", "", Passthrough, reason.Admin, "list", Text},
		{"run --help", "", Passthrough, reason.Admin, "", Text},
		{"serve", "", Passthrough, reason.AppServer, "", Text},
		{"acp --port 1", "", Passthrough, reason.AppServer, "", Text},
		{"run hi", "OPENCODE=1", Passthrough, reason.Nested, "hi", Text},
		{"run hi", NestedEnv + "=opencode:1", Passthrough, reason.Nested, "hi", Text},
		{"run hi -s " + someSession, "", Passthrough, reason.CallerSession, "hi", Text},
		{"run hi --format json -s " + someSession, "", Observe, reason.CallerSession, "hi", StreamJSON},
		{"run hi -c --format json", "", Observe, reason.CallerSession, "hi", StreamJSON},
		{"run hi --attach http://x", "", Passthrough, reason.UnmanagedOption, "hi", Text},
		{"run --command init hi", "", Passthrough, reason.UnmanagedOption, "hi", Text},
		{"run hi -f a b", "", Passthrough, reason.UnmanagedOption, "hi b", Text},
		{"run hi --share", "", Passthrough, reason.UnmanagedOption, "hi", Text},
		{"run hi --log-level ERROR", "", Passthrough, reason.UnmanagedOption, "hi", Text},
		{"run hi", "OPENCODE_LOG_LEVEL=WARN", Passthrough, reason.UnmanagedOption, "hi", Text},
		{"run hi --log-level ERROR --format json", "", Fresh, "", "hi", StreamJSON}, // each line names the session
		{"run hi", "OPENCODE_DB=/x.db", Passthrough, reason.UnmanagedOption, "hi", Text},
		{"run hi --bogus", "", Passthrough, reason.UnknownOption, "hi", Text},
		{"run hi --format xml", "", Passthrough, reason.BadUsage, "hi", ""},
		{"run hi --agent a --agent b", "", Passthrough, reason.BadUsage, "hi", Text},
		{"run hi --model", "", Passthrough, reason.BadUsage, "hi", Text},
	})
}

// opencode works in the directory that PWD names.
func TestOpencodeDirectory(t *testing.T) {
	for _, tt := range []struct{ line, pwd, want string }{
		{"run hi", "", ""}, {"run hi", "/a", "/a"}, {"run hi", "relative", ""}, {"run hi --dir b", "/a", "/a/b"},
		{"run hi --dir /b", "/a", "/b"}, {"run hi --dir b", "", "b"},
	} {
		if got := opencodeCall(tt.line, "PWD="+tt.pwd).Dir; got != tt.want {
			t.Errorf("%s in %q: %q, want %q", tt.line, tt.pwd, got, tt.want)
		}
	}
}

func TestOpencodePrompt(t *testing.T) {
	for _, tt := range []struct{ line, stdin, want string }{
		{"run hi there_you", "", "hi there you"}, {"run hi", "data\n", "hi\ndata\n"}, {"run", "  data\n\n", "  data\n\n"},
	} {
		if got := theOpencode().EffectivePrompt(opencodeCall(tt.line), tt.stdin); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestOpencodePlan(t *testing.T) {
	whole := func(prompt string) Target { return Target{id: someSession, prompt: prompt, whole: true} }
	delta := func(prompt, asked string) Target { return Target{id: someSession, prompt: prompt, asked: asked} }
	long := strings.Repeat("x", longestArg+1)
	tests := []struct {
		line   string
		target Target
		args   string // with | between them
		stdin  string // "-" for the caller's own
	}{
		{"run hi", ToFresh("hi"), "run|--print-logs=true|hi", "-"},
		{"run hi --format json", ToFresh("hi"), "run|hi|--format|json", "-"},
		{"run hi --print-logs", ToFresh("hi"), "run|hi|--print-logs", "-"},
		{"--pure run hi", ToFresh("hi"), "--pure|run|--print-logs=true|hi", "-"},
		{"run a b_c --auto", whole("a b c"), "run|--print-logs=true|--session=" + someSession + "|a|b c|--auto", "-"},
		{"run old --format=json --auto", delta("-new", "old"), "run|--session=" + someSession + "|--format=json|--auto|--|-new", ""},
		{"run a --format=json -- -b", delta("new", "a -b"), "run|--session=" + someSession + "|--format=json|--|new", ""},
		{"run --format=json", delta("new", "old"), "run|--session=" + someSession + "|--format=json", "new"},
		{"run a --format=json", delta("new", "a\nold"), "run|--session=" + someSession + "|--format=json", "new"},
		{"run old --format=json", delta(long, "old"), "run|--session=" + someSession + "|--format=json", long},
	}
	for _, tt := range tests {
		p := theOpencode().Plan(opencodeCall(tt.line), tt.target)
		if got := strings.Join(p.Args, "|"); got != tt.args {
			t.Errorf("%s: %s, want %s", tt.line, got, tt.args)
		}
		if p.HasStdin != (tt.stdin != "-") || p.HasStdin && p.Stdin != tt.stdin {
			t.Errorf("%s: stdin %v %.20q", tt.line, p.HasStdin, p.Stdin)
		}
	}
}

func TestOpencodeVersions(t *testing.T) {
	for version, want := range map[string]reason.Code{"": reason.NoResume, "1.15.13": reason.NoResume, "1.17.0": "", "1.18.33": "", "2.0.0": reason.NoResume} {
		if got := theOpencode().ResolveWithEnv(opencodeCall("run hi"), HostEnv{Version: version}).Reason; got != want {
			t.Errorf("%q: %q", version, got)
		}
	}
}

// What opencode or kilo itself writes into a configuration is no change of it.
func TestOpencodeSettings(t *testing.T) {
	settings := func(path, text string) []Setting {
		c := opencodeCall("run hi", "HOME=/h")
		c.SettingsFiles = []string{path}
		return theOpencode().ResolveWithEnv(c, HostEnv{Version: "1.18.33", Settings: map[string]string{path: text}}).Settings
	}
	tests := []struct {
		path, a, b string
		same       bool
	}{
		{"/h/opencode.json", `{"model":"a"}`, "{\n  \"$schema\": \"https://opencode.ai/config.json\",\"model\":\"a\"}", true},
		{"/h/opencode.json", "{\n  // mine\n  \"model\": \"a\",\n}", "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  // mine\n  \"model\": \"a\",\n}", true},
		{"/h/opencode.json", "{}", `{"$schema": "https://opencode.ai/config.json"}`, true},
		{"/h/opencode.json", `{"model":"a"}`, `{"model":"b"}`, false},
		{"/h/opencode.jsonc", "{ // c\n\"model\":\"a\",}", "{ // c\n\"model\":\"b\",}", false},
		{"/h/kilo.json", `{"model":"a"}`, `{"$schema":"x","model":"a","permission":{"bash":"allow"}}`, true},
		{"/h/opencode.json", `{"model":"a"}`, `{"model":"a","permission":{"bash":"allow"}}`, false},
		{"/h/auth.json", `{"p":{"type":"oauth","access":"1","refresh":"2","expires":3}}`, `{"p":{"type":"oauth","access":"4","refresh":"5","expires":6}}`, true},
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
		someSession: true, "ses_dfc14b2ceffekXc3G9bVDVUSG": false, "ses_dfc14b2ceffgkXc3G9bVDVUSG5g": false, "msg_dfc14b2ceffekXc3G9bVDVUSG5": false,
		"ses_xfc14b2ceffekXc3G9bVDVUSG5": false, "ses_dfc14b2ceffekXc3G9bVDVU-G5": false, "": false,
	} {
		if got := theOpencode().ValidID(id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}

// playOpencode plays a recording and returns what its caller sees.
func playOpencode(t *testing.T, name string, c Call, p Plan) (stdout, stderr string, seen *StreamState) {
	t.Helper()
	stream := theOpencode().Stream(c, p, "")
	read := func(file string, take func([]byte) []byte) (shown string) {
		text, err := os.ReadFile(filepath.Join("../testdata/recordings/opencode", name, file))
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

// A call with the log on stderr shows what one without it shows.
func TestOpencodeTakesItsLogOut(t *testing.T) {
	for with, without := range map[string]string{
		"logs-text": "tool-text", "logs-http401-text": "http401-text", "logs-badtool-text": "badtool-text", "logs-toobig-text": "toobig-text",
		"logs-resume-text": "resume-ok-text",
	} {
		stdout, stderr, seen := playOpencode(t, with, Call{Format: Text}, Plan{})
		wantOut, wantErr, _ := playOpencode(t, without, Call{Format: Text}, Plan{})
		if stdout != wantOut || stderr != wantErr {
			t.Errorf("%s: %q, %q; want %q, %q", with, stdout, stderr, wantOut, wantErr)
		}
		if !theOpencode().ValidID(seen.ID) || seen.Source != "stderr" || seen.Model != "stand-in" {
			t.Errorf("%s: %+v", with, seen)
		}
		kept, shown, _ := playOpencode(t, with, Call{Format: Text, Own: opencodeOwn{ownLogs: true}}, Plan{})
		if kept != wantOut || strings.Count(shown, " run=") < 10 {
			t.Errorf("%s, whose caller wants the log: %q, %q", with, kept, shown)
		}
	}
}

// A tool's output may look like a log, even like this run's own.
func TestOpencodeShowsAForeignLog(t *testing.T) {
	s := theOpencode().Stream(Call{Format: Text}, Plan{}, "")
	line := func(at, run, rest string) string {
		return "timestamp=2026-11-22T15:39:" + at + "Z level=INFO run=" + run + " message=" + rest + "\n"
	}
	other := "ses_aaaaaaaaaaaakXc3G9bVDVUSG5"
	for _, tt := range []struct {
		text  string
		shown bool
	}{
		{line("32.392", "bd5b6dac", "created id="+someSession+" parentID=undefined"), false},
		{line("33.000", "5eb1b50a", "created id="+other+" parentID=undefined"), true},
		{line("32.391", "bd5b6dac", "created id="+other+" parentID=undefined"), true},
		{line("32.392", "bd5b6dac", "x"), false},
		{"INFO  2026-11-22T15:53:23 +423ms service=bus publishing\n", true}, // kilo's
		{"hi\n", true},
		{line("40.000", "bd5b6dac", "loop session.id="+someSession+" step=1"), false},
	} {
		if got := string(s.ErrLine([]byte(tt.text))); (got == tt.text) != tt.shown {
			t.Errorf("%q: %q", tt.text, got)
		}
	}
	if seen := s.Seen(); seen.ID != someSession || !seen.Content {
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
		{"multi-json", "", "line one\n\n  line two \u2028 é \x1b[31mred\x1b[0m\n\n", true, false, false, ""},
		{"http401-json", "", "", true, true, false, ""},
		{"toobig-json", "", "", true, true, false, reason.RefusedContext},
		{"badtool-json", "", "", true, true, false, reason.RefusedBroken},
		{"fork-json", someSession, "456", true, false, false, ""}, // under another ID
		{"resume-othercwd-json", "", "", false, false, false, ""}, // it hung
	}
	for _, tt := range tests {
		stdout, _, seen := playOpencode(t, tt.name, Call{Format: StreamJSON}, Plan{Resume: tt.resume})
		if text, err := os.ReadFile("../testdata/recordings/opencode/" + tt.name + "/stdout"); err != nil || string(text) != stdout {
			t.Errorf("%s: it is changed (%v)", tt.name, err)
		}
		if seen.Final != tt.final || seen.Failed != tt.failed || seen.ToolRan != tt.tool || seen.Refusal != tt.refusal || seen.WrongID != (tt.resume != "") {
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
	_, stderr, _ := playOpencode(t, "resume-unknown-text", Call{Format: Text}, Plan{})
	if got := theOpencode().Refused(stderr, 1); got != reason.RefusedUnknown {
		t.Errorf("%q: %q", stderr, got)
	}
	if got := theOpencode().Refused("Session not found\n", 1); got != "" {
		t.Errorf("the model's words: %q", got)
	}
}

// Text shows no figures: the call's are the increase of the session's.
func TestOpencodeRow(t *testing.T) {
	row := func(cost, in, out, read, summaries string) string {
		return `[1,"/p",0,"1.18.33","m",` + cost + "," + in + "," + out + "," + read + `,5,4,"msg_1",900,` + summaries + "]"
	}
	before := row("0.25", "100", "10", "20", "0")
	for _, tt := range []struct {
		format Format
		resume string
		before string
		want   Usage
	}{
		{Text, "", "", Usage{true, 150, 30, 5, 12, 5e8, true}},
		{Text, someSession, before, Usage{true, 50, 10, 0, 2, 25e7, true}},
		{Text, someSession, "", Usage{}},
		{StreamJSON, someSession, before, Usage{}},
	} {
		s := theOpencode().Stream(Call{Format: tt.format}, Plan{Resume: tt.resume}, Totals(tt.before))
		s.File("opencode.db", []byte(row("0.5", "150", "12", "30", "1")))
		s.File("opencode.db", []byte("[]"))
		seen := s.Seen()
		if seen.Usage != tt.want || !seen.Compacted || seen.Model != "m" || seen.Version != "1.18.33" || seen.Totals == "" {
			t.Errorf("%s %q: %+v", tt.format, tt.resume, seen)
		}
	}
}
