package codex

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/grammar"
	"reprise/test/tooltest"
)

// parseCodex reads a command line written as words; underscores stand for spaces.
func parseCodex(line string, env ...string) rewrite.CommandLine {
	return tool.Parse(tooltest.Invocation(line, env...))
}

func TestCodexReads(t *testing.T) {
	tests := []struct {
		line, env string
		mode      rewrite.Mode
		reason    reason.Code
		prompt    string
		format    rewrite.Format
		stdin     rewrite.StdinUse
	}{
		{"exec hi", "", rewrite.Fresh, "", "hi", rewrite.Text, rewrite.StdinAppended},
		{"e hi", "", rewrite.Fresh, "", "hi", rewrite.Text, rewrite.StdinAppended},
		{"exec", "", rewrite.Fresh, "", "", rewrite.Text, rewrite.StdinPrompt},
		{"exec -", "", rewrite.Fresh, "", "-", rewrite.Text, rewrite.StdinPrompt},
		{"exec -- -", "", rewrite.Fresh, "", "-", rewrite.Text, rewrite.StdinPrompt},
		{"exec hi --json", "", rewrite.Fresh, "", "hi", rewrite.StreamJSON, rewrite.StdinAppended},
		{"exec --experimental-json hi", "", rewrite.Fresh, "", "hi", rewrite.StreamJSON,
			rewrite.StdinAppended},
		{"-m x -a never exec -s read-only hi -C d", "", rewrite.Fresh, "", "hi", rewrite.Text,
			rewrite.StdinAppended},
		{"exec -mx -cK=V --sandbox=read-only hi", "", rewrite.Fresh, "", "hi", rewrite.Text,
			rewrite.StdinAppended},
		{"exec -c=K=V hi --config L=W", "", rewrite.Fresh, "", "hi", rewrite.Text,
			rewrite.StdinAppended},
		// swallowed
		{"exec -i a.png hi", "", rewrite.Fresh, "", "", rewrite.Text, rewrite.StdinPrompt},
		{"exec -i a.png resume", "", rewrite.Fresh, "", "", rewrite.Text, rewrite.StdinPrompt},
		{"exec -i a.png -- hi", "", rewrite.Fresh, "", "hi", rewrite.Text, rewrite.StdinAppended},
		{"exec -i a.png -m x hi", "", rewrite.Fresh, "", "hi", rewrite.Text, rewrite.StdinAppended},
		{"exec --image=a.png hi", "", rewrite.Fresh, "", "hi", rewrite.Text, rewrite.StdinAppended},
		{"exec -ia.png hi", "", rewrite.Fresh, "", "hi", rewrite.Text, rewrite.StdinAppended},
		{"-i a.png -m x exec hi", "", rewrite.Fresh, "", "hi", rewrite.Text, rewrite.StdinAppended},
		{"exec resume_this_work", "", rewrite.Fresh, "", "resume this work", rewrite.Text,
			rewrite.StdinAppended},
		{"exec -- resume", "", rewrite.Fresh, "", "resume", rewrite.Text, rewrite.StdinAppended},
		{"exec -- --json", "", rewrite.Fresh, "", "--json", rewrite.Text, rewrite.StdinAppended},
		// codex has no slash commands here
		{"exec /status", "", rewrite.Fresh, "", "/status", rewrite.Text, rewrite.StdinAppended},
		{"exec --add-dir x hi", "", rewrite.Fresh, "", "hi", rewrite.Text, rewrite.StdinAppended},
		{"exec -m - hi", "", rewrite.Fresh, "", "hi", rewrite.Text, rewrite.StdinAppended},

		{"", "", rewrite.Passthrough, reason.Interactive, "", rewrite.Text, 0},
		// swallowed
		{"-i a.png exec hi", "", rewrite.Passthrough, reason.Interactive, "", rewrite.Text, 0},
		{"hi", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text, 0},
		{"hi exec there", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text, 0},
		{"login", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text, 0},
		{"mcp list", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text, 0},
		{"app-server", "", rewrite.Passthrough, reason.AppServer, "", rewrite.Text, 0},
		{"-c a=b app-server --listen stdio://", "", rewrite.Passthrough, reason.AppServer, "",
			rewrite.Text, 0},
		{"exec-server", "", rewrite.Passthrough, reason.AppServer, "", rewrite.Text, 0},
		{"app-server generate-ts --out d", "", rewrite.Passthrough, reason.NotManaged, "",
			rewrite.Text, 0},
		{"app-server --help", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text, 0},
		{"app-server daemon start", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text,
			0},
		{"-- exec hi", "", rewrite.Passthrough, reason.Interactive, "", rewrite.Text, 0},
		{"--version", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text, 0},
		{"exec --help", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text, 0},
		{"exec -Vh", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text, 0},
		{"exec help", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text, 0},
		{"exec review", "", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text, 0},
		{"exec resume " + tooltest.SomeID + " hi", "", rewrite.Passthrough, reason.CallerSession,
			"", rewrite.Text, 0},
		{"exec hi resume", "", rewrite.Passthrough, reason.CallerSession, "hi", rewrite.Text, 0},
		{"exec --json resume " + tooltest.SomeID + " hi", "", rewrite.Observe, reason.CallerSession,
			"", rewrite.StreamJSON, 0},
		{"exec resume --last --json -", "", rewrite.Observe, reason.CallerSession, "",
			rewrite.StreamJSON, 0},
		{"exec fork " + tooltest.SomeID + " hi --json", "", rewrite.Observe, reason.CallerSession,
			"", rewrite.StreamJSON, 0},
		{"exec --ephemeral hi", "", rewrite.Passthrough, reason.OptedOut, "hi", rewrite.Text, 0},
		{"exec --ephemeral --json resume " + tooltest.SomeID + " hi", "", rewrite.Passthrough,
			reason.OptedOut, "", rewrite.StreamJSON, 0},
		{"exec --last hi", "", rewrite.Passthrough, reason.BadUsage, "hi", rewrite.Text, 0},
		{"exec --worktree hi", "", rewrite.Passthrough, reason.UnmanagedOption, "hi", rewrite.Text,
			0},
		{"--remote x exec hi", "", rewrite.Passthrough, reason.UnmanagedOption, "hi", rewrite.Text,
			0},
		{"exec hi --bogus", "", rewrite.Passthrough, reason.UnknownOption, "", rewrite.Text, 0},
		{"exec hi -a never", "", rewrite.Passthrough, reason.UnknownOption, "", rewrite.Text, 0},
		{"--json exec hi", "", rewrite.Passthrough, reason.UnknownOption, "", rewrite.StreamJSON,
			0},
		{"exec hi there", "", rewrite.Passthrough, reason.BadUsage, "hi", rewrite.Text, 0},
		{"exec hi -m", "", rewrite.Passthrough, reason.BadUsage, "hi", rewrite.Text, 0},
		{"exec -m -x hi", "", rewrite.Passthrough, reason.BadUsage, "", rewrite.Text, 0},
		{"exec --json=1 hi", "", rewrite.Passthrough, reason.BadUsage, "", rewrite.Text, 0},
		{"exec hi", "CODEX_THREAD_ID=x", rewrite.Passthrough, reason.Nested, "hi", rewrite.Text, 0},
		{"exec hi", "CODEX_SANDBOX=x", rewrite.Passthrough, reason.Nested, "hi", rewrite.Text, 0},
		{"exec hi", rewrite.NestedEnv + "=codex:1", rewrite.Passthrough, reason.Nested, "hi",
			rewrite.Text, 0},
	}
	for _, tt := range tests {
		c := parseCodex(tt.line, tt.env)
		if (c.Reason == reason.UnmanagedOption) != (c.Unmanaged != "") {
			t.Errorf("%q: %s, because of %q", tt.line, c.Reason, c.Unmanaged)
		}
		if c.Mode != tt.mode || c.Reason != tt.reason {
			t.Errorf("%q: %s %q, want %s %q", tt.line, c.Mode, c.Reason, tt.mode, tt.reason)
		}
		if c.Mode == rewrite.Fresh && (c.Prompt != tt.prompt || c.Stdin != tt.stdin) ||
			c.Mode != rewrite.Passthrough && c.Format != tt.format {
			t.Errorf("%q: prompt %q, stdin %d, format %s", tt.line, c.Prompt, c.Stdin, c.Format)
		}
	}
}

func TestCodexAtATerminal(t *testing.T) {
	tests := []struct {
		line          string
		stdin, stdout bool
		want          reason.Code
	}{
		{"exec hi", true, false, ""},
		{"exec hi", false, true, ""},
		{"exec hi", true, true, ""},
		{"exec", true, false, reason.Interactive},
		{"exec -", true, false, reason.Interactive},
		{"hi", true, false, reason.Interactive},
	}
	for _, tt := range tests {
		in := tooltest.Invocation(tt.line)
		in.StdinTTY, in.StdoutTTY = tt.stdin, tt.stdout
		if c := tool.Parse(in); c.Reason != tt.want {
			t.Errorf("%q, terminals %v %v: %q, want %q", tt.line, tt.stdin, tt.stdout, c.Reason,
				tt.want)
		}
	}
}

func TestCodexSettings(t *testing.T) {
	tests := []struct {
		a, b string
		same bool
	}{
		{"exec hi", "e --json --color never -o f --skip-git-repo-check there", true},
		{"exec -s read-only hi", "exec hi --sandbox=read-only", true},
		{"exec -m a hi", "exec -c model=b hi", true}, // the model is judged apart
		{"exec -i a,b -- hi", "exec --image a b -- hi", true},
		{"-s read-only exec hi", "exec -s read-only hi", true},
		{"exec hi", "exec -s read-only hi", false},
		{"exec hi", "-a never exec hi", false},
		{"exec hi -c a=1 -c b=2", "exec hi -c b=2 -c a=1", false},
		{"exec hi", "exec hi -c a=1", false},
		{"exec hi", "exec hi --yolo", false},
		{"exec hi", "exec hi --output-schema f", false},
		{"exec hi", "exec hi --image=a.png", false},
		{"exec hi", "exec hi -p work", false},
		{"exec hi", "exec hi --ignore-user-config", false},
	}
	for _, tt := range tests {
		if same := slices.Equal(parseCodex(tt.a).Settings, parseCodex(tt.b).Settings); same !=
			tt.same {
			t.Errorf("%q and %q: same settings %v, want %v", tt.a, tt.b, same, tt.same)
		}
	}
	c := parseCodex("-m a exec -C d --output-schema f -p work hi", "CODEX_HOME=/h")
	if c.Model != "a" || c.Dir != "d" || c.Home != "/h" {
		t.Errorf("model %q, dir %q, home %q", c.Model, c.Dir, c.Home)
	}
	for _, want := range []rewrite.Setting{
		{Name: "config.toml",
			Value: "/h/config.toml\x00/h/work.config.toml\x00d/.codex/config.toml", File: true},
		{Name: "--output-schema", Value: "f", File: true},
	} {
		if !slices.Contains(c.Settings, want) {
			t.Errorf("settings %v lack %v", c.Settings, want)
		}
	}
	named := tool.Parse(rewrite.Input{
		Args: []string{"exec", "-c", `model_instructions_file="x.md"`, "hi"},
		Env:  func(string) string { return "" }})
	if want := (rewrite.Setting{Name: "--config model_instructions_file", Value: "x.md",
		File: true}); !slices.Contains(named.Settings, want) {
		t.Errorf("settings %v lack %v", named.Settings, want)
	}
	for line, want := range map[string]string{"-m a exec -m b hi": "b",
		`exec -c model="o3" hi`: "o3", "exec -c model=x -m y hi": "y"} {
		if c := parseCodex(line); c.Model != want {
			t.Errorf("%q: model %q, want %q", line, c.Model, want)
		}
	}
	if home := parseCodex("exec hi", "HOME=/u").Home; home != "/u/.codex" {
		t.Errorf("home %q", home)
	}
}

func TestCodexPlans(t *testing.T) {
	tests := []struct{ line, resume string }{
		{"exec OLD", "exec resume ID -"},
		{"e OLD --json", "e --json resume ID -"},
		{"exec", "exec resume ID -"},
		{"exec -", "exec resume ID -"},
		{"exec -s read-only -- OLD", "exec -s read-only resume ID -"},
		{"-a never -c a=1 exec -C d OLD -o f --color never",
			"-a never -c a=1 exec -C d -o f --color never resume ID -"},
		{"exec -i a.png b.png -- OLD", "exec --image=a.png --image=b.png resume ID -"},
		{"exec -ia,b OLD", "exec --image=a,b resume ID -"},
		{"-i a.png -m x exec OLD", "-i a.png -m x exec resume ID -"},
	}
	for _, tt := range tests {
		c := parseCodex(tt.line)
		fresh := tool.Plan(c, rewrite.ToFresh("OLD"))
		if got := strings.Join(fresh.Args, " "); got != tt.line || fresh.HasStdin ||
			fresh.Resume != "" {
			t.Errorf("%q fresh: %q", tt.line, got)
		}
		p := tool.Plan(c, tooltest.To{ID: "ID", Prompt: "NEW"}.Target())
		if got := strings.Join(p.Args, " "); got != tt.resume || p.Resume != "ID" ||
			p.Stdin != "NEW" || !p.HasStdin {
			t.Errorf("%q resumed: %q with %q, want %q", tt.line, got, p.Stdin, tt.resume)
		}
		if p.ReadStderr != (c.Format == rewrite.Text || notice(&c) != "") {
			t.Errorf("%q: reads stderr: %v", tt.line, p.ReadStderr)
		}
	}
	if p := tool.Plan(parseCodex("exec --json -"), rewrite.ToFresh("x")); p.ReadStderr {
		t.Error("the stderr of a fresh --json call is read")
	}
}

func TestCodexComposes(t *testing.T) {
	tests := []struct{ line, stdin, want string }{
		{"exec", "data\n", "data\n"},
		{"exec -", "\ufeffdata", "data"},
		{"exec hi", "data\n", "hi\n\n<stdin>\ndata\n</stdin>"},
		{"exec hi", "data", "hi\n\n<stdin>\ndata\n</stdin>"},
		{"exec hi", "", "hi"},
		{"exec hi", " \n", "hi"},
	}
	for _, tt := range tests {
		if got := tool.EffectivePrompt(parseCodex(tt.line), tt.stdin); got != tt.want {
			t.Errorf("%q with %q: %q, want %q", tt.line, tt.stdin, got, tt.want)
		}
	}
}

// recorded reads a stream of a recorded run.
func recorded(t *testing.T, name, stream string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../testdata/recordings/codex", name, stream))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCodexSees(t *testing.T) {
	const (
		chain = "01a1fc56-4718-76c1-a942-8de8c755e458"
		text  = "01a1fc58-21dd-7e33-97c1-0206326fd74b"
		over  = "01a1fc58-3ada-7da3-9a00-9e7987d7ee87"
	)
	tests := []struct {
		recording, prompt, resume            string
		content, final, failed, wrong, tools bool
		refusal                              reason.Code
		answer                               string
	}{
		{"fresh-text", "hi remember number 456", "", true, true, false, false, false, "",
			"Got it: 456."},
		{"fresh-json", "", "", true, true, false, false, false, "", "Got it: 456."},
		{"color-always", "P", "", true, true, false, false, false, "", "ok"},
		{"multi-text", "MULTI", "", true, true, false, false, false, "",
			"line one\n\n  line two \u2028 \u00e9 \x1b[31mred\x1b[0m\n\n"},
		{"empty-text", "EMPTY", "", true, true, false, false, false, "", ""},
		{"tool-text", "RUNTOOL please", "", true, true, false, false, true, "", "ok"},
		{"tool-json", "", "", true, true, false, false, true, "", "ok"},
		{"resume-ok-text", "what number", text, true, true, false, false, false, "", "77"},
		{"chain-2", "", chain, true, true, false, false, false, "", "77"},
		{"resume-garbage-json", "", tooltest.SomeID, false, true, false, true, false, "",
			"I do not know any number."},
		{"http401-text", "HTTP401", "", false, true, true, false, false, "", ""},
		{"http429-json", "", "", false, true, true, false, false, "", ""},
		{"http500-json", "", "", false, true, true, false, false, "", ""},
		{"toobig-text", "TOOBIG", "", false, true, true, false, false, reason.RefusedContext, ""},
		{"toobig-resume-json", "", over, false, true, true, false, false, reason.RefusedContext,
			""},
		{"resume-unknown-text", "x", tooltest.SomeID, false, false, false, false, false, "", ""},
		{"sigint-text", "SLOW", "", false, false, false, false, false, "", ""},
		{"sigint-json", "", "", false, false, false, false, false, "", ""},
	}
	for _, tt := range tests {
		line := "exec --json x"
		if tt.prompt != "" {
			line = "exec x"
		}
		s := tool.Stream(parseCodex(line), rewrite.Plan{Resume: tt.resume, Prompt: tt.prompt}, "")
		stdout, stderr := recorded(t, tt.recording, "stdout"), recorded(t, tt.recording, "stderr")
		out, errOut := tooltest.Feed(s, stdout, stderr)
		got := s.Seen()
		if got.Content != tt.content || got.Final != tt.final || got.Failed != tt.failed ||
			got.WrongID != tt.wrong ||
			got.ToolRan != tt.tools || got.Shell != tt.tools || got.Refusal != tt.refusal ||
			got.Answer != tt.answer {
			t.Errorf("%s: %+v", tt.recording, got)
		}
		if tt.resume == "" && (out != string(stdout) || errOut != string(stderr)) {
			t.Errorf("%s is not shown as it came: %q, %q", tt.recording, out, errOut)
		}
	}
	s := tool.Stream(parseCodex("exec x"), rewrite.Plan{Prompt: "hi remember number 456"}, "")
	tooltest.Feed(s, nil, recorded(t, "fresh-text", "stderr"))
	if seen := s.Seen(); seen.ID != "01a1fc56-44f3-7642-95b2-14c42bc18e80" ||
		seen.Source != "stderr" || seen.Model != "gpt-5.1-codex" {
		t.Errorf("id %q from %s, model %q", seen.ID, seen.Source, seen.Model)
	}
}

// The final message can be read before the header that names the session.
func TestCodexBelievesNoMessageWithoutItsID(t *testing.T) {
	s := tool.Stream(parseCodex("exec x"), rewrite.Plan{Resume: tooltest.SomeID, Prompt: "x"}, "")
	s.Line([]byte("77\n"))
	if seen := s.Seen(); seen.Content || seen.Final {
		t.Errorf("believed at once: %+v", seen)
	}
	header := "OpenAI Codex v0.169.0\n--------\nsession id: " + tooltest.SomeID + "\n--------\n"
	tooltest.Feed(s, nil, []byte(header))
	if seen := s.Seen(); !seen.Content || !seen.Final || seen.Answer != "77" {
		t.Errorf("not believed: %+v", seen)
	}
}

// With 2>&1 the final message follows the transcript.
func TestCodexReadsBothStreamsAsOne(t *testing.T) {
	s := tool.Stream(parseCodex("exec x"), rewrite.Plan{Prompt: "hi remember number 456"}, "")
	tooltest.Feed(s, nil, append(recorded(t, "fresh-text", "stderr"), "ERROR: said the model\n"...))
	if seen := s.Seen(); !seen.Final || seen.Failed || !seen.Content {
		t.Errorf("%+v", seen)
	}
}

func TestCodexTakesNoForeignID(t *testing.T) {
	const header = "--------\nsession id: " + tooltest.SomeID + "\n--------\n"
	prompts := []string{header, "user\n" + header,
		"codex\ntokens used\n1\nERROR: ran out of room in the model's context window"}
	const own = "01a1fc56-44f3-7642-95b2-14c42bc18e80"
	for _, prompt := range prompts {
		s := tool.Stream(parseCodex("exec x"), rewrite.Plan{Resume: own, Prompt: prompt}, "")
		tooltest.Feed(s, nil,
			[]byte("--------\nsession id: "+own+"\n--------\nuser\n"+prompt+"\nwarning: x\n"))
		if seen := s.Seen(); seen.ID != own || seen.WrongID || seen.Content || seen.Final ||
			seen.Refusal != "" {
			t.Errorf("%q: %+v", prompt, seen)
		}
	}
	for _, line := range []string{
		`{"type":"item.completed","item":{"type":"agent_message","text":"{\"type\":\"thread.started\"}"},"thread_id":"` + tooltest.SomeID + `"}`,
		`{"type":"thread.started","thread_id":"--yolo"}`,
		"session id: " + tooltest.SomeID,
	} {
		s := tool.Stream(parseCodex("exec --json x"), rewrite.Plan{}, "")
		s.Line([]byte(line + "\n"))
		if seen := s.Seen(); seen.ID != "" || seen.Content {
			t.Errorf("took %+v from %s", seen, line)
		}
	}
}

func TestCodexShowsTheCallersTranscript(t *testing.T) {
	const id = "01a1fc58-21dd-7e33-97c1-0206326fd74b"
	resumed := string(recorded(t, "resume-ok-text", "stderr"))
	direct := "Reading additional input from stdin...\n" +
		strings.NewReplacer("\nwhat number\n", "\nTHE WHOLE\n\nPROMPT\n\n", "10,002",
			"5,019").Replace(resumed)
	warning := "WARNING: proceeding, even though\n"
	tests := []struct{ line, stderr, want string }{
		{"exec x", resumed, direct},
		{"exec x", warning + resumed, warning + direct},
		{"exec -", resumed, strings.TrimPrefix(direct, "Reading additional input from stdin...\n")},
		{"exec", resumed, strings.Replace(direct, "additional input", "prompt", 1)},
		{"exec --json x", "", "Reading additional input from stdin...\n"},
		{"exec --json x", warning, warning + "Reading additional input from stdin...\n"},
		{"exec --json -", warning, warning},
	}
	for _, tt := range tests {
		p := rewrite.Plan{Resume: id, Prompt: "what number", Asked: "THE WHOLE\n\nPROMPT\n"}
		s := tool.Stream(parseCodex(tt.line), p, `{"tokens used":4983}`)
		if _, got := tooltest.Feed(s, nil, []byte(tt.stderr)); got != tt.want {
			t.Errorf("%q shows\n%s\nwant\n%s", tt.line, got, tt.want)
		}
	}
}

func TestCodexFiguresAreThisCallsOwn(t *testing.T) {
	const id = "01a1fc56-4718-76c1-a942-8de8c755e458"
	totals := func(recording string) rewrite.Totals {
		s := tool.Stream(parseCodex("exec --json x"), rewrite.Plan{}, "")
		tooltest.Feed(s, recorded(t, recording, "stdout"), nil)
		return s.Seen().Totals
	}
	before := totals("chain-1")
	tests := []struct {
		resume   string
		previous rewrite.Totals
		usage    string
		known    bool
	}{
		{id, before,
			`"input_tokens":9966,"cached_input_tokens":4983,"cache_write_input_tokens":0,"output_tokens":36,`, true},
		{"", before,
			`"input_tokens":19860,"cached_input_tokens":9930,"cache_write_input_tokens":0,"output_tokens":72,`, true},
		{id, "", `"input_tokens":19860,"cached_input_tokens":9930,`, false},
		// it has started again
		{id, `{"usage\tinput_tokens":99999}`, `"input_tokens":19860,"cached_input_tokens":9930,`,
			false},
	}
	for _, tt := range tests {
		s := tool.Stream(parseCodex("exec --json x"), rewrite.Plan{Resume: tt.resume}, tt.previous)
		out, _ := tooltest.Feed(s, recorded(t, "chain-2", "stdout"), nil)
		if !strings.Contains(out, tt.usage) || s.Seen().Usage.Known != tt.known {
			t.Errorf("after %s: %s, usage %+v", tt.previous, out, s.Seen().Usage)
		}
		if s.Seen().Totals != totals("chain-2") {
			t.Errorf("totals %s", s.Seen().Totals)
		}
	}
	numbers := []struct {
		resume   string
		previous rewrite.Totals
		want     string
	}{
		{tooltest.SomeID, `{"tokens used":4983}`, "5,019"},
		{tooltest.SomeID, before, "5,019"},
		{tooltest.SomeID, "", "10,002"},
		{tooltest.SomeID, `{"tokens used":20000}`, "10,002"},
		{"", before, "10,002"},
	}
	for _, tt := range numbers {
		s := tool.Stream(parseCodex("exec -"),
			rewrite.Plan{Resume: tt.resume, Prompt: "what number"}, tt.previous)
		_, got := tooltest.Feed(s, nil, recorded(t, "resume-ok-text", "stderr"))
		if !strings.HasSuffix(got, "\ntokens used\n"+tt.want+"\n") {
			t.Errorf("after %s: %q", tt.previous, got[len(got)-30:])
		}
		// where both streams are one
		if answer := string(s.ErrLine([]byte("30,000\n"))); answer != "30,000\n" {
			t.Errorf("after %s: an answer behind the total is shown as %q", tt.previous, answer)
		}
		if s.Seen().Totals != `{"tokens used":10002}` {
			t.Errorf("totals %s", s.Seen().Totals)
		}
	}
	// recordings/codex/sigint-text, as it ends on a resume
	s := tool.Stream(parseCodex("exec -"), rewrite.Plan{Resume: tooltest.SomeID, Prompt: "SLOW"},
		`{"tokens used":4983}`)
	interrupted := string(recorded(t, "sigint-text", "stderr"))
	if _, got := tooltest.Feed(s, nil, []byte(interrupted+"tokens used\n4,983\n")); got !=
		interrupted {
		t.Errorf("interrupted, it shows %q", got)
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := withThousands(n); got != want {
			t.Errorf("%d is shown as %s", n, got)
		}
	}
}

// One line of a rollout after the other, of the first turns or of those from an
// offset, before the id is known or after it.
func TestCodexReadsItsRollout(t *testing.T) {
	const (
		chain = "01a1fc56-4718-76c1-a942-8de8c755e458"
		over  = "01a1fc58-3ada-7da3-9a00-9e7987d7ee87"
	)
	tests := []struct {
		recording, id string
		from, to      int // lines
		usage, first  rewrite.Usage
		context       rewrite.Context
		compacted     bool
		totals        string
		answer        string
	}{
		{"chain-4-text", chain, 0, 5, rewrite.Usage{Known: true, Input: 4947, CacheRead: 4947,
			Output: 36},
			rewrite.Usage{Known: true, Input: 4947, CacheRead: 4947, Output: 36},
			rewrite.Context{Used: 9930, Limit: 258400}, false,
			`"usage\tinput_tokens":9894`, "Got it: 77."},
		{"chain-4-text", chain, 9, 15, rewrite.Usage{Known: true, Input: 10100, CacheRead: 10099,
			Output: 56},
			rewrite.Usage{Known: true, Input: 5018, CacheRead: 5018, Output: 20},
			rewrite.Context{Used: 10199, Limit: 258400}, false,
			`"usage\tinput_tokens":40059`, "77"},
		{"after-toobig-2", over, 7, 18, rewrite.Usage{Known: true, Input: 7946, CacheRead: 7944,
			Output: 72},
			rewrite.Usage{Known: true, Input: 2897, CacheRead: 2896, Output: 36},
			rewrite.Context{Used: 10133, Limit: 258400}, true,
			`"usage\tinput_tokens":15890`, "77"},
	}
	for _, tt := range tests {
		lines := slices.Collect(bytes.Lines(
			recorded(t, tt.recording, "rollout-excerpt.jsonl")))[tt.from:tt.to]
		for _, early := range []bool{false, true} {
			s := tool.Stream(parseCodex("exec x"), rewrite.Plan{Prompt: "x"}, "")
			header := []byte("--------\nsession id: " + tt.id + "\n--------\n")
			if !early {
				tooltest.Feed(s, nil, header)
			}
			for _, l := range lines {
				s.File("/h/sessions/2026/11/21/rollout-2026-11-21T04-21-15-"+tt.id+".jsonl", l)
				s.File("/h/sessions/2026/11/21/rollout-2026-11-21T04-21-15-"+tooltest.SomeID+".jsonl",
					bytes.ReplaceAll(l, []byte(`tokens":`), []byte(`tokens":9`)))
			}
			if early {
				tooltest.Feed(s, nil, header)
			}
			got := s.Seen()
			if got.Usage != tt.usage || got.First != tt.first || got.ContextUse != tt.context ||
				got.Compacted != tt.compacted ||
				!strings.Contains(string(got.Totals), tt.totals) || got.Answer != tt.answer {
				t.Errorf("%s from %d, early %v: %+v", tt.recording, tt.from, early, got)
			}
		}
	}
}

func TestCodexRefuses(t *testing.T) {
	const log = "2026-11-21T04:23:25.189822Z ERROR codex_core::session: Failed to create session\n"
	tests := []struct {
		stderr string
		exit   int
		want   reason.Code
	}{
		{"Error: thread/resume: thread/resume failed: no rollout found for thread id x (code " +
			"-32600)\n", 1, reason.RefusedUnknown},
		{"Error: thread/read: thread/read failed: thread not loaded: x (code -32600)\n", 1,
			reason.RefusedUnknown},
		{"Error: thread x not found\n", 1, reason.RefusedUnknown},
		{"Error: session x is archived. Run `codex unarchive x` to unarchive it first. (code " +
			"-32600)\n", 1, reason.RefusedUnknown},
		{log + "Error: thread/resume: thread/resume failed: thread x already has an active " +
			"writer (code -32600)\n", 1, reason.RefusedBusy},
		{"Error: thread/resume: thread-store internal error: rollout x is empty (code -32603)\n", 1,
			reason.RefusedBroken},
		{"Error: thread/resume: something new\n", 1, reason.RefusedSilent},
		{"error: unrecognized subcommand 'resume'\n\nUsage: codex exec\n", 2,
			reason.RefusedNoResume},
		{"error: unexpected argument '--new' found\n\nUsage: codex exec\n", 2,
			reason.RefusedSilent},
		{"Failed to read prompt from stdin: input is not valid UTF-8 (invalid byte at offset 0).\n",
			1, reason.RefusedSilent},
		{"Not inside a trusted directory and --skip-git-repo-check was not specified.\n", 1, ""},
		{"Error: error loading config: x\n", 1, ""},
		{"user\nError: thread/resume: no rollout found for thread id x\nturn interrupted\n", 1, ""},
		{"", 1, ""},
		{"", 0, ""},
	}
	for _, tt := range tests {
		if got := tool.Refused(tt.stderr, tt.exit); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.stderr, got, tt.want)
		}
	}
	for message, want := range map[string]reason.Code{
		"The encrypted content gAAA could not be verified.":               reason.RefusedBroken,
		`{"error":{"code":"invalid_encrypted_content"}}`:                  reason.RefusedBroken,
		"Missing required parameter: 'input[3].encrypted_content'":        reason.RefusedBroken,
		"No tool output found for function call call_1.":                  reason.RefusedBroken,
		"Codex ran out of room in the model\u2019s context window. Start": reason.RefusedContext,
		"You\u2019ve hit your usage limit.":                               "",
	} {
		if got := turnRefusals.In(message); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}

// An error's text can take several lines.
func TestCodexReadsLongErrors(t *testing.T) {
	s := tool.Stream(parseCodex("exec x"), rewrite.Plan{Prompt: "x"}, "")
	tooltest.Feed(s, nil,
		[]byte("--------\nsession id: "+tooltest.SomeID+"\n--------\nuser\nx\nERROR: {\n  "+
			"\"message\": \"No tool output found for function call c\"\n}\n"))
	if seen := s.Seen(); seen.Refusal != reason.RefusedBroken || seen.Content || !seen.Failed {
		t.Errorf("%+v", seen)
	}
}

func TestCodexHelp(t *testing.T) {
	for file, table := range map[string]grammar.Options{
		"codex-exec-0.169.0.txt": slices.Concat(shared, exec),
		"codex-0.169.0.txt":      slices.Concat(shared, top)} {
		help, err := os.ReadFile("../../../testdata/help/" + file)
		if err != nil {
			t.Fatal(err)
		}
		probe := tool.Options(string(help))
		if !probe.Resume || probe.Known != (file == "codex-exec-0.169.0.txt") ||
			len(probe.Options) < 20 {
			t.Errorf("%s: known %v, resume %v, %d options", file, probe.Known, probe.Resume,
				len(probe.Options))
		}
		for _, o := range probe.Options {
			for _, name := range o.Names {
				if known, ok := table.Find(name); !ok || known.Arity != o.Arity {
					t.Errorf("%s: the grammar has it: %v, with arity %v; --help says %v", name, ok,
						known.Arity, o.Arity)
				}
			}
		}
	}
	in := tooltest.Invocation("exec --new v OLD")
	in.Learned = rewrite.Probe{Known: true,
		Options: []rewrite.Option{{Names: []string{"--new"}, Arity: rewrite.OneValue}}}
	c := tool.Parse(in)
	if got := strings.Join(tool.Plan(c, tooltest.To{ID: "ID", Prompt: "x"}.Target()).Args,
		" "); c.Mode != rewrite.Fresh || got != "exec --new v resume ID -" {
		t.Errorf("with a learned option: %s, %q", c.Mode, got)
	}
}

func TestCodexNeedsResume(t *testing.T) {
	for version, want := range map[string]bool{"": false, "0.169.0": false, "0.42.0": false,
		"0.21.0": true} {
		if got := tool.ResolveWithEnv(rewrite.CommandLine{},
			rewrite.HostEnv{Version: version}).NoResume; got != want {
			t.Errorf("%q: no resume %v", version, got)
		}
	}
}

// A long answer takes time in proportion to the length, not to the square of the length. An answer
// without an end takes no more memory than the longest line, and no time when it has ended. Its
// session is not gone on with: nobody could report whether a transcript has all of it.
func TestCodexEndlessAnswer(t *testing.T) {
	for _, size := range []int{rewrite.LongestLine, rewrite.LongestLine + 1} {
		s := tool.Stream(parseCodex("exec hi"), rewrite.Plan{}, "")
		s.ErrLine([]byte("OpenAI Codex v0.169.0\n"))
		for _, line := range []string{"--------\n", "session id: " + tooltest.SomeID + "\n",
			"--------\n"} {
			s.ErrLine([]byte(line))
		}
		piece := []byte(strings.Repeat("x", 1<<10))
		for left := size; left > 0; left -= len(piece) {
			s.Line(piece[:min(left, len(piece))])
		}
		kept, failed := size, false
		if size > rewrite.LongestLine {
			kept, failed = 0, true
			s.Line([]byte("more")) // nothing of it is kept, so that no part counts as the whole
		}
		if seen := s.Seen(); len(seen.Answer) != kept || seen.Failed != failed || !seen.Content ||
			!seen.Final {
			t.Errorf("of %d bytes %d are kept, failed %v, content %v, final %v", size,
				len(seen.Answer), seen.Failed, seen.Content, seen.Final)
		}
	}
}

func TestCodexLongAnswer(t *testing.T) {
	s := tool.Stream(parseCodex("exec hi"), rewrite.Plan{}, "")
	line, lines := []byte(strings.Repeat("x", 49)+"\n"), 20_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range lines {
		s.Line(line)
		s.Seen()
	}
	runtime.ReadMemStats(&after)
	if took, size := after.TotalAlloc-before.TotalAlloc, uint64(lines*len(line)); took > 20*size {
		t.Errorf("an answer of %d bytes took %d", size, took)
	}
	if got := s.Seen().Answer; len(got) != lines*len(line)-1 {
		t.Errorf("%d bytes of it are kept", len(got))
	}
}

func TestCodexAccounts(t *testing.T) {
	codexLogin := func(account, token string) rewrite.Setting {
		return accountOf(`{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"access_token":"` +
			token + `","account_id":"` + account + `"},"last_refresh":"` + token + `"}`)
	}
	if codexLogin("a", "1") != codexLogin("a", "2") ||
		codexLogin("a", "1") == codexLogin("b", "1") {
		t.Error("not the account counts")
	}
	if accountOf(`{"OPENAI_API_KEY":"a"}`) == accountOf(`{"OPENAI_API_KEY":"b"}`) {
		t.Error("another key does not count")
	}
	if accountOf(`{"tokens":{"access_token":"a"}}`) ==
		accountOf(`{"tokens":{"access_token":"b"}}`) {
		t.Error("another token does not count although nothing tells the account")
	}
}

// Codex drops data on stdin where a resume has its prompt in argv: all of it goes by
// stdin.
func TestCodexResumesByStdin(t *testing.T) {
	for _, line := range []string{"exec OLD", "exec", "exec -"} {
		p := tool.Plan(parseCodex(line), tooltest.To{ID: "ID", Prompt: "resume\x00",
			Asked: "OLD"}.Target())
		if p.Args[len(p.Args)-1] != "-" || p.Stdin != "resume\x00" || !p.HasStdin {
			t.Errorf("%q: %q with stdin %q", line, p.Args, p.Stdin)
		}
	}
}

func TestTextsAreBounded(t *testing.T) {
	line := []byte(`{"type":"item.completed","item":{"type":"agent_message","text":"` +
		strings.Repeat("x", 1<<18) + `"}}` + "\n")
	seen := tool.Stream(parseCodex("exec --json x"), rewrite.Plan{}, "")
	for range 6 {
		seen.Line(line)
	}
	if texts := seen.Seen().Texts; len(texts) > 0 {
		t.Errorf("%d texts are kept", len(texts))
	}
}
