package copilot

import (
	"bytes"
	"encoding/json"
	"maps"
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

// copilotCall parses a command line of words; _ in a word is a space.
func copilotCall(line string, env ...string) rewrite.CommandLine {
	in := tooltest.Invocation(line, env...)
	in.StdinTTY = !slices.Contains(env, "STDIN=1")
	return tool.Parse(in)
}

func TestCopilotClassifies(t *testing.T) {
	tests := []struct {
		line   string
		env    string
		mode   rewrite.Mode
		reason reason.Code
	}{
		{"-p hi", "", rewrite.Fresh, ""},
		{"-phi -s", "", rewrite.Fresh, ""},
		{"-sp hi", "", rewrite.Fresh, ""},
		{"--prompt=hi --output-format json --allow-all", "", rewrite.Fresh, ""},
		{"--allow-tool shell write -p hi", "", rewrite.Fresh, ""},
		{"-s", "STDIN=1", rewrite.Fresh, ""},
		{"-p hi", "STDIN=1", rewrite.Fresh, ""},
		{"", "", rewrite.Passthrough, reason.Interactive},
		{"--model x", "", rewrite.Passthrough, reason.Interactive},
		{"-i hi", "STDIN=1", rewrite.Passthrough, reason.NotManaged},
		{"--version", "", rewrite.Passthrough, reason.NotManaged},
		{"mcp list", "", rewrite.Passthrough, reason.NotManaged},
		{"--acp", "STDIN=1", rewrite.Passthrough, reason.AppServer},
		{"-p hi", "COPILOT_CLI=1", rewrite.Passthrough, reason.Nested},
		{"-p hi", rewrite.NestedEnv + "=claude:1", rewrite.Passthrough, reason.Nested},
		{"-p hi --usage-output-file u.json", "", rewrite.Passthrough, reason.UnmanagedOption},
		{"-p hi --share", "", rewrite.Passthrough, reason.UnmanagedOption},
		{"-p hi --name x", "", rewrite.Passthrough, reason.UnmanagedOption},
		{"-p hi --nosuch", "", rewrite.Passthrough, reason.UnknownOption},
		{"-p", "", rewrite.Passthrough, reason.BadUsage},
		{"-p -x", "", rewrite.Passthrough, reason.BadUsage},
		{"-p hi there", "", rewrite.Passthrough, reason.BadUsage},
		{"what number", "STDIN=1", rewrite.Passthrough, reason.BadUsage},
		{"-p hi --output-format xml", "", rewrite.Passthrough, reason.BadUsage},
		{"-p hi --resume=" + tooltest.SomeID, "", rewrite.Passthrough, reason.CallerSession},
		{"-p hi -r x", "", rewrite.Passthrough, reason.CallerSession},
		{"-p hi --continue --output-format json", "", rewrite.Observe, reason.CallerSession},
		{"-p hi --session-id " + tooltest.SomeID, "", rewrite.Passthrough, reason.CallerSession},
		{"-p /review_this", "", rewrite.Passthrough, reason.SlashCommand},
	}
	for _, tt := range tests {
		if c := copilotCall(tt.line, tt.env); c.Mode != tt.mode || c.Reason != tt.reason {
			t.Errorf("%q with %q: %s %s, want %s %s", tt.line, tt.env, c.Mode, c.Reason, tt.mode,
				tt.reason)
		}
	}
}

// An answer at a terminal is shown as it comes, but not the beginning of the figures.
func TestCopilotShowsParts(t *testing.T) {
	s := tool.Stream(rewrite.CommandLine{Format: rewrite.Text},
		rewrite.Plan{Resume: tooltest.SomeID}, "")
	for part, want := range map[string]bool{"one t": true, "C": false, "Ch": false, "Cha cha": true,
		"Changes    \x1b[32m+": false, "Changes    \x1b[3": false,
		"\x1b[34m●\x1b[39m Op": true, "\x1b[3": false, "Changes of": true, "": false} {
		if got := s.ErrAsIs([]byte(part)); got != want {
			t.Errorf("%q: %t", part, got)
		}
	}
	s.ErrLine([]byte("Changes    +0 -0\n"))
	if s.ErrAsIs([]byte("Tokens")) {
		t.Error("a part of the figures is shown")
	}
}

// Without a prompt, or with an empty one, copilot asks the user at a terminal.
func TestCopilotAtATerminal(t *testing.T) {
	for line, want := range map[string]reason.Code{"": reason.Interactive,
		"-s -p ": reason.Interactive, "--nosuch": reason.Interactive, "-p hi": ""} {
		in := rewrite.Input{Args: strings.Split(line, " "), Env: func(string) string {
			return ""
		}, StdinTTY: true, StdoutTTY: true}
		if c := tool.Parse(in); c.Reason != want {
			t.Errorf("%q: %s", line, c.Reason)
		}
	}
}

func TestCopilotReadsACall(t *testing.T) {
	c := copilotCall("-p one -p two -s --model a --model b -C /d --yolo --secret-env-vars MINE",
		"MINE=mine", "COPILOT_PROVIDER_API_KEY=key", "GH_TOKEN=no")
	if c.Prompt != "two" || !base.Own[details](c).silent || c.Model != "b" || c.Dir != "/d" ||
		!slices.Equal(base.Own[details](c).secrets, []string{"key", "mine"}) ||
		c.Stdin != rewrite.StdinUnused {
		t.Errorf("%+v", c)
	}
	if got := tooltest.Settings(c); len(got) != 2 || got["--secret-env-vars"] != "\x00MINE" {
		t.Errorf("settings %v", got)
	}
	if c := copilotCall("--additional-mcp-config @m.json -p hi",
		"COPILOT_HOME=/h"); !c.Settings[0].File || c.Settings[0].Value != "m.json" ||
		c.Home != "/h" {
		t.Errorf("%+v", c)
	}
	if c := copilotCall("-s", "STDIN=1", "HOME=/u"); c.Stdin != rewrite.StdinPrompt ||
		c.Home != "/u/.copilot" {
		t.Errorf("%+v", c)
	}
}

// The grammar has each option of the recorded help, with its arity.
func TestCopilotHelp(t *testing.T) {
	probe := tool.Options(string(recording(t, "help", "stdout")))
	if !probe.Known || !probe.Resume {
		t.Errorf("%v %v", probe.Known, probe.Resume)
	}
	for _, o := range probe.Options {
		for _, name := range o.Names {
			if known, ok := options.Find(name); !ok || known.Arity != o.Arity {
				t.Errorf("%s takes %v, the grammar says %v %v", name, o.Arity, known.Arity, ok)
			}
		}
	}
	if n := len(probe.Options); n != 80 {
		t.Errorf("%d options of %d", n, len(options))
	}
	old := regexp.MustCompile(`(?m)^.*--usage-output-file.*$`).ReplaceAllString(
		string(recording(t, "help", "stdout")), "")
	if tool.Options(old).Resume {
		t.Error("a version without --usage-output-file can resume")
	}
}

func TestCopilotVersions(t *testing.T) {
	for version, want := range map[string]rewrite.Mode{"1.0.102": rewrite.Fresh,
		"1.0.83": rewrite.Fresh, "1.0.80": rewrite.Passthrough, "0.0.400": rewrite.Passthrough,
		"": rewrite.Passthrough, "2.0.0": rewrite.Fresh} {
		if c := tool.ResolveWithEnv(copilotCall("-p hi"),
			rewrite.HostEnv{Version: version}); c.Mode != want {
			t.Errorf("%q: %s", version, c.Mode)
		}
	}
	c := copilotCall("-p hi")
	c.Own = details{learned: rewrite.Probe{Known: true, Resume: true}}
	if c = tool.ResolveWithEnv(c, rewrite.HostEnv{}); c.Mode != rewrite.Fresh {
		t.Errorf("its help lists the option: %s", c.Mode)
	}
}

// State that copilot itself rewrites at the start is no change.
func TestCopilotStateIsMigrated(t *testing.T) {
	const path = "/h/config.json"
	before := `{"theme":"dark","trusted_folders":["/home/me/proj"],"banner":"never"}`
	after := string(recording(t, "migrated", "config.json"))
	if a, b := settings(path, before), settings(path, after); !slices.Equal(a, b) || len(a) == 0 {
		t.Errorf("%v\n%v", a, b)
	}
	if got := settings(path, "// Comment.\n{\n  \"firstLaunchAt\": "+
		"\"2026-11-22T15:37:36.220Z\"\n}\n"); got != nil {
		t.Errorf("an empty state: %v", got)
	}
	if a, b := settings(path, before),
		settings(path, strings.Replace(before, "never", "once", 1)); slices.Equal(a, b) {
		t.Error("another setting is not seen")
	}
	if got := settings(path, `{"last_logged_in_user":{"login":"me"}}`); len(got) != 1 ||
		got[0].Guard != reason.AuthChanged {
		t.Errorf("%v", got)
	}
	const both = `{"last_logged_in_user":"old","lastLoggedInUser":"new"}`
	for range 20 { // members have no order
		if got := settings(path, both); len(got) != 1 || got[0].Value != `"new"` {
			t.Fatalf("both spellings: %v", got)
		}
	}
	if got := settings(path, "{"); len(got) != 1 || got[0].Value != "{" {
		t.Errorf("%v", got)
	}
}

func TestCopilotPlans(t *testing.T) {
	usage := "--usage-output-file=" + rewrite.Scratch + "/usage.json"
	fresh := func(line string, env ...string) rewrite.Plan {
		return tool.Plan(copilotCall(line, env...), rewrite.ToFresh("hi"))
	}
	for line, want := range map[string]string{
		// the first argument and the last are one
		"-p hi":                      "-p hi " + usage,
		"-p hi --output-format json": "-p hi " + usage + " --output-format json",
		"-sp hi": "-sp hi " + usage + " --share=" + rewrite.Scratch +
			"/session.md",
		"-s -p hi --output-format=json": "-s " + usage + " -p hi --output-format=json",
		"--allow-tool a b -p hi":        "--allow-tool a b " + usage + " -p hi",
	} {
		if p := fresh(line); strings.Join(p.Args, " ") != want ||
			p.ReadStderr != (line == "-p hi" || strings.HasPrefix(line, "--allow")) {
			t.Errorf("%q: %q, stderr %v", line, p.Args, p.ReadStderr)
		}
	}
	text := prompt.New("hi", tooltest.Key)
	resume := func(line string, env ...string) rewrite.Plan {
		return tool.Plan(copilotCall(line, env...), rewrite.ToResume(tooltest.SomeID, text,
			prompt.Continuity{}, reason.DeltaOff))
	}
	for line, want := range map[string]string{
		"-p hi --yolo": "-p hi " + usage + " --resume=" + tooltest.SomeID + " --yolo",
		"-sp hi":       "-sp hi " + usage + " --resume=" + tooltest.SomeID,
	} {
		p := resume(line)
		if strings.Join(p.Args, " ") != want || p.HasStdin || len(p.Follow) != 2 ||
			p.Follow[1].Dir != "/u/.copilot/session-state/"+tooltest.SomeID &&
				p.Follow[1].Dir != "/.copilot/session-state/"+tooltest.SomeID {
			t.Errorf("%q: %q, %+v", line, p.Args, p.Follow)
		}
	}
	if p := resume("-s", "STDIN=1"); !p.HasStdin || p.Stdin != "hi" ||
		strings.Join(p.Args, " ") != "-s "+usage+" --resume="+tooltest.SomeID {
		t.Errorf("%q, stdin %q", p.Args, p.Stdin)
	}
}

// The model is sent a prompt without the white space at its end, so a delta must end in the same.
func TestCopilotDeltaEndsAsThePrompt(t *testing.T) {
	for _, end := range []string{"", "\n", " \n\n"} {
		prompt := "work on it" + end
		target := tooltest.To{ID: tooltest.SomeID, Prompt: "the new part\n", Asked: prompt}.Target()
		call := copilotCall("-p x")
		call.Prompt = prompt
		argv, stdin := tool.Plan(call, target), tool.Plan(copilotCall("-s", "STDIN=1"), target)
		want := "the new part" + end
		if argv.Prompt != want || !slices.Contains(argv.Args, want) || stdin.Stdin != want {
			t.Errorf("%q: %q in argv, %q on stdin", prompt, argv.Args, stdin.Stdin)
		}
	}
}

func TestCopilotPrompt(t *testing.T) {
	for stdin, want := range map[string]string{" a\n": " a\n", " \n": "", "/x": "", "": ""} {
		if got := tool.EffectivePrompt(copilotCall("-s", "STDIN=1"), stdin); got != want {
			t.Errorf("%q: %q", stdin, got)
		}
	}
	if got := tool.EffectivePrompt(copilotCall("-p hi", "STDIN=1"), "data"); got != "hi" {
		t.Errorf("%q", got)
	}
}

func TestCopilotRefusals(t *testing.T) {
	for name, want := range map[string]reason.Code{
		"resume-unknown-text": reason.RefusedUnknown, "resume-unknown-json": reason.RefusedUnknown,
		"resume-unknown-silent": reason.RefusedUnknown,
		"resume-broken":         reason.RefusedBroken, "toobig-silent": reason.RefusedContext,
		"badtool-silent": reason.RefusedBroken, "http401-silent": "",
		"empty-text": "", "no-prompt": "", "words": "",
	} {
		stderr := string(recording(t, name, "stderr"))
		if got := tool.Refused(stderr, 1); got != want {
			t.Errorf("%s: %q", name, got)
		}
		if got := tool.Refused(stderr, 0); got != "" {
			t.Errorf("%s with exit code 0: %q", name, got)
		}
	}
}

func TestCopilotSessionFiles(t *testing.T) {
	path := "/h/session-state/" + tooltest.SomeID + "/events.jsonl"
	if got := rewrite.SessionPaths(tool, "/h", "/d", tooltest.SomeID); !slices.Equal(got,
		[]string{path}) {
		t.Error(got)
	}
	files, ok := rewrite.FilesOf(tool, "/h", tooltest.SomeID, path)
	if !ok || !slices.Equal(files.Paths, []string{"session-state/" + tooltest.SomeID}) {
		t.Error(files, ok)
	}
	if _, ok := rewrite.FilesOf(tool, "/h", tooltest.SomeID,
		"/h/session-state/x/events.jsonl"); ok {
		t.Error("another session's file")
	}
}

func recording(t *testing.T, name, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../testdata/recordings/copilot", name, file))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A run is the output of a recorded run, as a caller sees it.
type run struct {
	stdout, stderr string
	seen           rewrite.StreamState
}

// show plays a recorded run: the session's events as far as they come first, then the output, then
// the figures.
func show(t *testing.T, name string, c rewrite.CommandLine, p rewrite.Plan,
	previous rewrite.Totals) (r run) {
	t.Helper()
	s := tool.Stream(c, p, previous)
	file := func(name, as string) {
		if data, err := os.ReadFile(filepath.Join("../../../testdata/recordings/copilot", name,
			as)); err == nil {
			if as != events {
				s.File("/scratch/"+as, data)
				return
			}
			for line := range bytes.Lines(data) {
				s.File("/h/session-state/x/"+as, line)
			}
		}
	}
	file(name, events)
	for line := range bytes.Lines(recording(t, name, "stdout")) {
		r.stdout += string(s.Line(line))
	}
	for line := range bytes.Lines(recording(t, name, "stderr")) {
		if p.ReadStderr {
			line = s.ErrLine(line)
		}
		r.stderr += string(line)
	}
	file(name, usageFile)
	file(name, shareFile)
	r.stdout += string(s.End())
	r.stderr += s.TakeStderr() + s.TakeStderr()
	r.seen = *s.Seen()
	return r
}

var lines = map[string]string{"text": "-p x", "silent": "-s -p x",
	"json": "-p x --output-format json"}

func TestCopilotShowsAFreshRunAsItIs(t *testing.T) {
	for format, line := range lines {
		for _, name := range []string{"fresh", "multi", "tool", "toobig", "empty", "http401",
			"edit-1"} {
			if name == "edit-1" && format == "silent" {
				continue // recorded as text
			}
			name := name + "-" + format
			c := copilotCall(line)
			r := show(t, name, c, tool.Plan(c, rewrite.ToFresh("x")), "")
			if r.stdout != string(recording(t, name, "stdout")) ||
				r.stderr != string(recording(t, name, "stderr")) {
				t.Errorf("%s: %q\n%q", name, r.stdout, r.stderr)
			}
			id := regexp.MustCompile(
				`"sessionId":"([0-9a-f-]{36})","exitCode"|--resume=([0-9a-f-]{36})`).FindStringSubmatch(r.stdout + r.stderr)
			if id != nil && r.seen.ID != id[1]+id[2] || id == nil && r.seen.ID != "" {
				t.Errorf("%s: id %q", name, r.seen.ID)
			}
		}
	}
}

func TestCopilotAnswers(t *testing.T) {
	for name, want := range map[string]string{
		"fresh-text": "Got it: 456.", "fresh-json": "Got it: 456.", "fresh-silent": "Got it: 456.",
		"tool-json": "ok", "tool-silent": "Let me run it.\n\nok",
	} {
		_, format, _ := strings.Cut(name, "-")
		c := copilotCall(lines[format])
		r := show(t, name, c, tool.Plan(c, rewrite.ToFresh("x")), "")
		if r.seen.Answer != want || !r.seen.Final || r.seen.Failed {
			t.Errorf("%s: %q, %+v", name, r.seen.Answer, r.seen)
		}
		if u := r.seen.Usage; !u.Known || u.Input < 12000 || u.Output == 0 || r.seen.Totals == "" ||
			r.seen.ContextUse.Used < 12000 {
			t.Errorf("%s: %+v", name, r.seen)
		}
	}
}

// Silent text names its session nowhere else than in the shared file.
func TestCopilotShared(t *testing.T) {
	c := copilotCall("-s -p x")
	r := show(t, "share", c, tool.Plan(c, rewrite.ToFresh("x")), "")
	if !base.IsUUID(r.seen.ID) || r.seen.Source != "file" {
		t.Errorf("%q from %q", r.seen.ID, r.seen.Source)
	}
	s := tool.Stream(c, rewrite.Plan{}, "")
	s.File("/scratch/session.md", []byte(
		"# Copilot CLI Session\n\n---\n\n> - **Session ID:** `"+tooltest.SomeID+"`\n"))
	if s.Seen().ID != "" {
		t.Error("an ID in the conversation counts")
	}
}

// resumed plays the second and third run of a recorded session.
func resumed(t *testing.T, first, name, format string) (before, r run) {
	t.Helper()
	c := copilotCall(lines[format])
	before = show(t, first, c, rewrite.Plan{ReadStderr: format == "text"}, "")
	if format == "silent" {
		s := tool.Stream(c, rewrite.Plan{}, "")
		s.File(usageFile, recording(t, first, usageFile))
		before.seen.Totals = s.Seen().Totals
	}
	var run struct{ Argv []string }
	if err := json.Unmarshal(recording(t, name, "run.json"), &run); err != nil {
		t.Fatal(err)
	}
	var id string
	for _, arg := range run.Argv {
		if value, ok := strings.CutPrefix(arg, "--resume="); ok {
			id = value
		}
	}
	p := tool.Plan(c, rewrite.ToResume(id, prompt.New("x", tooltest.Key), prompt.Continuity{},
		reason.DeltaOff))
	return before, show(t, name, c, p, before.seen.Totals)
}

// A resumed call shows its own figures in json and none in text; the usage is the call's alone.
func TestCopilotOwnFigures(t *testing.T) {
	for _, format := range slices.Sorted(maps.Keys(lines)) {
		_, r := resumed(t, "chain-1-"+format, "chain-2-"+format, format)
		if u := r.seen.Usage; !u.Known || u.Input < 12000 || u.Input > 13000 || u.Output < 1 ||
			u.Output > 4 {
			t.Errorf("%s: %+v", format, u)
		}
		if !r.seen.Content || !r.seen.Final || r.seen.Failed || !base.IsUUID(r.seen.ID) ||
			r.seen.Answer != "77" {
			t.Errorf("%s: %+v", format, r.seen)
		}
		switch format {
		case "text":
			if !regexp.MustCompile(`^\n\nResume     copilot --resume=[0-9a-f-]{36}\n$`).MatchString(
				r.stderr) {
				t.Errorf("%q", r.stderr)
			}
		case "json":
			if !regexp.MustCompile(
				`"premiumRequests":0,"totalApiDurationMs":\d{1,3},"sessionDurationMs":\d{2,4},"codeChanges":\{"linesAdded":0,"linesRemoved":0,"filesModified":\[\]\}\}\}\n$`).MatchString(r.stdout) {
				t.Errorf("%q", r.stdout[len(r.stdout)-300:])
			}
		}
	}
	_, r := resumed(t, "edit-1-json", "edit-2-json", "json")
	if want := `"codeChanges":{"linesAdded":1,"linesRemoved":0,"filesModified":["/home/me/proj/b-json.txt"]}}}` + "\n"; !strings.HasSuffix(r.stdout, want) {
		t.Errorf("%q", r.stdout[len(r.stdout)-300:])
	}
	_, r = resumed(t, "edit-1-text", "edit-2-text", "text")
	if !regexp.MustCompile(`^\n\nResume     copilot --resume=[0-9a-f-]{36}\n$`).MatchString(
		r.stderr) {
		t.Errorf("%q", r.stderr)
	}
}

// If the session's earlier figures are not known, those in json are not changed, and the usage is
// not known.
func TestCopilotUnknownTotals(t *testing.T) {
	for format, line := range lines {
		c := copilotCall(line)
		p := tool.Plan(c, rewrite.ToResume(tooltest.SomeID, prompt.New("x", tooltest.Key),
			prompt.Continuity{}, reason.DeltaOff))
		for _, totals := range []rewrite.Totals{"", "{", `{"input":1e99}`, `{"input":99999999}`} {
			r := show(t, "chain-2-"+format, c, p, totals)
			want := string(recording(t, "chain-2-"+format, "stderr"))
			if format == "text" {
				want = regexp.MustCompile(`(?m)^(Changes|Duration|Tokens) .*\n`).ReplaceAllString(
					want, "")
			}
			if r.seen.Usage.Known || r.stderr != want {
				t.Errorf("%s after %q: %+v, %q", format, totals, r.seen.Usage, r.stderr)
			}
		}
	}
}

// If the model was sent a part of the prompt, the caller sees its whole prompt, with the keys
// hidden as copilot hides them.
func TestCopilotShowsTheCallersPrompt(t *testing.T) {
	c := copilotCall("-p x --output-format json", "COPILOT_PROVIDER_API_KEY=stand-in-key")
	s := tool.Stream(c, rewrite.Plan{Resume: tooltest.SomeID,
		Prompt: "ECHO<<the stand-in-key>> please", Asked: "A <b> & stand-in-key\u2028.\n"}, "")
	for line := range bytes.Lines(recording(t, "key-json", "stdout")) {
		got := string(s.Line(line))
		if !strings.Contains(got, `"type":"user.message"`) {
			continue
		}
		if !strings.Contains(got, "\"content\":\"A <b> & ******\u2028.\\n\"") ||
			!regexp.MustCompile(`"transformedContent":"<current_datetime>[^<]*</current_datetime>\\n\\nA <b> & \*{6}`+"\u2028"+`\."`).MatchString(got) {
			t.Errorf("%s", got)
		}
	}
}

// A resumed run is its session's own only if it adds to the session's file.
func TestCopilotContent(t *testing.T) {
	const message = `{"type":"assistant.message","data":{"content":"hi"}}` + "\n"
	c := copilotCall("-p x --output-format json")
	s := tool.Stream(c, rewrite.Plan{Resume: tooltest.SomeID}, "")
	s.Line([]byte(message))
	if s.Seen().Content {
		t.Error("content before the session is known")
	}
	s.File("/h/events.jsonl",
		[]byte(`{"type":"session.resume","data":{"resumeTime":"2026-11-22T15:37:36.811Z"}}`+"\n"))
	s.File("/h/events.jsonl", []byte(message))
	if seen := s.Seen(); !seen.Content || seen.ID != tooltest.SomeID {
		t.Errorf("%+v", seen)
	}
	s = tool.Stream(c, rewrite.Plan{Resume: tooltest.SomeID}, "")
	s.Line([]byte(`{"type":"result","sessionId":"22222222-2222-4333-8444-555555555555","exitCode":0,"usage":{}}` + "\n"))
	if seen := s.Seen(); !seen.WrongID || seen.Content {
		t.Errorf("another session: %+v", seen)
	}
	text := tool.Stream(copilotCall("-p x"),
		rewrite.Plan{Resume: tooltest.SomeID, ReadStderr: true}, "")
	text.ErrLine([]byte("Changes    +0 -0\n"))
	text.ErrLine([]byte("Resume     copilot --resume=22222222-2222-4333-8444-555555555555\n"))
	if !text.Seen().WrongID {
		t.Error("another session in text is not seen")
	}
}

// Text on stderr is no part of the answer, unless both streams are one.
func TestCopilotOneStream(t *testing.T) {
	for stdout, want := range map[string]string{"yes\n\n": "yes", "": "a warning\nyes"} {
		s := tool.Stream(copilotCall("-p x"), rewrite.Plan{ReadStderr: true}, "")
		s.File(usageFile, recording(t, "fresh-text", usageFile))
		s.ErrLine([]byte("a warning\n"))
		if stdout == "" {
			s.ErrLine([]byte("yes\n"))
		} else {
			s.Line([]byte(stdout))
		}
		s.End()
		if seen := s.Seen(); seen.Answer != want || !seen.Final {
			t.Errorf("%q: %q, final %v", stdout, seen.Answer, seen.Final)
		}
	}
}

func TestCopilotCompacted(t *testing.T) {
	s := tool.Stream(copilotCall("-p x"), rewrite.Plan{Resume: tooltest.SomeID}, "")
	s.File("/h/events.jsonl", []byte(`{"type":"session.compaction_complete","data":{}}`+"\n"))
	if !s.Seen().Compacted {
		t.Error("a compacted session is not seen")
	}
}
