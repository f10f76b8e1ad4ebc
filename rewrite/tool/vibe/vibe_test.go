package vibe

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
	"reprise/test/tooltest"
)

// A resumed run's json is cut wherever the array stands, and shown as it is where it is
// not as expected.
func TestVibeShowsWhatIsNoEntry(t *testing.T) {
	const (
		old = `{"sessionId":"` + tooltest.SomeID +
			`","turnId":"a","type":"message","role":"user"}`
		prompt = `{"sessionId":"` + tooltest.SomeID +
			`","turnId":"b","type":"message","role":"user"}`
		bare = `{"sessionId":"` + tooltest.SomeID + `","type":"message","role":"user"}`
		says = `{"sessionId":"` + tooltest.SomeID +
			`","turnId":"b","type":"message","role":"assistant","content":[{"text":"yes"}]}`
		odd = `{"sessionId":"` + tooltest.SomeID +
			`","turnId":"b","type":"message","role":"assistant","content":"yes"}`
		aside = `{"sessionId":"` + tooltest.SomeID + `","type":"checkpoint","kind":"x"}`
	)
	tests := []struct {
		what, stdout, want string
		failed             bool
	}{
		{"a blank line", "\n[" + old + "," + prompt + "," + says + "]\n",
			"\n[" + prompt + "," + says + "]\n", false},
		{"one turn", "[" + old + "]\n", "[" + old + "]\n", false},
		{"an entry without a turn", "[" + old + "," + prompt + "," + aside + "," + says + "]\n",
			"[" + prompt + "," + aside + "," + says + "]\n", false},
		{"one before the prompt", "[" + old + "," + aside + "," + prompt + "," + says + "]\n",
			"[" + prompt + "," + says + "]\n", false},
		{"one behind a prompt without a turn", "[" + old + "," + bare + "," + aside + "," + says +
			"]\n", "[" + says + "]\n", false},
		{"a banner", "Hello.\n[not yet]\n[" + old + "," + prompt + "," + says + "]\n",
			"Hello.\n[not yet]\n[" + prompt + "," + says + "]\n", false},
		{"lines behind", "[" + old + "," + prompt + "," + says + "]\nBye.\n[done]",
			"[" + prompt + "," + says + "]\nBye.\n[done]", false},
		{"a prompt without a turn", "[" + old + "," + bare + "," + says + "]\n",
			"[" + bare + "," + says + "]\n", false},
		{"a turn that is only looked like", "[" + bare + "," + old + "," + says + "]\n",
			"[" + says + "]\n", false},
		{"an answer of another type", "[" + prompt + "," + odd + "]\n",
			"[" + prompt + "," + odd + "]\n", true},
		{"no array", "plain\n[text]\n", "plain\n[text]\n", false},
	}
	for _, tt := range tests {
		got, seen := show(call("-p x --output json"), rewrite.Plan{Resume: tooltest.SomeID},
			[]byte(tt.stdout))
		if got != tt.want || seen.Failed != tt.failed {
			t.Errorf("%s: %q, failed %v, want %q", tt.what, got, seen.Failed, tt.want)
		}
		if fresh, _ := show(call("-p x --output json"), rewrite.Plan{}, []byte(tt.stdout)); fresh !=
			tt.stdout {
			t.Errorf("%s, fresh: %q", tt.what, fresh)
		}
	}
	// An array that was cut short holds earlier turns, which the caller is not shown unless vibe
	// takes the run for whole.
	for banner, array := range map[string]string{"": "[" + old + "," + prompt[:20],
		"Hello.\n": "[" + old, "\n": "["} {
		if got, seen := show(call("-p x --output json"), rewrite.Plan{Resume: tooltest.SomeID},
			[]byte(banner+array)); got != banner || string(seen.Unshown) != array || seen.ID != "" {
			t.Errorf("cut short behind %q: %q, and %q unshown", banner, got, seen.Unshown)
		}
	}
}

// Every entry of a session must be of the session that was asked for, and a compaction counts
// whenever it was.
func TestVibeReadsEarlierTurns(t *testing.T) {
	entry := func(id, turn, rest string) string {
		return `{"sessionId":"` + id + `","turnId":"` + turn + `",` + rest + `}`
	}
	const asks, says = `"type":"message","role":"user"`,
		`"type":"message","role":"assistant","content":[{"text":"yes"}]`
	for _, tt := range []struct {
		what, earlier    string
		wrong, compacted bool
	}{
		{"its own", entry(tooltest.SomeID, "a", asks), false, false},
		{"another session's", entry(tooltest.ForeignID, "a", asks), true, false},
		{"a compaction", entry(tooltest.SomeID, "a", `"type":"checkpoint","kind":"compaction"`),
			false, true},
		{"another checkpoint", entry(tooltest.SomeID, "a", `"type":"checkpoint","kind":"novel"`),
			false, false},
		{"a message of that kind", entry(tooltest.SomeID, "a",
			`"type":"message","kind":"compaction"`), false, false},
		{"a compaction, and more", entry(tooltest.SomeID, "a",
			`"type":"checkpoint","kind":"compaction"`) + "," + entry(tooltest.SomeID, "a", asks),
			false, true},
	} {
		_, seen := show(call("-p x --output json"), rewrite.Plan{Resume: tooltest.SomeID},
			[]byte("["+tt.earlier+","+entry(tooltest.SomeID, "b", asks)+","+entry(tooltest.SomeID,
				"b", says)+"]\n"))
		if seen.WrongID != tt.wrong || seen.Content == tt.wrong || seen.Compacted != tt.compacted {
			t.Errorf("%s: wrong %v, content %v, compacted %v", tt.what, seen.WrongID, seen.Content,
				seen.Compacted)
		}
	}
}

// call reads a command line written as words; underscores stand for spaces.
func call(line string, env ...string) rewrite.CommandLine {
	return tool.Parse(tooltest.Invocation(line, env...))
}

func TestVibeReads(t *testing.T) {
	tooltest.CheckReadings(t, call, []tooltest.Reading{
		{"-p hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-phi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p=hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"--prompt hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"--prompt=-x", "", rewrite.Fresh, "", "-x", rewrite.Text},
		{"-p -", "", rewrite.Fresh, "", "-", rewrite.Text},
		{"-p hi -p ho", "", rewrite.Fresh, "", "ho", rewrite.Text},
		{"-p hi -p", "", rewrite.Fresh, "", "", rewrite.Text},
		{"-p", "", rewrite.Fresh, "", "", rewrite.Text}, // the prompt is on stdin
		{"-p --output json", "", rewrite.Fresh, "", "", rewrite.JSON},
		{"--prompt= --output json", "", rewrite.Fresh, "", "", rewrite.JSON},
		{"-p hi --output=streaming", "", rewrite.Fresh, "", "hi", rewrite.StreamJSON},
		{"-p hi --output json --output text", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p hi there", "", rewrite.Fresh, "", "hi", rewrite.Text}, // an operand is ignored
		{"there -p hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p hi -- there", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p hi --output text --max-turns 80 --agent auto-approve", "", rewrite.Fresh, "", "hi",
			rewrite.Text},
		{"-p hi --yolo --trust --add-dir a --add-dir b", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p hi --output-dir out --output json", "", rewrite.Fresh, "", "hi", rewrite.JSON},

		{"", "", rewrite.Passthrough, reason.Interactive, "", rewrite.Text},
		{"hi", "", rewrite.Passthrough, reason.Interactive, "", rewrite.Text},
		{"--output text", "", rewrite.Passthrough, reason.Interactive, "", rewrite.Text},
		{"--help", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text},
		{"-p hi -v", "", rewrite.Passthrough, reason.NotManaged, "hi", rewrite.Text},
		{"--setup", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text},
		{"mcp list", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text},
		{"hi update", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text},
		{"-p hi --resume", "", rewrite.Passthrough, reason.CallerSession, "hi", rewrite.Text},
		{"-p hi --resume=" + tooltest.SomeID, "", rewrite.Passthrough, reason.CallerSession, "hi",
			rewrite.Text},
		{"-p hi --resume " + tooltest.SomeID + " --output json", "", rewrite.Passthrough,
			reason.CallerSession, "hi", rewrite.JSON},
		{"-p hi --resume " + tooltest.SomeID + " --output streaming", "", rewrite.Observe,
			reason.CallerSession, "hi", rewrite.StreamJSON},
		{"-c -p hi", "", rewrite.Passthrough, reason.CallerSession, "hi", rewrite.Text},
		{"-cp hi", "", rewrite.Passthrough, reason.CallerSession, "hi", rewrite.Text},
		{"-p hi", "VIBE_APP_SERVER_BIN=/x", rewrite.Passthrough, reason.Nested, "hi", rewrite.Text},
		{"-p hi", rewrite.NestedEnv + "=vibe:1", rewrite.Passthrough, reason.Nested, "hi",
			rewrite.Text},
		{"--prompt-file f", "", rewrite.Passthrough, reason.UnmanagedOption, "", rewrite.Text},
		{"-p hi --worktree", "", rewrite.Passthrough, reason.UnmanagedOption, "hi", rewrite.Text},
		{"-p hi --teleport", "", rewrite.Passthrough, reason.UnmanagedOption, "hi", rewrite.Text},
		{"-p hi --output-dir out", "", rewrite.Passthrough, reason.UnmanagedOption, "hi",
			rewrite.Text},
		{"-p hi --bogus", "", rewrite.Passthrough, reason.UnknownOption, "hi", rewrite.Text},
		{"-p -x", "", rewrite.Passthrough, reason.UnknownOption, "", rewrite.Text},
		{"-p hi --out text", "", rewrite.Passthrough, reason.UnknownOption, "hi", rewrite.Text},
		{"-p hi --agent", "", rewrite.Passthrough, reason.BadUsage, "hi", rewrite.Text},
		{"-p hi --agent --trust", "", rewrite.Passthrough, reason.BadUsage, "hi", rewrite.Text},
		{"-p hi --output xml", "", rewrite.Passthrough, reason.BadUsage, "hi", ""},
		{"-p hi a b", "", rewrite.Passthrough, reason.BadUsage, "hi", rewrite.Text},
		{"-p /status", "", rewrite.Passthrough, reason.SlashCommand, "/status", rewrite.Text},
	})
}

func TestVibeAtATerminal(t *testing.T) {
	none := func(string) string { return "" }
	tests := []struct {
		args          string
		stdin, stdout bool
		want          reason.Code
		use           rewrite.StdinUse
	}{
		{"-p hi", true, false, "", rewrite.StdinUnused},
		{"-p hi", false, false, "", rewrite.StdinUnused}, // the text there is dropped
		{"-p hi", false, true, "", rewrite.StdinUnused},
		{"-p hi", true, true, "", rewrite.StdinUnused},
		{"hi --no-such-option", true, true, reason.Interactive, rewrite.StdinUnused},
		{"-p", false, false, "", rewrite.StdinPrompt},
		{"-p", true, false, reason.BadUsage, rewrite.StdinUnused},
	}
	for _, tt := range tests {
		c := tool.Parse(rewrite.Input{Args: strings.Fields(tt.args), Env: none,
			StdinTTY: tt.stdin, StdoutTTY: tt.stdout})
		if c.Reason != tt.want || c.Stdin != tt.use {
			t.Errorf("%q, terminals %v %v: %q %v, want %q %v", tt.args, tt.stdin, tt.stdout,
				c.Reason, c.Stdin, tt.want, tt.use)
		}
	}
}

func TestVibeSettings(t *testing.T) {
	same := [][2]string{
		{"-p hi --max-turns 3", "-p hi --max-price 5 --output json --time-limit 60"},
		{"-p hi --agent a --trust", "--trust --agent=a -p ho"},
		{"-p hi --yolo", "-p hi --auto-approve"},
	}
	different := [][2]string{
		{"-p hi", "-p hi --agent auto-approve"},
		{"-p hi --enabled-tools a", "-p hi --enabled-tools a --enabled-tools b"},
		{"-p hi", "-p hi --trust"},
	}
	equal := func(a, b string) bool { return slices.Equal(call(a).Settings, call(b).Settings) }
	for _, s := range same {
		if !equal(s[0], s[1]) {
			t.Errorf("%q and %q differ in settings", s[0], s[1])
		}
	}
	for _, s := range different {
		if equal(s[0], s[1]) {
			t.Errorf("%q and %q do not differ in settings", s[0], s[1])
		}
	}
	if m := call("-p hi", "VIBE_ACTIVE_MODEL=m").Model; m != "m" {
		t.Errorf("model is %q", m)
	}
}

func TestVibePlaces(t *testing.T) {
	tests := []struct{ line, env, home, dir, file string }{
		{"-p hi", "HOME=/h", "/h/.vibe/logs/session", "", ".vibe/config.toml"},
		{"-p hi", "VIBE_HOME=/v", "/v/logs/session", "", "/v/config.toml"},
		{"-p hi", `VIBE_SESSION_LOGGING={"save_dir":"/s"}`, "/s", "", ""},
		{"-p hi", `HOME=/h VIBE_SESSION_LOGGING={"save_dir":"~/s"}`, "/h/s", "", ""},
		{"-p hi", `HOME=/h VIBE_SESSION_LOGGING={"enabled":true}`, "/h/.vibe/logs/session", "", ""},
		{"-p hi --workdir w --agent x", "VIBE_HOME=/v VIBE_CWD=c", "/v/logs/session", "w",
			".vibe/agents/x.toml"},
		{"-p hi", "VIBE_HOME=/v VIBE_CWD=c", "/v/logs/session", "c", ".vibe/config.toml"},
	}
	for _, tt := range tests {
		c := call(tt.line, strings.Fields(tt.env)...)
		if c.Home != tt.home || c.Dir != tt.dir {
			t.Errorf("%q, %s: sessions in %q, works in %q, want %q, %q", tt.line, tt.env, c.Home,
				c.Dir, tt.home, tt.dir)
		}
		if tt.file != "" && !slices.Contains(c.SettingsFiles, tt.file) {
			t.Errorf("%q, %s: settings in %q, want %q", tt.line, tt.env, c.SettingsFiles, tt.file)
		}
	}
}

func TestVibeSettles(t *testing.T) {
	for version, want := range map[string]reason.Code{
		"2.26.1": "", "2.27.0": "", "3.0.3": "", "3.12.0": "",
		"": reason.NoResume, "2.18.4": reason.NoResume, "2.25.8": reason.NoResume,
		"2.26.0": reason.NoResume, "4.0.0": reason.NoResume,
	} {
		c := tool.ResolveWithEnv(call("-p hi"), rewrite.HostEnv{Version: version})
		if c.Reason != want || (c.Mode == rewrite.Passthrough) != (want != "") {
			t.Errorf("version %q: %q, want %q", version, c.Reason, want)
		}
	}
	with := func(text string) []rewrite.Setting {
		c := call("-p hi")
		return tool.ResolveWithEnv(c, rewrite.HostEnv{Version: "3.0.3",
			Settings: []rewrite.File{{Path: c.SettingsFiles[0], Text: text}}}).Settings
	}
	if slices.Equal(with(`active_model = "a"`), with(`active_model = "b"`)) {
		t.Error("another model in the configuration does not count")
	}
}

func TestVibePlans(t *testing.T) {
	const out, r = "--output-dir=" + rewrite.Scratch, "--output-dir=" + rewrite.Scratch +
		" --resume=" + tooltest.SomeID
	tests := []struct{ line, fresh, resume string }{
		{"-p OLD", "-p OLD " + out, "-p NEW " + r}, // the first argument and the last are one
		{"--trust -p OLD", "--trust " + out + " -p OLD", "--trust " + r + " -p NEW"},
		{"-pOLD --trust", "-pOLD " + out + " --trust", "--prompt=NEW " + r + " --trust"},
		{"--agent a --prompt=OLD --output json", "--agent a " + out + " --prompt=OLD --output json",
			"--agent a " + r + " --prompt=NEW --output json"},
		{"-p OLD --trust -p OLDER x", "-p OLD " + out + " --trust -p OLDER x",
			"--prompt=NEW " + r + " --trust x"},
		{"-p OLD --output json -- x", "-p OLD " + out + " --output json -- x",
			"-p NEW " + r + " --output json -- x"},
		{"-p OLD --output json --output-dir d", "-p OLD --output json --output-dir d",
			"-p NEW --resume=" + tooltest.SomeID + " --output json --output-dir d"},
	}
	for _, tt := range tests {
		c := call(tt.line)
		if got := strings.Join(tool.Plan(c, rewrite.ToFresh("OLD")).Args, " "); got != tt.fresh {
			t.Errorf("%q fresh: %q, want %q", tt.line, got, tt.fresh)
		}
		p := tool.Plan(c, tooltest.To{ID: tooltest.SomeID, Prompt: "NEW", Asked: c.Prompt}.Target())
		if got := strings.Join(p.Args, " "); got != tt.resume || p.Resume != tooltest.SomeID {
			t.Errorf("%q resumed: %q, want %q", tt.line, got, tt.resume)
		}
		if again := call(strings.Join(p.Args, " ")); again.Prompt != "NEW" ||
			again.SessionID != tooltest.SomeID {
			t.Errorf("%q resumed is read as %+v", tt.line, again)
		}
	}
}

func TestVibePlansStdin(t *testing.T) {
	long := strings.Repeat("x", base.LongestArg+1)
	tests := []struct {
		line, asked, prompt, args, stdin string
		hasStdin                         bool
	}{
		{"-p", "DATA", "NEW", "-p R", "NEW", true},
		{"-p", "DATA", "N\x00EW\n", "-p R", "N\x00EW", true},
		{"-p OLD", "OLD", "-x", "--prompt=-x R", "", false},
		{"-p OLD", "OLD", long + "\n", "R --prompt", long, true},
		{"-p", "DATA", long, "-p R", long, true},
	}
	for _, tt := range tests {
		p := tool.Plan(call(tt.line), tooltest.To{ID: tooltest.SomeID, Asked: tt.asked,
			Prompt: tt.prompt}.Target())
		want := strings.Replace(tt.args, "R",
			"--output-dir="+rewrite.Scratch+" --resume="+tooltest.SomeID, 1)
		if got := strings.Join(p.Args, " "); got != want || p.HasStdin != tt.hasStdin ||
			p.Stdin != tt.stdin {
			t.Errorf("%q, %.9q: %.20q, stdin %v %.20q", tt.line, tt.prompt, p.Args, p.HasStdin,
				p.Stdin)
		}
	}
}

func TestVibeFollows(t *testing.T) {
	mine := tool.Plan(call("-p hi"), rewrite.ToFresh("hi")).Follow
	if len(mine) != 2 || mine[0] != (rewrite.Follow{Dir: rewrite.Scratch, Name: "export.json"}) {
		t.Errorf("follows %+v", mine)
	}
	theirs := tool.Plan(call("-p hi --output json --output-dir d"), rewrite.ToFresh("hi")).Follow
	if !slices.Equal(theirs, []rewrite.Follow{{Dir: "d", Name: "export.json"}}) {
		t.Errorf("follows %+v", theirs)
	}
}

func TestVibeComposes(t *testing.T) {
	tests := []struct{ line, stdin, want string }{
		{"-p", " data \r\n\n", "data"},
		{"-p _hi_", "data\n", " hi "},
	}
	for _, tt := range tests {
		if got := tool.EffectivePrompt(call(tt.line), tt.stdin); got != tt.want {
			t.Errorf("%q with %q: %q, want %q", tt.line, tt.stdin, got, tt.want)
		}
	}
}

func TestVibeOptionsAreThoseOfItsHelp(t *testing.T) {
	help, err := os.ReadFile("../../../testdata/help/vibe-3.0.3.txt")
	if err != nil {
		t.Fatal(err)
	}
	probe := tool.Options(string(help))
	if !probe.Known || !probe.Resume {
		t.Errorf("probe %+v", probe)
	}
	for _, o := range probe.Options {
		for _, name := range o.Names {
			if known, ok := options.Find(name); !ok || known.Arity != o.Arity {
				t.Errorf("%s takes %v, the grammar says %v %v", name, o.Arity, known.Arity, ok)
			}
		}
	}
	if n := len(probe.Options); n != 23 {
		t.Errorf("%d options", n)
	}
}

// recording reads one file of a recording.
func recording(t *testing.T, name, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../testdata/recordings/vibe", name, file))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var iD = regexp.MustCompile(`"sessionId": ?"([0-9a-f-]{36})"`)

// show feeds output to the stream of a call, and returns the output that the caller sees.
func show(c rewrite.CommandLine, p rewrite.Plan, output []byte) (string, *rewrite.StreamState) {
	s := tool.Stream(c, p, "")
	var out []byte
	for l := range bytes.Lines(output) {
		out = append(out, s.Line(l)...)
	}
	out = append(out, s.End()...)
	return string(out), s.Seen()
}

func TestVibeShowsAFreshRunAsItIs(t *testing.T) {
	for format := range tool.Formats {
		for _, name := range []string{"fresh", "tool", "multi", "empty", "maxturns", "http500",
			"toobig", "resume-unknown"} {
			output := recording(t, name+"-"+format, "stdout")
			got, seen := show(call("-p x --output "+format), rewrite.Plan{}, output)
			if got != string(output) {
				t.Errorf("%s as %s: %q", name, format, got)
			}
			failed := name == "http500" || name == "toobig" || name == "resume-unknown"
			if seen.Final == failed {
				t.Errorf("%s as %s: final is %v", name, format, seen.Final)
			}
			if shown := iD.Match(output); (seen.ID != "") != shown {
				t.Errorf("%s as %s: id %q", name, format, seen.ID)
			}
			if tool := name == "tool" || name == "maxturns"; format != "text" &&
				seen.ToolRan != tool {
				t.Errorf("%s as %s: a tool has run: %v", name, format, seen.ToolRan)
			}
		}
	}
}

func TestVibeAnswers(t *testing.T) {
	tests := []struct{ name, want string }{
		{"fresh-text", "Got it: 456."}, {"fresh-json", "Got it: 456."},
		{"fresh-streaming", "Got it: 456."},
		{"tool-json", "ok"}, {"tool-streaming", "ok"}, {"empty-text", " "}, {"empty-json", " "},
		{"resume-ok-json", "77"}, {"resume-ok-streaming", "77"},
	}
	for _, tt := range tests {
		_, format, _ := strings.Cut(strings.TrimPrefix(tt.name, "resume-"), "-")
		_, seen := show(call("-p x --output "+format), rewrite.Plan{},
			recording(t, tt.name, "stdout"))
		if seen.Answer != tt.want {
			t.Errorf("%s: answer %q, want %q", tt.name, seen.Answer, tt.want)
		}
	}
	for output, want := range map[string]string{"y": "y", "y\n": "y", "\n": "", "": ""} {
		if _, seen := show(call("-p x"), rewrite.Plan{}, []byte(output)); seen.Answer != want ||
			seen.Final != (output != "") {
			t.Errorf("%q: answer %q, final %v", output, seen.Answer, seen.Final)
		}
	}
}

var volatile = regexp.MustCompile(
	`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|turn-[0-9a-f]{32}(-\d+)?|At": ?\d+`)

// A resumed run's json is the whole session; the caller sees the output of a fresh run.
func TestVibeCutsAResumedRunsJSON(t *testing.T) {
	output := recording(t, "resume-ok-json", "stdout")
	id := string(iD.FindSubmatch(output)[1])
	plan := rewrite.Plan{Resume: id, Prompt: "what number",
		Asked: "hi <remember> number 456\n\x1b\u2028"}
	got, seen := show(call("-p x --output json"), plan, output)
	fresh := string(recording(t, "fresh-json", "stdout"))
	want := strings.NewReplacer("hi remember number 456",
		`hi <remember> number 456\n\u001b`+"\u2028", "Got it: 456.", "77").Replace(fresh)
	if a, b := volatile.ReplaceAllString(got, "*"), volatile.ReplaceAllString(want, "*"); a != b {
		t.Errorf("shown: %s\nwant: %s", a, b)
	}
	if seen.ID != id || seen.WrongID || !seen.Final || !seen.Content {
		t.Errorf("seen %+v", seen)
	}
}

func TestVibeCutsWhateverTheJSONHolds(t *testing.T) {
	const (
		old  = "\n  {\n    \"turnId\": \"a\",\n    \"x\": [\n      {}\n    ]\n  },"
		mine = "\n  {\n    \"turnId\": \"b\"\n  },\n  {\n    \"turnId\": null\n  },\n  {\n    " +
			"\"turnId\": \"b\"\n  }\n]\n"
	)
	tests := []struct {
		output, want string
		final        bool
	}{
		{"[" + old + old + mine, "[" + mine, true},
		{"[" + mine, "[" + mine, true},
		{"[" + old + mine[:20], "", false}, // cut short: it holds earlier turns
		{"[]\n", "[]\n", false},
		{"[\n  {}\n]\n", "[\n  {}\n]\n", true},
		{"{}\n", "{}\n", false},
		{"", "", false},
	}
	for _, tt := range tests {
		got, seen := show(call("-p x --output json"), rewrite.Plan{Resume: tooltest.SomeID},
			[]byte(tt.output))
		if got != tt.want || seen.Final != tt.final {
			t.Errorf("%q: %q, final %v", tt.output, got, seen.Final)
		}
	}
}

func TestVibeResumedStreaming(t *testing.T) {
	output := recording(t, "resume-ok-streaming", "stdout")
	id := string(iD.FindSubmatch(output)[1])
	c := call("-p x --output streaming")
	first, _, _ := bytes.Cut(output, []byte("\n"))
	if _, seen := show(c, rewrite.Plan{Resume: id}, first); seen.Content || seen.Final ||
		seen.ID != id {
		t.Errorf("the echo of the prompt opens the gate: %+v", seen)
	}
	got, seen := show(c, rewrite.Plan{Resume: id, Prompt: "what number", Asked: "THE \"WHOLE\"\n"},
		output)
	if want := strings.Replace(string(output), `"what number"`, `"THE \"WHOLE\"\n"`, 1); got !=
		want {
		t.Errorf("shown: %s", got)
	}
	if !seen.Content || seen.WrongID {
		t.Errorf("seen %+v", seen)
	}
	if _, seen := show(c, rewrite.Plan{Resume: tooltest.SomeID}, output); !seen.WrongID ||
		seen.Content {
		t.Errorf("another session: %+v", seen)
	}
	// 2.25.8 showed the history first; it is not managed, but must not be believed either.
	if c := tool.ResolveWithEnv(c, rewrite.HostEnv{Version: "2.25.8"}); c.Mode !=
		rewrite.Passthrough {
		t.Errorf("2.25.8: %s", c.Mode)
	}
}

func TestVibeExports(t *testing.T) {
	const id = "67c46b88-7b2a-7c66-2219-61f12294f1c7"
	read := func(name string, resume string) *rewrite.StreamState {
		s := tool.Stream(call("-p x"), rewrite.Plan{Resume: resume}, "")
		s.File("/tmp/x/export.json", recording(t, name, "export.json"))
		return s.Seen()
	}
	one, two := read("output-dir-1", ""), read("output-dir-2", id)
	if one.ID != id || one.Source != "file" || one.Version != "3.0.3" || one.Model != "stub" ||
		!one.Final || one.Failed || !one.ToolRan {
		t.Errorf("first run: %+v", one)
	}
	want := rewrite.Usage{Known: true, Input: 4300, CacheRead: 4300, Output: 7, CostNano: 8_614_000,
		CostKnown: true}
	if two.Usage != want || two.WrongID || two.ToolRan {
		t.Errorf("second run: %+v, want %+v", two, want)
	}
	if s := read("output-dir-2", tooltest.SomeID); !s.WrongID {
		t.Error("another session is not noticed")
	}
	if s := read("output-dir-unknown", tooltest.SomeID); s.Refusal != reason.RefusedUnknown ||
		s.ID != "" || s.WrongID || !s.Failed || s.Usage.Known {
		t.Errorf("unknown session: %+v", s)
	}
	if s := read("output-dir-error", ""); s.Refusal != "" || !s.Failed || s.ToolRan {
		t.Errorf("API error: %+v", s)
	}
}

func TestVibeRefusals(t *testing.T) {
	const failure = `{"outcome":"infrastructure_failure","steps":1,"error":{"message":"MESSAGE","code":"CODE"}}`
	tests := []struct {
		export, message, code string
		want                  reason.Code
	}{
		{failure, "Session is already open: " + tooltest.SomeID, "", reason.RefusedBusy},
		{failure, "The session's pinned plugin environment could not be rebuilt (x)", "",
			reason.RefusedBroken},
		{failure, "Invalid Unified session store: stored JSON document is not newline " +
			"terminated: CURRENT", "", reason.RefusedBroken},
		{failure, "compaction summary cannot fit", "compaction_replacement_too_large",
			reason.RefusedContext},
		{failure, "Client error '400 Bad Request' for url", "backend_error", reason.RefusedBroken},
		{failure, "API error occurred: Status 400. Body: {}", "backend_error",
			reason.RefusedBroken},
		{failure, "API error occurred: Status 400 Content-Type text/html. Body: x", "backend_error",
			reason.RefusedBroken},
		{failure, "API error occurred: Status 500. Body: Session not found: x", "backend_error",
			""},
		{failure, "Server error '500 Internal Server Error' for url", "backend_error", ""},
		{strings.Replace(failure, ":1", ":null", 1), "something is wrong with the session", "",
			reason.RefusedSilent},
		{`{"outcome":"config_error","steps":null,"error":{"message":"Invalid API key","code":null}}`, "", "", ""},
		{`{"outcome":"turn_limit","steps":4,"error":null}`, "", "", ""},
		{`{"outcome":"finished","steps":1,"error":null}`, "", "", ""},
	}
	for _, tt := range tests {
		s := tool.Stream(call("-p x"), rewrite.Plan{Resume: tooltest.SomeID}, "")
		s.File("export.json", []byte(strings.NewReplacer("MESSAGE", tt.message, "CODE",
			tt.code).Replace(tt.export)))
		if got := s.Seen().Refusal; got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.export, tt.message, got, tt.want)
		}
	}
	for name, want := range map[string]reason.Code{
		"resume-unknown-text": reason.RefusedUnknown, "resume-unknown-json": reason.RefusedUnknown,
		"resume-malformed-text": reason.RefusedUnknown,
		"resume-busy":           reason.RefusedBusy, "resume-copied-home": reason.RefusedBroken,
		"logging-disabled-resume":     reason.RefusedUnknown,
		"resume-other-vibe-home":      reason.RefusedUnknown,
		"v2.25.8-resume-unknown-text": reason.RefusedUnknown,
		"http500-text":                "", "http401-text": "", "toobig-text": "", "badflag": "",
		"maxturns-text": "", "fresh-text": "",
	} {
		if got := tool.Refused(string(recording(t, name, "stderr")), 1); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if r := tool.Refused("Error: Session not found: x\n", 0); r != "" {
		t.Errorf("a run that went well: %q", r)
	}
	for _, other := range []string{"Error: Status 500. Body: Session not found: x\n",
		"mcp: McpError: Session not found: x\nError: Server error '500'\n"} {
		if r := tool.Refused(other, 1); r != "" {
			t.Errorf("%q: %q", other, r)
		}
	}
}

// A caller's own --output-dir can hold the files of another run.
func TestVibeBelievesAForeignExportOnlyUnderItsID(t *testing.T) {
	export := recording(t, "output-dir-2", "export.json")
	for id, want := range map[string]bool{"67c46b88-7b2a-7c66-2219-61f12294f1c7": true,
		tooltest.SomeID: false} {
		s := tool.Stream(call("-p x --output streaming --output-dir d"), rewrite.Plan{}, "")
		s.File("d/export.json", export) // before there is an id: another run's
		s.Line([]byte(`{"sessionId":"` + id + `","type":"message","role":"user"}` + "\n"))
		s.File("d/export.json", export)
		if s.Seen().Usage.Known != want || s.Seen().ID != id {
			t.Errorf("%s: %+v", id, s.Seen())
		}
	}
}

func TestVibeCheckpoints(t *testing.T) {
	const newest = `{"compaction_count":2,"last_reported_context_tokens":42789}`
	for _, order := range [][]string{{"16", "24"}, {"24", "16"}} {
		s := tool.Stream(call("-p x"), rewrite.Plan{}, "")
		for _, n := range order {
			text := map[string]string{
				"16": `{"compaction_count":0,"last_reported_context_tokens":9}`, "24": newest}[n]
			s.File("/tmp/x/session/generations/00000000000000"+n+"/checkpoint.json", []byte(text))
		}
		if seen := s.Seen(); seen.ContextUse.Used != 42789 || !seen.Compacted {
			t.Errorf("read in the order %v: %+v", order, seen)
		}
	}
	s := tool.Stream(call("-p x"), rewrite.Plan{}, "")
	for _, tt := range []struct {
		text      string
		used      int64
		compacted bool
	}{
		{`{"compaction_count":0,"last_reported_context_tokens":9}`, 9, false},
		// put in place again
		{`{"compaction_count":0,"last_reported_context_tokens":12}`, 12, false},
		{`{"compaction_count":1,"last_reported_context_tokens":5}`, 5, true},
	} {
		s.File("/tmp/x/session/generations/1/checkpoint.json", []byte(tt.text))
		if seen := s.Seen(); seen.ContextUse.Used != tt.used || seen.Compacted != tt.compacted {
			t.Errorf("%s: %+v", tt.text, seen)
		}
	}
}

// An answer in text is content of the model, an empty one is none.
func TestVibeAnswersInText(t *testing.T) {
	for text, want := range map[string]bool{"It is done.\n": true, "\n": false, "": false} {
		if _, seen := show(call("-p x"), rewrite.Plan{}, []byte(text)); seen.Content != want {
			t.Errorf("%q: content %v", text, seen.Content)
		}
	}
}

func TestVibeSeesACompaction(t *testing.T) {
	_, seen := show(call("-p x --output streaming"), rewrite.Plan{},
		recording(t, "toobig-streaming", "stdout"))
	if !seen.Compacted || seen.Content {
		t.Errorf("seen %+v", seen)
	}
}

func TestVibeIDs(t *testing.T) {
	for id, want := range map[string]bool{"67c46b88-7b2a-7c66-2219-61f12294f1c7": true,
		"67c46b88": false, "../x": false, "": false} {
		if tool.ValidID(id) != want {
			t.Errorf("%q", id)
		}
	}
	want := []string{"/s/unified/" + tooltest.SomeID + "/journal/*.jsonl"}
	if got := rewrite.SessionPaths(tool, "/s", "/w", tooltest.SomeID); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
