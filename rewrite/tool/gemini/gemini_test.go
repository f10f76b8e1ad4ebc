package gemini

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
	"reprise/test/tooltest"
)

// parseGemini reads a command line written as words; underscores stand for spaces
// and "" for an empty word.
func parseGemini(line string, env ...string) rewrite.CommandLine {
	return tool.Parse(tooltest.Invocation(line, env...))
}

func TestGeminiReads(t *testing.T) {
	tooltest.CheckReadings(t, parseGemini, []tooltest.Reading{
		{"-p hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"--prompt=hi_there", "", rewrite.Fresh, "", "hi there", rewrite.Text},
		{"--prompt=-x", "", rewrite.Fresh, "", "-x", rewrite.Text},
		{"-p=hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-yp hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"look here", "", rewrite.Fresh, "", "look here", rewrite.Text},
		{"", "", rewrite.Fresh, "", "", rewrite.Text}, // the prompt is on stdin
		{`-p ""`, "", rewrite.Fresh, "", "", rewrite.Text},
		{`-p "" hi`, "", rewrite.Fresh, "", " hi", rewrite.Text},
		{"-p -5", "", rewrite.Fresh, "", "-5", rewrite.Text},
		{"-p hi -o json", "", rewrite.Fresh, "", "hi", rewrite.JSON},
		{"-p hi -o=json", "", rewrite.Fresh, "", "hi", rewrite.JSON},
		{"-p hi --outputFormat stream-json", "", rewrite.Fresh, "", "hi", rewrite.StreamJSON},
		{"-o text -m a -m b -p hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-e none hi", "", rewrite.Fresh, "", "hi", rewrite.Text}, // an array takes one value
		{"-e a -e b --policy x,y --allowed-tools t hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-y true hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p hi --no-yolo --approval-mode plan", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p hi --yolo=false --approvalMode plan", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p hi --acp=false", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p hi -o json --raw-output", "", rewrite.Fresh, "", "hi", rewrite.JSON},

		{"--help", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text},
		{"-p hi -v", "", rewrite.Passthrough, reason.NotManaged, "hi", rewrite.Text},
		{"mcp list", "", rewrite.Passthrough, reason.NotManaged, "mcp list", rewrite.Text},
		{"--debug extensions list", "", rewrite.Passthrough, reason.NotManaged, "extensions list",
			rewrite.Text},
		{"--acp", "", rewrite.Passthrough, reason.AppServer, "", rewrite.Text},
		{"--experimental-acp -m x", "", rewrite.Passthrough, reason.AppServer, "", rewrite.Text},
		{"--acp --help", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text},
		{"-i hi", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text},
		{"--list-sessions", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text},
		{"--delete-session 1", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text},
		{"-p hi -r", "", rewrite.Passthrough, reason.CallerSession, "hi", rewrite.Text},
		{"-p hi --resume=latest", "", rewrite.Passthrough, reason.CallerSession, "hi",
			rewrite.Text},
		{"-p hi --session-file f -o json", "", rewrite.Observe, reason.CallerSession, "hi",
			rewrite.JSON},
		{"-p hi -o stream-json --session-id " + tooltest.SomeID, "", rewrite.Observe,
			reason.CallerSession, "hi", rewrite.StreamJSON},
		{"-p hi", "GEMINI_CLI=1", rewrite.Passthrough, reason.Nested, "hi", rewrite.Text},
		{"-p hi", rewrite.NestedEnv + "=gemini:1", rewrite.Passthrough, reason.Nested, "hi",
			rewrite.Text},
		{"-p hi --raw-output", "", rewrite.Passthrough, reason.UnmanagedOption, "hi", rewrite.Text},
		{"-p hi -w", "", rewrite.Passthrough, reason.UnmanagedOption, "hi", rewrite.Text},
		{"-p hi --bogus", "", rewrite.Passthrough, reason.UnknownOption, "hi", rewrite.Text},
		{"-p hi --output json", "", rewrite.Passthrough, reason.UnknownOption, "hi", rewrite.Text},
		{"-pP", "", rewrite.Passthrough, reason.UnknownOption, "", rewrite.Text},
		{"-mp hi", "", rewrite.Passthrough, reason.UnknownOption, "", rewrite.Text},
		{"-5", "", rewrite.Passthrough, reason.UnknownOption, "", rewrite.Text},
		{"-p", "", rewrite.Passthrough, reason.BadUsage, "", rewrite.Text},
		{"-p -x", "", rewrite.Passthrough, reason.BadUsage, "", rewrite.Text},
		{"-p hi -p there", "", rewrite.Passthrough, reason.BadUsage, "hi there", rewrite.Text},
		{"-p hi -o json -o text", "", rewrite.Passthrough, reason.BadUsage, "hi", rewrite.Text},
		{"-p hi there", "", rewrite.Passthrough, reason.BadUsage, "hi there", rewrite.Text},
		{"-p hi -o xml", "", rewrite.Passthrough, reason.BadUsage, "hi", ""},
		{"-p hi -y --approval-mode yolo", "", rewrite.Passthrough, reason.BadUsage, "hi",
			rewrite.Text},
		{"-p hi --yolo=perhaps", "", rewrite.Passthrough, reason.BadUsage, "hi", rewrite.Text},
		{"-- hi", "", rewrite.Passthrough, reason.BadUsage, "", rewrite.Text},
		{"1e3", "", rewrite.Passthrough, reason.BadUsage, "1e3", rewrite.Text},
		{"-p _/help", "", rewrite.Passthrough, reason.SlashCommand, " /help", rewrite.Text},
		{"-p ?_why", "", rewrite.Passthrough, reason.SlashCommand, "? why", rewrite.Text},
	})
}

func TestGeminiAtATerminal(t *testing.T) {
	none := func(string) string { return "" }
	tests := []struct {
		args          string
		stdin, stdout bool
		want          reason.Code
	}{
		{"-p hi", true, false, ""},
		{"hi", true, false, ""}, // headless: stdout is no terminal
		{"-p hi", false, true, ""},
		{"-p hi", true, true, ""},
		{"hi", false, true, ""}, // likewise: stdin is none
		{"hi", true, true, reason.Interactive},
		{"", true, false, reason.Interactive},
	}
	for _, tt := range tests {
		c := tool.Parse(rewrite.Input{Args: strings.Fields(tt.args), Env: none,
			StdinTTY: tt.stdin, StdoutTTY: tt.stdout})
		if c.Reason != tt.want {
			t.Errorf("%q, terminals %v %v: %q, want %q", tt.args, tt.stdin, tt.stdout, c.Reason,
				tt.want)
		}
	}
}

func TestGeminiSettings(t *testing.T) {
	equal := func(a, b string) bool {
		return slices.Equal(parseGemini(a).Settings,
			parseGemini(b).Settings)
	}
	for _, s := range [][2]string{{"-p hi -y", "--yolo hi -o json -d"},
		{"-p hi -e a --policy p", "--policy p -e=a hi"}} {
		if !equal(s[0], s[1]) {
			t.Errorf("%q and %q differ in settings", s[0], s[1])
		}
	}
	for _, s := range [][2]string{{"-p hi", "-p hi -y"}, {"-p hi -y", "-p hi --no-yolo"},
		{"-e a -e b hi", "-e a hi"}} {
		if equal(s[0], s[1]) {
			t.Errorf("%q and %q do not differ in settings", s[0], s[1])
		}
	}
	c := parseGemini("-p hi -m a", "GEMINI_MODEL=b", "HOME=/h")
	if c.Model != "a" || c.Home != "/h/.gemini" {
		t.Errorf("model %q, home %q", c.Model, c.Home)
	}
	if c := parseGemini("-p hi", "GEMINI_CLI_HOME=/g", "HOME=/h", "GEMINI_MODEL=b"); c.Home !=
		"/g/.gemini" || c.Model != "b" {
		t.Errorf("home %q, model %q", c.Home, c.Model)
	}
}

func TestGeminiSettles(t *testing.T) {
	tests := []struct {
		line, settings, version string
		want                    reason.Code
	}{
		{"-p hi", `{"model": {"name": "m"}}`, "0.61.0", ""},
		{"-p hi", `{"output": {"format": "json"}}`, "0.61.0", reason.VerboseSetting},
		{"-p hi -o text", `{"output": {"format": "json"}}`, "0.61.0", ""},
		{"-p hi", "", "0.40.1", reason.NoResume}, // without --session-id
		{"-p hi", "", "0.41.0", ""},
		{"-p hi", "", "", ""},
	}
	for _, tt := range tests {
		c := parseGemini(tt.line)
		c = tool.ResolveWithEnv(c, rewrite.HostEnv{
			Settings: []rewrite.File{{Path: c.SettingsFiles[0], Text: tt.settings}},
			Version:  tt.version})
		if c.Reason != tt.want || (c.Mode == rewrite.Passthrough) != (tt.want != "") {
			t.Errorf("%q with %q, %s: %s %q, want %q", tt.line, tt.settings, tt.version, c.Mode,
				c.Reason, tt.want)
		}
	}
}

func TestGeminiPlans(t *testing.T) {
	const text, r = "--session-id=" + tooltest.ForeignID, "--resume=" + tooltest.SomeID
	tests := []struct{ line, fresh, resume string }{
		// the first argument and the last are one
		{"-p OLD", "-p OLD " + text, "-p NEW WORDS " + r},
		{"-yp OLD -m m", "-yp OLD " + text + " -m m", "-yp NEW WORDS " + r + " -m m"},
		{"-y -p OLD", "-y " + text + " -p OLD", "-y " + r + " -p NEW WORDS"},
		{"-m m -p OLD", "-m m " + text + " -p OLD", "-m m " + r + " -p NEW WORDS"},
		{"--prompt=OLD -o=text -d", "--prompt=OLD " + text + " -o=text -d",
			"--prompt=NEW WORDS " + r + " -o=text -d"},
		{"-o text OLD", "-o text " + text + " OLD", "-o text " + r + " NEW WORDS"},
		{"-o text OLD too", "-o text " + text + " OLD too", "-o text " + r + " --prompt=NEW WORDS"},
		{"OLD -e x too -o json", "OLD -e x too -o json",
			"--prompt=NEW WORDS " + r + " -e x -o json"},
		{`OLD -p "" -m m`, "OLD " + text + " -p  -m m", "--prompt=NEW WORDS " + r + " -m m"},
	}
	for _, tt := range tests {
		c := parseGemini(tt.line, "HOME=/h")
		fresh := tool.Plan(c, tooltest.Beginning(rewrite.ToFresh("OLD"), tooltest.ForeignID))
		if got := strings.Join(fresh.Args, " "); got != tt.fresh {
			t.Errorf("%q fresh: %q, want %q", tt.line, got, tt.fresh)
		}
		p := tool.Plan(c, tooltest.To{ID: tooltest.SomeID, Prompt: "NEW WORDS", Asked: c.Prompt,
			NewID: tooltest.ForeignID}.Target())
		if got := strings.Join(p.Args, " "); got != tt.resume || p.Resume != tooltest.SomeID ||
			p.NewID != "" || !p.HasStdin || p.Stdin != "" {
			t.Errorf("%q resumed: %q with stdin %v %q, want %q", tt.line, got, p.HasStdin, p.Stdin,
				tt.resume)
		}
		for id, plan := range map[string]rewrite.Plan{tooltest.ForeignID: fresh,
			tooltest.SomeID: p} {
			want := []rewrite.Follow{{Dir: "/h/.gemini/tmp", Name: "session-*-" + id[:8] + ".jsonl",
				Lines: true}}
			if c.Format != rewrite.Text {
				want = nil
			}
			if !slices.Equal(plan.Follow, want) || c.Format == rewrite.Text && plan.ID() != id {
				t.Errorf("%q: follows %+v for %s", tt.line, plan.Follow, plan.ID())
			}
		}
	}
}

// A prompt on stdin stays there.
func TestGeminiPlansStdin(t *testing.T) {
	long := strings.Repeat("x", base.LongestArg+1)
	tests := []struct {
		line, prompt, asked, args, stdin string
		hasStdin                         bool
	}{
		{"-p OLD", "-x", "OLD", "--prompt=-x R", "", true},
		{"--prompt=OLD", "-x", "OLD", "--prompt=-x R", "", true},
		{"-p OLD", long, "OLD", "R", long, true},
		{"-p OLD", "NEW", "DATA\n\nOLD", "R", "NEW", true},
		{"-p OLD", "DATA\n\nOLD", "", "-p OLD R", "", false}, // whole: gemini joins them again
		{"OLD too", "DATA\n\nOLD too", "", "OLD R too", "", false},
		{"OLD", "mcp", "OLD", "--prompt=mcp R", "", true},
		{"-d", "NEW", "DATA", "-d R", "NEW", true},
		{"-d", "DA\x00TA", "", "-d R", "DA\x00TA", true},
		{`-p ""`, "NEW", "DATA", "R", "NEW", true},
		{`-p ""`, "DATA", "", "-p  R", "", false},
	}
	for _, tt := range tests {
		p := tool.Plan(parseGemini(tt.line+" -o json"),
			tooltest.To{ID: tooltest.SomeID, Prompt: tt.prompt, Asked: tt.asked,
				Whole: tt.asked == ""}.Target())
		want := strings.Replace(tt.args, "R", "--resume="+tooltest.SomeID, 1) + " -o json"
		if got := strings.Join(p.Args, " "); got != want || p.HasStdin != tt.hasStdin ||
			p.Stdin != tt.stdin {
			t.Errorf("%q, %.20q: %.80q with stdin %v %.20q", tt.line, tt.prompt, got, p.HasStdin,
				p.Stdin)
		}
	}
}

func TestGeminiComposes(t *testing.T) {
	tests := []struct{ line, stdin, want string }{
		{"", "hi\n", "hi\n"},
		{"-p look", "hi\n", "hi\n\n\nlook"},
		{"look here", "hi", "hi\n\nlook here"},
		{"-p look", "", "look"},
		{"-p look", "/etc/passwd\n", ""}, // gemini would not keep it
		{"-p look", strings.Repeat("x", base.MaxYargsStdin+1), ""},
	}
	for _, tt := range tests {
		if got := tool.EffectivePrompt(parseGemini(tt.line), tt.stdin); got != tt.want {
			t.Errorf("%q with %.20q: %.40q, want %.40q", tt.line, tt.stdin, got, tt.want)
		}
	}
}

// recording reads the output of a real run.
func recording(t *testing.T, name, stream string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../testdata/recordings/gemini", name, stream))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func run(line, resume, stdout string) (out string, seen *rewrite.StreamState) {
	s := tool.Stream(parseGemini(line), rewrite.Plan{Resume: resume}, "")
	for l := range bytes.Lines([]byte(stdout)) {
		out += string(s.Line(l))
	}
	return out + string(s.End()), s.Seen()
}

// Events and json are shown as gemini prints them.
func TestGeminiShows(t *testing.T) {
	for _, name := range []string{"fresh", "resume-ok", "tool", "multi"} {
		for format, line := range map[string]string{"-stream": "-p x -o stream-json",
			"-json": "-p x -o json"} {
			stdout := recording(t, name+format, "stdout")
			if got, _ := run(line, "", stdout); got != stdout {
				t.Errorf("%s%s is not what the tool printed", name, format)
			}
		}
	}
}

// stream-json shows the prompt: the caller's, even if the model was sent a part of it.
func TestGeminiShowsTheCallersPrompt(t *testing.T) {
	const asked = "THE \"WHOLE\" <prompt>\n\n\u2028what number"
	recorded := string(recording(t, "resume-ok-stream", "stdout"))
	s := tool.Stream(rewrite.CommandLine{Format: rewrite.StreamJSON},
		rewrite.Plan{Resume: tooltest.SomeID, Prompt: "what number", Asked: asked}, "")
	var got strings.Builder
	for line := range strings.Lines(recorded) {
		got.Write(s.Line([]byte(line)))
	}
	if want := strings.Replace(recorded, `"what number"`,
		`"THE \"WHOLE\" <prompt>\n\n what number"`, 1); got.String() != want {
		t.Errorf("shown: %s", got.String())
	}
	text := prompt.New("You are the coder.\n\n"+strings.Repeat("Keep it small, and test it. ",
		100)+"\n\nThe last note.", tooltest.Key)
	c := prompt.Compare(tooltest.NamedSent(strings.TrimSuffix(text.Text, "\n\nThe last note.")),
		text)
	plan := tool.Plan(rewrite.CommandLine{Format: rewrite.StreamJSON},
		rewrite.ToResume(tooltest.SomeID, text, c, ""))
	if plan.Asked != text.Text || plan.Prompt == text.Text {
		t.Errorf("asked %q, sent %q", plan.Asked, plan.Prompt)
	}
}

func TestGeminiSees(t *testing.T) {
	const resumed = "407ae252-545b-4b91-86f8-e992e4bccfd4"
	tests := []struct {
		recording, resume             string
		content, final, failed, wrong bool
		refusal                       reason.Code
	}{
		{"fresh-stream", "", true, true, false, false, ""},
		{"tool-stream", "", true, true, false, false, ""},
		{"resume-ok-stream", resumed, true, true, false, false, ""},
		{"resume-ok-stream", tooltest.SomeID, false, true, false, true, ""},
		{"fresh-json", "", true, true, false, false, ""},
		{"resume-ok-json", tooltest.SomeID, false, true, false, true, ""},
		{"resume-unknown-stream", tooltest.SomeID, false, false, false, false, ""},
		{"sigterm-norelaunch-stream", "", false, false, false, false, ""},
		{"toobig-resume-stream", "", false, true, true, false, reason.RefusedContext},
		{"http400-stream", "", false, true, true, false, ""},
	}
	for _, tt := range tests {
		line := "-p x -o stream-json"
		if strings.HasSuffix(tt.recording, "-json") {
			line = "-p x -o json"
		}
		_, got := run(line, tt.resume, recording(t, tt.recording, "stdout"))
		if got.Content != tt.content || got.Final != tt.final || got.Failed != tt.failed ||
			got.WrongID != tt.wrong ||
			got.Refusal != tt.refusal {
			t.Errorf("%s: content %v, final %v, failed %v, wrong id %v, refusal %q", tt.recording,
				got.Content, got.Final, got.Failed, got.WrongID, got.Refusal)
		}
	}
	for _, name := range []string{"tool-stream", "tool-json"} {
		_, seen := run("-p x -o json", "", recording(t, name, "stdout"))
		want := rewrite.Usage{Known: true, Input: 13260, CacheRead: 3314, Output: 18}
		if seen.Usage != want || seen.First.Known || seen.ContextUse.Used != 16592/2 ||
			!seen.ToolRan || seen.ID == "" {
			t.Errorf("%s: usage %+v, context %+v, tool ran %v, id %q", name, seen.Usage,
				seen.ContextUse, seen.ToolRan, seen.ID)
		}
	}
	// one request: the sums are the first one's
	for _, name := range []string{"fresh-stream", "fresh-json"} {
		_, seen := run("-p x -o json", "", recording(t, name, "stdout"))
		if u := seen.Usage; u.Input == 0 ||
			seen.First != (rewrite.Usage{Known: true, Input: u.Input, CacheRead: u.CacheRead}) {
			t.Errorf("%s: first %+v of %+v", name, seen.First, u)
		}
	}
	_, seen := run("-p x -o json", "", "{\n  \"noise\": 1\n}\n"+recording(t, "fresh-json",
		"stdout"))
	if !seen.Final || seen.Answer != "Got it: 456." {
		t.Errorf("behind another object: final %v, answer %q", seen.Final, seen.Answer)
	}
	hook := `{"type":"message","role":"user","content":"<hook_context>x</hook_context>\n\nhi"}` +
		"\n"
	if _, seen := run("-p hi -o stream-json", "", hook); seen.Refusal != reason.RefusedBroken {
		t.Errorf("a prompt that is not kept: %q", seen.Refusal)
	}
}

// The facts for the ledger from events that no recording has.
func TestGeminiTellsTheLedger(t *testing.T) {
	const (
		say  = `{"type":"message","role":"assistant","content":"a"}` + "\n"
		use  = `{"type":"tool_use","parameters":{"file_path":"/w/a.go"}}` + "\n"
		used = `{"type":"tool_result"}` + "\n"
		ends = `{"type":"result","status":"success","stats":{"models":{"m":{"input_tokens":12,"total_tokens":12}}}}` + "\n"
	)
	for _, tt := range []struct {
		what, stdout  string
		content, tool bool
		answer        string
		window        int64 // by the answers that one can tell apart
	}{
		{"an answer", say + ends, true, false, "a", 12},
		{"an answer in pieces", say + say + ends, true, false, "aa", 12},
		{"no answer", ends, false, false, "", 12},
		{"an empty piece", `{"type":"message","role":"assistant","content":""}` + "\n" + ends,
			false, false, "", 12},
		{"somebody else's words", `{"type":"message","content":"b"}` + "\n" + ends, false, false,
			"", 12},
		{"a tool", use, true, true, "", 0},
		{"a tool, then an answer", use + used + say + ends, true, true, "a", 6},
		{"words around two tools of one turn", say + use + say + use + used + used + say + ends,
			true, true, "aaa", 6},
		{"two turns with a tool", say + use + used + use + used + say + ends, true, true, "aa", 4},
	} {
		_, seen := run("-p x -o stream-json", "", tt.stdout)
		if seen.Content != tt.content || seen.ToolRan != tt.tool || seen.Answer != tt.answer ||
			seen.ContextUse.Used != tt.window {
			t.Errorf("%s: content %v, tool ran %v, answer %q, window %d", tt.what, seen.Content,
				seen.ToolRan, seen.Answer, seen.ContextUse.Used)
		}
		if files := strings.Join(seen.Files, ","); tt.tool != strings.HasPrefix(files, "/w/a.go") {
			t.Errorf("%s: files %s", tt.what, files)
		}
	}
	_, seen := run("-p x -o stream-json", "",
		`{"type":"init","session_id":"`+tooltest.SomeID+`","model":"m"}`+"\n"+`{"type":"result","status":"success","stats":{"models":{}}}`+"\n")
	if seen.Model != "m" || seen.Usage.Known {
		t.Errorf("a run that asked no model: %+v", seen)
	}
	for calls, want := range map[string]bool{"0": false, "1": true, "2": true} {
		_, seen := run("-p x -o json", "",
			"{\n"+`"session_id":"`+tooltest.SomeID+`","response":"a","stats":{"tools":{"totalCalls":`+calls+"}}\n}\n")
		if seen.ToolRan != want || seen.Answer != "a" {
			t.Errorf("%s tool calls: %+v", calls, seen)
		}
	}
	if _, seen := run("-p x -o json", "", "{\n\"response\":\"a\"\n}\n"); seen.Final ||
		seen.Answer != "" {
		t.Errorf("another program's object: %+v", seen)
	}
}

func TestGeminiRefuses(t *testing.T) {
	tests := []struct {
		recording string
		exit      int
		want      reason.Code
	}{
		{"resume-unknown-text", 42, reason.RefusedUnknown},
		{"resume-unknown-json", 42, reason.RefusedUnknown},
		{"resume-othercwd", 42, reason.RefusedUnknown},
		{"toobig-json", 144, reason.RefusedContext},
		{"http401-json", 145, ""},
		{"http400-json", 144, ""},
		{"no-prompt", 42, ""},
		{"resume-ok-text", 0, ""},
	}
	for _, tt := range tests {
		if got := tool.Refused(recording(t, tt.recording, "stderr"), tt.exit); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.recording, got, tt.want)
		}
	}
}

func TestGeminiTellsLeftovers(t *testing.T) {
	orphan, session := recording(t, "retention", "orphan.jsonl"),
		recording(t, "retention", "session.jsonl")
	header, context, _ := strings.Cut(orphan, "\n")
	user := `{"id":"a","type":"user","content":[{"text":"hi"}]}` + "\n"
	tests := []struct {
		name, data string
		want       bool
	}{
		{"orphan", orphan, true},
		{"orphan, half written", header + "\n", true},
		{"orphan, written on after it was deleted", context, true},
		{"session", session, false},
		{"a record of the user", orphan + user, false},
		{"history in one piece", `{"$set":{"messages":[` + strings.TrimSpace(user) + `]}}` + "\n",
			false},
		{"something unknown", orphan + `{"$set":{"summary":"x"}}` + "\n", false},
		{"a rewind", orphan + `{"$rewindTo":"x"}` + "\n", false},
		{"not a whole line", orphan + `{"id":`, false},
		{"blank", "   ", false},
		{"empty", "", false},
	}
	for _, tt := range tests {
		if got := tool.IsOrphanFile("", []byte(tt.data)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestGeminiSessionPaths(t *testing.T) {
	got := rewrite.SessionPaths(tool, "/h/.gemini", "/work/app",
		"7f0cfa0b-8035-44f6-86ea-562f71d6efe2")
	want := []string{"/h/.gemini/tmp/app/chats/session-*-7f0cfa0b.jsonl",
		"/h/.gemini/tmp/*/chats/session-*-7f0cfa0b.jsonl"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestGeminiHelp(t *testing.T) {
	help, err := os.ReadFile("../../../testdata/help/gemini-0.61.0.txt")
	if err != nil {
		t.Fatal(err)
	}
	probe := tool.Options(string(help))
	if !probe.Known || !probe.Resume || len(probe.Options) < 25 {
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

func TestGeminiAccounts(t *testing.T) {
	gemini := func(file, text string) rewrite.Setting {
		path := "/h/.gemini/" + file
		c := tool.ResolveWithEnv(rewrite.CommandLine{SettingsFiles: []string{path}},
			rewrite.HostEnv{Settings: []rewrite.File{{Path: path, Text: text}}})
		return c.Settings[0]
	}
	if gemini("google_accounts.json", `{"active":"a","old":[]}`) ==
		gemini("google_accounts.json", `{"active":"b","old":["a"]}`) {
		t.Error("another account does not count")
	}
	if gemini("oauth_creds.json", `{"access_token":"1","refresh_token":"r"}`) !=
		gemini("oauth_creds.json", `{"access_token":"2","refresh_token":"r"}`) {
		t.Error("a refreshed token counts")
	}
}

// The recorded error of the API, with other statuses.
func TestGeminiFailsOutside(t *testing.T) {
	path := "../../../testdata/recordings/gemini/http400-stream/stdout"
	for status, want := range map[string]reason.Code{
		"400": "", "401": reason.LoginRefused, "403": "", "429": reason.RateLimited,
		"503": reason.ServiceFailed, "x": "",
	} {
		s := tool.Stream(rewrite.CommandLine{Format: rewrite.StreamJSON}, rewrite.Plan{}, "")
		for line := range strings.Lines(strings.ReplaceAll(readText(t, path), `\"code\":400`,
			`\"code\":`+status)) {
			s.Line([]byte(line))
		}
		if seen := s.Seen(); seen.Outside != want || !seen.Failed {
			t.Errorf("%s: %q, failed %v", status, seen.Outside, seen.Failed)
		}
	}
}
