package claude

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
	"reprise/test/tooltest"
)

// parse reads a command line of claude's.
func parse(line string, env ...string) rewrite.CommandLine {
	return tool.Parse(tooltest.Invocation(line, env...))
}

func TestClaudeReads(t *testing.T) {
	tooltest.CheckReadings(t, parse, []tooltest.Reading{
		{"-p hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"--print hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"hi", "", rewrite.Fresh, "", "hi", rewrite.Text}, // stdin is no terminal
		{"-p", "", rewrite.Fresh, "", "", rewrite.Text},   // the prompt is on stdin
		{"", "", rewrite.Fresh, "", "", rewrite.Text},
		{"-p -", "", rewrite.Fresh, "", "-", rewrite.Text},
		{"-p --model sonnet hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"hi -p", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p hi --output-format json", "", rewrite.Fresh, "", "hi", rewrite.JSON},
		{"-p hi --output-format=json", "", rewrite.Fresh, "", "hi", rewrite.JSON},
		{"-p hi --output-format text --output-format json", "", rewrite.Fresh, "", "hi",
			rewrite.JSON},
		{"-p hi --output-format json --verbose", "", rewrite.Fresh, "", "hi", rewrite.JSONVerbose},
		{"-p hi --output-format stream-json --verbose --include-partial-messages", "",
			rewrite.Fresh, "", "hi", rewrite.StreamJSON},
		{"-p hi --verbose", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p hi --allowedTools A B", "", rewrite.Fresh, "", "hi", rewrite.Text},
		// swallowed: stdin must give the prompt
		{"-p --allowedTools A B hi", "", rewrite.Fresh, "", "", rewrite.Text},
		{"-p --allowedTools A B -- hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p --allowedTools=A,B hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p --allowed-tools A --model m hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		// a required value can look like an option
		{"-p --model -x hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p --debug api hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p hi -d", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p --max-turns 0 hi", "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p --system-prompt-file f --json-schema {} hi", "", rewrite.Fresh, "", "hi",
			rewrite.Text},

		{"--help", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text},
		{"-p -v", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text},
		{"mcp list", "", rewrite.Passthrough, reason.NotManaged, "mcp", rewrite.Text},
		{"--debug -p update", "", rewrite.Passthrough, reason.NotManaged, "update", rewrite.Text},
		{"-p hi --resume", "", rewrite.Passthrough, reason.CallerSession, "hi", rewrite.Text},
		{"-p hi -r " + tooltest.SomeID, "", rewrite.Passthrough, reason.CallerSession, "hi",
			rewrite.Text},
		{"-p hi -c", "", rewrite.Passthrough, reason.CallerSession, "hi", rewrite.Text},
		{"-p hi --session-id " + tooltest.SomeID + " --output-format json", "", rewrite.Fresh, "",
			"hi", rewrite.JSON},
		{"-p hi --session-id=" + tooltest.SomeID, "", rewrite.Fresh, "", "hi", rewrite.Text},
		{"-p hi --session-id " + tooltest.SomeID + " --fork-session", "", rewrite.Passthrough,
			reason.CallerSession, "hi", rewrite.Text},
		{"-p hi --session-id " + tooltest.SomeID + " --session-id " + tooltest.SomeID, "",
			rewrite.Passthrough, reason.CallerSession, "hi", rewrite.Text},
		{"-p hi --session-id mine --output-format json", "", rewrite.Observe, reason.CallerSession,
			"hi", rewrite.JSON},
		{"-p hi --resume=" + tooltest.SomeID + " --output-format stream-json", "", rewrite.Observe,
			reason.CallerSession, "hi", rewrite.StreamJSON},
		{"-p hi --no-session-persistence", "", rewrite.Passthrough, reason.OptedOut, "hi",
			rewrite.Text},
		{"-p hi", "CLAUDE_CODE_SKIP_PROMPT_HISTORY=1", rewrite.Passthrough, reason.OptedOut, "hi",
			rewrite.Text},
		{"-p hi", "CLAUDECODE=1", rewrite.Passthrough, reason.Nested, "hi", rewrite.Text},
		{"-p hi", rewrite.NestedEnv + "=claude:1", rewrite.Passthrough, reason.Nested, "hi",
			rewrite.Text},
		{"-p hi --bare", "", rewrite.Passthrough, reason.UnmanagedOption, "hi", rewrite.Text},
		{"-p hi --input-format stream-json --output-format stream-json", "", rewrite.Passthrough,
			reason.UnmanagedOption, "hi", rewrite.StreamJSON},
		{"-p hi --bogus", "", rewrite.Passthrough, reason.UnknownOption, "hi", rewrite.Text},
		{"--print=x hi", "", rewrite.Passthrough, reason.UnknownOption, "", rewrite.Text},
		{"-pc hi", "", rewrite.Passthrough, reason.UnknownOption, "", rewrite.Text},
		{"-p hi --model", "", rewrite.Passthrough, reason.BadUsage, "hi", rewrite.Text},
		{"-p hi --output-format xml", "", rewrite.Passthrough, reason.BadUsage, "hi", ""},
		{"-p hi --output-format json-verbose", "", rewrite.Passthrough, reason.BadUsage, "hi", ""},
		{"-p hi --include-partial-messages", "", rewrite.Passthrough, reason.BadUsage, "hi",
			rewrite.Text},
		{"-p hi there", "", rewrite.Passthrough, reason.BadUsage, "hi", rewrite.Text},
		{"-p /cost", "", rewrite.Passthrough, reason.SlashCommand, "/cost", rewrite.Text},
		{"-p _/compact", "", rewrite.Passthrough, reason.SlashCommand, " /compact", rewrite.Text},
	})
}

func TestClaudeAtATerminal(t *testing.T) {
	none := func(string) string { return "" }
	tests := []struct {
		args          string
		stdin, stdout bool
		want          reason.Code
	}{
		{"-p hi", true, false, ""},
		{"-p hi", false, true, ""},
		{"-p hi", true, true, ""},
		{"hi", true, false, reason.Interactive},
		{"hi", false, true, reason.Interactive},
		{"hi --output-format json", true, true, reason.Interactive},
		{"hi", false, false, ""},
		{"hi --output-format json", true, false, ""},
		// -p stands behind an option that cannot be read
		{"--bogus -p hello there my friend", true, true, reason.UnknownOption},
		{"--bogus hello", true, true, reason.Interactive},
		{"-p", true, false, reason.Interactive},
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

func TestClaudeSettings(t *testing.T) {
	same := [][2]string{
		{"-p hi --max-turns 3", "-p hi --max-turns 5 --output-format json --debug"},
		{"-p hi --tools A --effort low", "-p --effort low --tools A -- hi"},
		{"-p hi --allowedTools A", "-p hi --allowed-tools A"},
	}
	different := [][2]string{
		{"-p hi", "-p hi --append-system-prompt x"},
		{"-p hi --append-system-prompt Loop_1", "-p hi --append-system-prompt Loop_2"},
		{"-p hi --tools A B", "-p hi --tools A"},
		{"-p hi", "-p hi --permission-mode plan"},
	}
	equal := func(a, b string) bool { return slices.Equal(parse(a).Settings, parse(b).Settings) }
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
	if c := parse("-p hi --model a --model b", "ANTHROPIC_MODEL=c"); c.Model != "b" {
		t.Errorf("model is %q", c.Model)
	}
}

func TestClaudeSettles(t *testing.T) {
	tests := []struct {
		line, version string
		noResume      bool
	}{
		{"-p hi", "2.1.329", false},
		{"-p hi", "2.0.73", false},
		{"-p hi", "1.0.124", false},
		{"-p hi", "1.0.123", true},
		{"-p hi --output-format stream-json", "1.0.124", false},
		{"-p hi --output-format stream-json", "1.0.123", true},
		{"-p hi", "", false},
	}
	for _, tt := range tests {
		c := tool.ResolveWithEnv(parse(tt.line, "HOME=/h"), rewrite.HostEnv{Version: tt.version})
		if c.Mode != rewrite.Fresh || c.NoResume != tt.noResume {
			t.Errorf("%q, %s: %s %q, no resume %v", tt.line, tt.version, c.Mode, c.Reason,
				c.NoResume)
		}
	}
	for version, want := range map[string]int{"2.1.329": 0, "2.1.330": 1, "2.2.0": 1, "": 0} {
		c := tool.ResolveWithEnv(parse("-p hi", "HOME=/h"), rewrite.HostEnv{Version: version})
		if got := tool.Plan(c, rewrite.ToFresh("hi")).CannotWrite; got != want {
			t.Errorf("%q ends with %d if its answer cannot be written", version, got)
		}
	}
	// A setting that makes json an array of all events changes nothing: the array is read too.
	verbose := map[string]string{"/h/.claude/settings.json": `{"verbose":true}`}
	if c := tool.ResolveWithEnv(parse("-p hi --output-format json", "HOME=/h"),
		rewrite.HostEnv{Settings: files(verbose)}); c.Mode != rewrite.Fresh {
		t.Errorf("verbose in settings: %s %q", c.Mode, c.Reason)
	}
	own := tool.ResolveWithEnv(parse("-p hi", "HOME=/h"),
		rewrite.HostEnv{Settings: []rewrite.File{{Path: "/h/.claude.json", Text: "{}"}}})
	theirs := tool.ResolveWithEnv(parse("-p hi", "HOME=/h"),
		rewrite.HostEnv{Settings: []rewrite.File{{Path: "/h/.claude/settings.json", Text: "{}"}}})
	if len(own.Settings) != 0 || len(theirs.Settings) != 1 {
		t.Errorf("settings %+v and %+v", own.Settings, theirs.Settings)
	}
}

// A settings file is a setting once, also beside a skill that --setting-sources leaves out.
func TestSettingsBesideSkippedSkill(t *testing.T) {
	c := parse("-p hi --setting-sources project", "HOME=/h")
	host := rewrite.HostEnv{Version: "2.1.330", Settings: []rewrite.File{
		{Path: ".claude/settings.json", Text: `{"hooks":{"UserPromptSubmit":[{}]}}`}}}
	want := tool.ResolveWithEnv(c, host).Settings
	host.Hooks = []rewrite.File{{Path: "/h/.claude/skills/own/SKILL.md",
		Text: "hooks: {UserPromptSubmit: []}"}}
	if got := tool.ResolveWithEnv(c, host).Settings; !slices.EqualFunc(got, want,
		func(a, b rewrite.Setting) bool { return a.Name == b.Name && a.Value == b.Value }) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The options that a user can add depend on claude's version, and a caller's own choice stays.
func TestClaudeAsksForAnHour(t *testing.T) {
	const option = "--exclude-dynamic-system-prompt-sections"
	settings := map[string]string{
		"/h/.claude/settings.json": `{"env":{"FORCE_PROMPT_CACHING_5M":"1"}}`}
	for _, tt := range []struct {
		version, line string
		env           []string
		settings      map[string]string
		hour          string
	}{
		{version: "2.1.330", hour: "CLAUDE_CODE_PROMPT_CACHE_TTL=1h"},
		{version: "2.1.242", hour: "CLAUDE_CODE_PROMPT_CACHE_TTL=1h"},
		{version: "2.1.241", hour: "ENABLE_PROMPT_CACHING_1H=1"},
		{version: "2.1.197", line: " " + option, hour: "ENABLE_PROMPT_CACHING_1H=1"},
		{version: "2.1.107"},
		{version: "2.1.97"},
		{version: ""},
		{version: "2.1.330", env: []string{"DISABLE_PROMPT_CACHING=1"}},
		{version: "2.1.330", env: []string{"CLAUDE_CODE_PROMPT_CACHE_TTL=5m"}},
		{version: "2.1.330", settings: settings},
	} {
		c := tool.ResolveWithEnv(parse("-p hi"+tt.line, append(tt.env, "HOME=/h")...),
			rewrite.HostEnv{Version: tt.version, Settings: files(tt.settings)})
		if c.HourCache != tt.hour {
			t.Errorf("%+v: %q", tt, c.HourCache)
		}
		plan := tool.Plan(c, rewrite.ToFresh("hi"))
		if got := strings.Count(strings.Join(plan.Args, " "), option); got != count(tt.line != "") {
			t.Errorf("%+v: %q", tt, plan.Args)
		}
	}
}

func count(there bool) int {
	if there {
		return 1
	}
	return 0
}

// The file to follow is in the project's directory, or somewhere below projects if the name of that
// is not known.
func TestClaudeFollows(t *testing.T) {
	long := "/" + strings.Repeat("d", 199)
	for _, tt := range []struct {
		line string
		dirs []string
		want []rewrite.Follow
	}{
		{"-p hi", []string{"/work/My project.d", "/work"},
			[]rewrite.Follow{{Dir: "/h/.claude/projects/-work-My-project-d",
				Name: tooltest.ForeignID + ".jsonl", Root: "/h/.claude/projects", Lines: true}}},
		{"-p hi --output-format json", []string{"/w"},
			[]rewrite.Follow{{Dir: "/h/.claude/projects/-w", Name: tooltest.ForeignID + ".jsonl",
				Root: "/h/.claude/projects", Lines: true}}},
		{"-p hi", []string{long}, []rewrite.Follow{{
			Dir:  "/h/.claude/projects/" + rewrite.Dashed(long),
			Name: tooltest.ForeignID + ".jsonl", Root: "/h/.claude/projects", Lines: true}}},
		{"-p hi", []string{long + "d"}, []rewrite.Follow{
			{Dir: "/h/.claude/projects", Name: tooltest.ForeignID + ".jsonl", Lines: true}}},
		{"-p hi", nil, []rewrite.Follow{{Dir: "/h/.claude/projects",
			Name: tooltest.ForeignID + ".jsonl", Lines: true}}},
		{"-p hi --output-format stream-json", []string{"/w"}, nil},
	} {
		c := tool.ResolveWithEnv(parse(tt.line, "HOME=/h"),
			rewrite.HostEnv{Dirs: tt.dirs, Version: "2.1.330"})
		for _, target := range []rewrite.Target{rewrite.ToFresh("hi"),
			tooltest.To{ID: tooltest.SomeID, Copied: true, Prompt: "hi", Whole: true}.Target()} {
			plan := tool.Plan(c, tooltest.Beginning(target, tooltest.ForeignID))
			if !slices.Equal(plan.Follow, tt.want) ||
				(plan.NewID == tooltest.ForeignID) != (tt.want != nil) ||
				(plan.ID() == tooltest.ForeignID) != (tt.want != nil) {
				t.Errorf("%q in %.40q: %+v, id %q", tt.line, tt.dirs, plan.Follow, plan.ID())
			}
		}
	}
}

func TestClaudePlans(t *testing.T) {
	const r, n = "--resume " + tooltest.SomeID + " ", "--session-id " + tooltest.ForeignID + " "
	const copied = r + "--fork-session " + n
	tests := []struct{ line, fresh, resume string }{
		{"-p OLD", "-p " + n + "OLD", "-p " + r + "NEW WORDS"},
		{"-p OLD --verbose", "-p " + n + "OLD --verbose", "-p " + r + "NEW WORDS --verbose"},
		{"-p --tools A --output-format json OLD", "-p " + n + "--tools A --output-format json OLD",
			"-p " + r + "--tools A --output-format json NEW WORDS"},
		{"--tools A B -p OLD", "--tools A B " + n + "-p OLD", "--tools A B " + r + "-p NEW WORDS"},
		{"--model m OLD", "--model m " + n + "OLD", "--model m " + r + "NEW WORDS"},
		{"--output-format=text -p -- OLD", "--output-format=text " + n + "-p -- OLD",
			"--output-format=text " + r + "-p -- NEW WORDS"},
		{"-- OLD", n + "-- OLD", r + "-- NEW WORDS"},
		{"OLD -p --output-format text --tools A", "OLD " + n + "-p --output-format text --tools A",
			"NEW WORDS " + r + "-p --output-format text --tools A"},
		{"-p OLD --output-format stream-json --verbose",
			"-p OLD --output-format stream-json --verbose",
			"-p " + r + "NEW WORDS --output-format stream-json --verbose"},
	}
	for _, tt := range tests {
		c := parse(tt.line)
		begun := tooltest.Beginning(rewrite.ToFresh("OLD"), tooltest.ForeignID)
		if got := strings.Join(tool.Plan(c, begun).Args, " "); got != tt.fresh {
			t.Errorf("%q fresh: %q, want %q", tt.line, got, tt.fresh)
		}
		target := tooltest.To{ID: tooltest.SomeID, NewID: tooltest.ForeignID, Prompt: "NEW WORDS",
			Asked: c.Prompt}
		p := tool.Plan(c, target.Target())
		if got := strings.Join(p.Args, " "); got != tt.resume || p.ID() != tooltest.SomeID {
			t.Errorf("%q resumed: %q, want %q", tt.line, got, tt.resume)
		}
		target.Copied = true
		p = tool.Plan(c, target.Target())
		want := strings.Replace(tt.resume, r, copied, 1)
		if c.Format == rewrite.StreamJSON {
			want = strings.Replace(tt.resume, r, r+"--fork-session ", 1)
		}
		if got := strings.Join(p.Args, " "); got != want || p.Resume != tooltest.SomeID {
			t.Errorf("%q resumed in a copy: %q, want %q", tt.line, got, want)
		}
	}
}

// The caller's ID of a new session is the ID of the copy, too.
func TestClaudePlansAChosenID(t *testing.T) {
	const chosen = "22222222-2222-4222-8222-222222222222"
	for _, format := range []string{"", " --output-format json",
		" --output-format stream-json --verbose"} {
		line := "-p --session-id " + chosen + format + " OLD"
		c := tool.ResolveWithEnv(parse(line, "HOME=/h"),
			rewrite.HostEnv{Dirs: []string{"/w"}, Version: "2.1.330"})
		fresh := tool.Plan(c, tooltest.Beginning(rewrite.ToFresh("OLD"), tooltest.ForeignID))
		if got := strings.Join(fresh.Args, " "); got != line || fresh.ID() != chosen {
			t.Errorf("fresh: %q, ID %s", got, fresh.ID())
		}
		target := tooltest.To{ID: tooltest.SomeID, NewID: tooltest.ForeignID, Copied: true,
			Prompt: "NEW WORDS", Asked: c.Prompt}
		p := tool.Plan(c, target.Target())
		want := "-p --resume " + tooltest.SomeID + " --fork-session --session-id " + chosen +
			format + " NEW WORDS"
		if got := strings.ReplaceAll(strings.Join(p.Args, " "), "  ", " "); !sameWords(got, want) ||
			p.ID() != chosen {
			t.Errorf("resumed: %q, want %q, ID %s", got, want, p.ID())
		}
		if format != " --output-format stream-json --verbose" &&
			(len(p.Follow) != 1 || p.Follow[0].Name != chosen+".jsonl") {
			t.Errorf("follows %+v", p.Follow)
		}
	}
}

func sameWords(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// A prompt on stdin stays there; a prompt in argv does too, unless claude would not read it as a
// prompt there.
func TestClaudePlansStdin(t *testing.T) {
	long := strings.Repeat("x ", base.LongestArg)
	tests := []struct {
		line, prompt, asked, args, stdin string
		hasStdin                         bool
	}{
		{"-p", "NEW", "DATA", "-p R", "NEW", true},
		{"-p OLD", "NEW WORDS", "OLD", "-p R NEW WORDS", "", true}, // nothing stood on stdin
		{"-p OLD", "NEW WORDS", "OLD\nDATA", "-p R", "NEW WORDS", true},
		{"-p OLD", "NEW\x00WORDS", "OLD\nDA\x00TA", "-p R", "NEW\x00WORDS", true},
		{"-p OLD", "OLD\nDATA", "", "-p R OLD", "", false}, // whole: as the caller sent it
		{"-p OLD", "OLD", "", "-p R OLD", "", false},
		{"-p OLD --verbose", long, "OLD", "-p R --verbose", long, true},
		{"-p OLD", "-x y", "OLD", "-p R", "-x y", true},
		{"OLD", "update", "OLD", "R", "update", true},
		{"OLD", "never-seen", "OLD", "R", "never-seen", true},
	}
	for _, tt := range tests {
		c := parse(tt.line + " --output-format stream-json")
		p := tool.Plan(c, tooltest.To{ID: tooltest.SomeID, Prompt: tt.prompt, Asked: tt.asked,
			Whole: tt.asked == ""}.Target())
		args := strings.Join(p.Args, " ")
		want := strings.Replace(tt.args, "R", "--resume "+tooltest.SomeID, 1) +
			" --output-format stream-json"
		if args != want || p.HasStdin != tt.hasStdin || p.Stdin != tt.stdin {
			t.Errorf("%q: %.80q, stdin %v %.20q; want %.80q", tt.line, args, p.HasStdin, p.Stdin,
				want)
		}
	}
}

func TestClaudeComposes(t *testing.T) {
	tests := []struct{ line, stdin, want string }{
		{"-p", "data\n", "data\n"},
		{"-p hi", "data\n", "hi\ndata\n"},
		{"-p hi", "", "hi"},
	}
	for _, tt := range tests {
		if got := tool.EffectivePrompt(parse(tt.line), tt.stdin); got != tt.want {
			t.Errorf("%q with %q: %q, want %q", tt.line, tt.stdin, got, tt.want)
		}
	}
}

// recording reads the output of a real run.
func recording(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../testdata/recordings/claude", name, "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestClaudeSees(t *testing.T) {
	const asked = "2c6cd948-06ab-4fd7-8b35-e8471cf5c3db"
	tests := []struct {
		recording, resume             string
		content, final, failed, wrong bool
		refusal                       reason.Code
	}{
		{"fresh-stream", "", true, true, false, false, ""},
		{"fresh-partial", "", true, true, false, false, ""},
		{"resume-ok-stream", asked, true, true, false, false, ""},
		{"resume-fork-stream", asked, false, true, false, true, ""},
		{"resume-unknown-stream", tooltest.SomeID, false, false, true, false,
			reason.RefusedUnknown},
		{"toobig-resume-stream", "91dd0e6d-fb7c-4bc5-b59a-c9403de12cc2", false, true, true, false,
			reason.RefusedContext},
		{"badtool-stream", "", false, true, true, false, reason.RefusedBroken},
		{"http429-stream", "", false, true, true, false, ""},
		{"http500-stream", "", false, true, true, false, ""},
		{"maxturns-stream", "", true, true, true, false, ""},
	}
	for _, tt := range tests {
		s := tool.Stream(parse("-p x --output-format stream-json"), rewrite.Plan{Resume: tt.resume},
			"")
		for l := range bytes.Lines(recording(t, tt.recording)) {
			s.Line(l)
		}
		got := s.Seen()
		if got.TurnLimit != (tt.recording == "maxturns-stream") {
			t.Errorf("%s: stopped at its turns: %v", tt.recording, got.TurnLimit)
		}
		if got.Content != tt.content || got.Final != tt.final || got.Failed != tt.failed ||
			got.WrongID != tt.wrong ||
			got.Refusal != tt.refusal {
			t.Errorf("%s: content %v, final %v, failed %v, wrong id %v, refusal %q", tt.recording,
				got.Content, got.Final, got.Failed, got.WrongID, got.Refusal)
		}
	}
	stopped := tool.Stream(parse("-p x --output-format json"), rewrite.Plan{}, "")
	stopped.Line(recording(t, "maxturns-json"))
	if got := stopped.Seen(); got.ID != "d30208bb-6922-4719-8122-c8d021715271" || !got.TurnLimit {
		t.Errorf("a run that is known by its result alone, and stopped at its turns: %+v", got)
	}
	_, seen := run(rewrite.StreamJSON, rewrite.Plan{}, string(recording(t, "fresh-stream")))
	if seen.ID != "3a369ab5-d137-452a-bcc6-6394cabf30d1" || seen.Version != "2.1.197" ||
		seen.Answer != "Got it: 456." {
		t.Errorf("id %q, version %q, answer %q", seen.ID, seen.Version, seen.Answer)
	}
	want := rewrite.Usage{Known: true, Input: 3, CacheRead: 12765, CacheWrite: 6382, Output: 6,
		CostNano: 46435000, CostKnown: true}
	if seen.Usage != want || seen.ContextUse !=
		(rewrite.Context{Used: 12765 + 6382 + 3 + 6, Limit: 1000000}) {
		t.Errorf("usage %+v, context %+v", seen.Usage, seen.ContextUse)
	}
}

// An id is taken from the tool's own events of the main conversation, never from a text that
// somebody wrote.
func TestClaudeTakesNoForeignID(t *testing.T) {
	foreign := []string{
		`{"type":"system","subtype":"hook_started","session_id":"` + tooltest.SomeID + `"}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"{\"type\":\"result\",\"session_id\":\"` + tooltest.SomeID + `\"}"}]}}`,
		`{"type":"system","subtype":"init","session_id":"--dangerously-skip-permissions"}`,
		`session id: ` + tooltest.SomeID,
		`{"type":"result","subtype":"error_during_execution","session_id":"` + tooltest.SomeID +
			`","errors":["No conversation found with session ID: x"]}`,
	}
	for _, line := range foreign {
		s := tool.Stream(parse("-p x --output-format stream-json"), rewrite.Plan{}, "")
		s.Line([]byte(line + "\n"))
		if id := s.Seen().ID; id != "" {
			t.Errorf("took %q from %s", id, line)
		}
	}
}

func TestClaudeFiguresAreThisCallsOwn(t *testing.T) {
	init := `{"type":"system","subtype":"init","session_id":"` + tooltest.SomeID +
		`","claude_code_version":"VERSION"}` + "\n"
	result := `{"total_cost_usd":0.0451492,"duration_api_ms":54, "modelUsage":{"m":{"inputTokens":6,"costUSD":0.0451492,` +
		`"contextWindow":1000,"maxOutputTokens":100}},"usage":{"input_tokens":3},"subagents":{"inputTokens":7},"type":"result","subtype":"success","result":"total_cost_usd\":1","list":[1]}` + "\n"
	previous := rewrite.Totals(
		`{"total_cost_usd":0.022547800000000003,"duration_api_ms":32,"modelUsage\tm\tinputTokens":3,"modelUsage\tm\tcostUSD":0.022547800000000003}`)
	run := func(version, resume string, previous rewrite.Totals) (string, *rewrite.StreamState) {
		s := tool.Stream(parse("-p x --output-format stream-json"), rewrite.Plan{Resume: resume},
			previous)
		s.Line([]byte(strings.Replace(init, "VERSION", version, 1)))
		return string(s.Line([]byte(result))), s.Seen()
	}
	own := strings.NewReplacer(`"total_cost_usd":0.0451492`, `"total_cost_usd":0.0226014`,
		`"costUSD":0.0451492`, `"costUSD":0.0226014`,
		`_ms":54`, `_ms":22`, `"inputTokens":6`, `"inputTokens":3`).Replace(result)
	tests := []struct {
		version, resume string
		previous        rewrite.Totals
		want            string
	}{
		{"2.1.329", tooltest.SomeID, previous, own},
		{"2.1.329", "", previous, result},
		{"2.1.277", tooltest.SomeID, previous, own},
		{"2.1.276", tooltest.SomeID, previous, result}, // not cumulative yet
		{"2.1.329", tooltest.SomeID, "", result},
		// not a running total after all
		{"2.1.329", tooltest.SomeID, `{"total_cost_usd":9}`, result},
		// no room for 4 besides the run's 3
		{"2.1.407", tooltest.SomeID, `{"total_cost_usd":0.01,"modelUsage\tm\tinputTokens":4}`,
			result},
	}
	for _, tt := range tests {
		got, seen := run(tt.version, tt.resume, tt.previous)
		if got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.version, got, tt.want)
		}
		if tt.want == own && (seen.Usage.CostNano != 22601400 || seen.Usage.Input != 3) {
			t.Errorf("usage %+v", seen.Usage)
		}
	}
	want := rewrite.Totals(
		`{"duration_api_ms":54,"modelUsage\tm\tcostUSD":0.0451492,"modelUsage\tm\tinputTokens":6,"total_cost_usd":0.0451492}`)
	if _, seen := run("2.1.329", tooltest.SomeID, previous); seen.Totals != want {
		t.Errorf("totals %s, want %s", seen.Totals, want)
	}
	// A result that states its own part proves more, and needs no event before it.
	for part, want := range map[string]string{"6": result, "3": own} {
		part := strings.NewReplacer(`"type":"result"`,
			`"type":"result","model_usage_since_last_result":{"m":{"inputTokens":`+part+`}}`)
		s := tool.Stream(parse("-p x --output-format stream-json"),
			rewrite.Plan{Resume: tooltest.SomeID}, previous)
		if got := string(s.Line([]byte(part.Replace(result)))); got != part.Replace(want) {
			t.Errorf("%s\nwant %s", got, part.Replace(want))
		}
	}
	// A model that only earlier runs used is not listed, as in a call that the provider refuses.
	const m, n, o = `"m":{"inputTokens":3,"costUSD":1}`, `"n":{"inputTokens":2}`,
		`"o":{"inputTokens":0}`
	for all, want := range map[string]string{
		m: ``, m + "," + n: n, n + "," + m: n, o + "," + m + "," + n: o + "," + n,
		strings.Replace(m, "1", "2", 1): strings.Replace(m, "3", "0", 1),
	} {
		line := func(usage string) string {
			return `{"type":"result","modelUsage":{` + usage +
				`},"result":"\"modelUsage\":{}"}` + "\n"
		}
		s := tool.Stream(parse("-p x --output-format stream-json"),
			rewrite.Plan{Resume: tooltest.SomeID},
			`{"modelUsage\tm\tinputTokens":3,"modelUsage\tm\tcostUSD":1}`)
		s.Line([]byte(strings.Replace(init, "VERSION", "2.1.332", 1)))
		if got := string(s.Line([]byte(line(all)))); got != line(want) {
			t.Errorf("%s\nwant %s", got, line(want))
		}
	}
	// The time of a prompt that a hook blocked is 0, and no running total as the other figures are.
	blocked := func(cost, usage string) string {
		return `{"type":"result","duration_api_ms":0,"usage":{"input_tokens":0},` +
			`"total_cost_usd":` + cost + `,"modelUsage":{` + usage + "}}\n"
	}
	for _, format := range []string{"stream-json", "json"} {
		s := tool.Stream(parse("-p x --output-format "+format),
			rewrite.Plan{Resume: tooltest.SomeID},
			`{"total_cost_usd":0.5,"duration_api_ms":467,"modelUsage\tm\tinputTokens":3}`)
		s.(*stream).State.Version = "2.1.332"
		got := string(s.Line([]byte(blocked("0.5", `"m":{"inputTokens":3}`)))) + string(s.End())
		if got != blocked("0", "") {
			t.Errorf("%s: %s", format, got)
		}
	}
	// Each result says all that the run took so far, and a figure that cannot be read is none.
	s := tool.Stream(parse("-p x --output-format stream-json"), rewrite.Plan{}, "")
	s.Line([]byte(result))
	s.Line([]byte(result))
	if u := s.Seen().Usage; u.Input != 6 || u.CostNano != 45_149_200 {
		t.Errorf("of two results: %+v", u)
	}
	s.Line([]byte(strings.ReplaceAll(strings.Replace(result, `"inputTokens":6`,
		`"inputTokens":1e300`, 1), "0.0451492", "1e300")))
	if u := s.Seen().Usage; u.Known || u.CostKnown {
		t.Errorf("of figures that cannot be read: %+v", u)
	}
}

// Of a model that it does not know claude guesses the price. The caller sees the guess, nobody
// counts it.
func TestClaudeGuessedCost(t *testing.T) {
	init := `{"type":"system","subtype":"init","session_id":"` + tooltest.SomeID +
		`","claude_code_version":"2.1.329","model":"glm-5.1"}` + "\n"
	guess := `"glm-5.1":{"inputTokens":300,"outputTokens":20,"costUSD":0.02,"contextWindow":1000000,"costBasis":"unknown"}`
	known := `"claude-haiku-4-5":{"inputTokens":10,"outputTokens":5,"costUSD":0.01,"contextWindow":200000,"costBasis":"list"}`
	result := func(total, models string) string {
		return `{"type":"result","subtype":"success","total_cost_usd":` + total +
			`,"modelUsage":{` + models + `},"result":"ok"}` + "\n"
	}
	before := rewrite.Totals(
		`{"total_cost_usd":0.02,"modelUsage\tglm-5.1\tinputTokens":300,"modelUsage\tglm-5.1\toutputTokens":20,"modelUsage\tglm-5.1\tcostUSD":0.02}`)
	for name, c := range map[string]struct {
		result   string
		previous rewrite.Totals
		shown    string
		cost     int64
		counts   bool
	}{
		"known":   {result("0.01", known), "", "0.01", 10_000_000, true},
		"guessed": {result("0.02", guess), "", "0.02", 0, false},
		"free of charge, as far as known": {result("0", strings.Replace(guess, "0.02", "0", 1)), "",
			"0", 0, false},
		"one of two guessed": {result("0.03", known+","+guess), "", "0.03", 0, false},
		"guessed in an earlier run": {result("0.03", known+","+guess), before, "0.01",
			10_000_000, true},
		"guessed again": {
			result("0.04", strings.NewReplacer("300", "400", "0.02", "0.04").Replace(guess)),
			before, "0.02", 0, false},
	} {
		plan := rewrite.Plan{}
		if c.previous != "" {
			plan.Resume = tooltest.SomeID
		}
		s := tool.Stream(parse("-p x --output-format stream-json"), plan, c.previous)
		s.Line([]byte(init))
		if out := string(s.Line([]byte(c.result))); !strings.Contains(out,
			`"total_cost_usd":`+c.shown+`,`) ||
			(name != "guessed in an earlier run" && strings.Contains(c.result, "unknown")) !=
				strings.Contains(out, "unknown") {
			t.Errorf("%s: the caller sees %s", name, out)
		}
		if u := s.Seen().Usage; u.CostKnown != c.counts || u.CostNano != c.cost || !u.Known ||
			u.Input == 0 {
			t.Errorf("%s: %+v", name, u)
		}
	}
}

func TestClaudeHelp(t *testing.T) {
	help, err := os.ReadFile("../../../testdata/help/claude-2.1.329.txt")
	if err != nil {
		t.Fatal(err)
	}
	probe := tool.Options(string(help))
	if !probe.Known || !probe.Resume {
		t.Fatalf("probe known %v, resume %v", probe.Known, probe.Resume)
	}
	for _, o := range probe.Options {
		for _, name := range o.Names {
			known, ok := options.Find(name)
			if !ok || known.Arity != o.Arity {
				t.Errorf("%s: the grammar has it: %v, with arity %v; --help says %v", name, ok,
					known.Arity, o.Arity)
			}
		}
	}
	if len(probe.Options) < 60 {
		t.Errorf("read only %d options", len(probe.Options))
	}
	learned := tool.Parse(rewrite.Input{Args: []string{"-p", "--new", "v", "hi"},
		Env: func(string) string { return "" },
		Learned: rewrite.Probe{Known: true,
			Options: []rewrite.Option{{Names: []string{"--new"}, Arity: rewrite.OneValue}}}})
	if learned.Mode != rewrite.Fresh || learned.Prompt != "hi" || len(learned.Settings) != 1 {
		t.Errorf("a learned option is read as %+v", learned)
	}
}

func TestParseConversation(t *testing.T) {
	const stream = "--input-format stream-json --output-format stream-json --verbose "
	tests := []struct {
		args   string
		mode   rewrite.Mode
		reason reason.Code
	}{
		{stream, rewrite.Fresh, ""},
		{stream + "-p", rewrite.Fresh, ""},
		{stream + "--permission-prompt-tool=stdio --replay-user-messages " +
			"--include-partial-messages", rewrite.Fresh, ""},
		{stream + "--thinking adaptive --task-budget 100 --debug-to-stderr", rewrite.Fresh, ""},
		{stream + "--resume x", rewrite.Observe, reason.CallerSession},
		{stream + "--continue", rewrite.Observe, reason.CallerSession},
		{stream + "--session-id=x", rewrite.Observe, reason.CallerSession},
		{stream + "--session-id " + tooltest.SomeID, rewrite.Fresh, ""},
		{stream + "--resume x --session-id " + tooltest.SomeID, rewrite.Observe,
			reason.CallerSession},
		{stream + "--no-session-persistence", rewrite.Passthrough, reason.OptedOut},
		{stream + "--session-mirror", rewrite.Passthrough, reason.UnknownOption},
		{stream + "hi", rewrite.Passthrough, reason.UnmanagedOption},
		{"-p --input-format stream-json", rewrite.Passthrough, reason.BadUsage},
		{"-p --input-format xml hi", rewrite.Passthrough, reason.BadUsage},
	}
	for _, tt := range tests {
		call := tool.Parse(rewrite.Input{Args: strings.Fields(tt.args),
			Env: func(string) string { return "" }})
		if call.Mode != tt.mode || call.Reason != tt.reason ||
			call.Mode == rewrite.Fresh && call.Stdin != rewrite.StdinFrames {
			t.Errorf("%s: %s %s, stdin %d", tt.args, call.Mode, call.Reason, call.Stdin)
		}
		if call.KeepPrompt != strings.Contains(tt.args, "--replay-user-messages") {
			t.Errorf("%s: the prompt is kept: %v", tt.args, call.KeepPrompt)
		}
	}
}

func TestClaudeReadsItsState(t *testing.T) {
	const state = `{
  "numStartups": 7, "mcpServers": {"crm": {"command": "crm", "args": ["--tenant", "a"]}},
  "projects": {"/other": {"mcpServers": {"x": {}}}, "/p": {"lastCost": 1.5, "allowedTools": [], "mcpServers": {"y": {"url": "u\"}"}},
    "enabledMcpjsonServers": []}},
  "oauthAccount": {"emailAddress": "e", "accountUuid": "A", "organizationUuid": "O"}
}`
	settings := func(state, credentials string) []rewrite.Setting {
		c := parse("-p hi", "HOME=/h")
		states := map[string]string{"/h/.claude.json": state,
			"/h/.claude/.credentials.json": credentials}
		return tool.ResolveWithEnv(c, rewrite.HostEnv{Settings: files(states),
			Dirs: []string{"/p", "/q"}}).Settings
	}
	want := []rewrite.Setting{
		{Name: "~/.claude.json mcpServers",
			Value: `{"crm":{"command":"crm","args":["--tenant","a"]}}`},
		{Name: "~/.claude.json mcpServers", Value: `{"y":{"url":"u\"}"}}`},
		{Name: "~/.claude.json oauthAccount", Value: `"A""O"`, Guard: reason.AuthChanged},
	}
	if got := settings(state, ""); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// The values that claude writes there at each start, and a token that it refreshes, change
	// nothing.
	rewritten := strings.ReplaceAll(strings.Replace(state, `"numStartups": 7`,
		`"numStartups":8,"projectsX":{}`, 1), "\n", "")
	if !slices.Equal(settings(rewritten, ""), want) {
		t.Errorf("%v after a start, want %v", settings(rewritten, ""), want)
	}
	login := func(token string) string {
		return `{"claudeAiOauth": {"accessToken": "` + token + `"}}`
	}
	if !slices.Equal(settings(state, login("1")), settings(state, login("2"))) {
		t.Error("a refreshed token counts although the account is known")
	}
	if slices.Equal(settings("", login("1")), settings("", login("2"))) {
		t.Error("another token does not count although nothing tells the account")
	}
	if slices.Equal(settings("", login("1")), settings("", "")) {
		t.Error("a login does not count")
	}
	for _, broken := range []string{"", "null", "[]", "{", `{"mcpServers"`, `{"mcpServers":`,
		`{"mcpServers":{`, `{"oauthAccount":"x"}`, `{"a":}}`} {
		_ = settings(broken, broken)
	}
}

// A version that would resume in a smaller variant of its default model is asked for the default
// model.
func TestClaudeResumesWithItsModel(t *testing.T) {
	settings := func(text string) map[string]string {
		return map[string]string{"/h/.claude/settings.json": text}
	}
	for _, tt := range []struct {
		line, env, version string
		settings           map[string]string
		want               bool
	}{
		{"-p hi", "", "2.1.197", nil, true},
		{"-p hi --output-format stream-json", "", "2.1.197", nil, true},
		{"-p hi", "", "2.0.73", nil, true},
		{"-p hi", "", "2.0.72", nil, true},
		{"-p hi", "", "2.1.270", nil, true},
		{"-p hi", "", "2.1.271", nil, false},
		{"-p hi", "", "", nil, false},
		{"-p hi", "", "2.1.197", settings(`{"permissions":{}}`), true},
		{"-p hi", "", "2.1.197", settings(`{"model":"opus"}`), false},
		{`-p hi --settings {"model":"opus"}`, "", "2.1.197", nil, false},
		{"-p hi --agent a", "", "2.1.197", nil, false},
		{"-p hi --agents {}", "", "2.1.197", nil, false},
		{"-p hi --model opus", "", "2.1.197", nil, false},
		{"-p hi", "ANTHROPIC_MODEL=opus", "2.1.197", nil, false},
	} {
		env := []string{"HOME=/h"}
		if tt.env != "" {
			env = append(env, tt.env)
		}
		c := tool.ResolveWithEnv(parse(tt.line, env...),
			rewrite.HostEnv{Version: tt.version, Settings: files(tt.settings)})
		for _, resumes := range []bool{true, false} {
			target := rewrite.ToFresh("hi")
			if resumes {
				target = tooltest.To{ID: tooltest.SomeID, Prompt: "hi", Whole: true}.Target()
			}
			args := strings.Join(tool.Plan(c, target).Args, " ")
			if got := strings.Contains(args, " --model default "); got != (tt.want && resumes) {
				t.Errorf("%q, %s, %s, %v: %q", tt.line, tt.env, tt.version, tt.settings, args)
			}
		}
	}
}

// files returns files by their paths, with their texts.
func files(texts map[string]string) (all []rewrite.File) {
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		all = append(all, rewrite.File{Path: path, Text: texts[path]})
	}
	return all
}
