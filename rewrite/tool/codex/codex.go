// Package codex is the Codex CLI as the shim knows it: command line, output, session files. Facts
// here were measured with 0.169.0 unless they name another version; docs/internals/codex.md lists
// them all.
package codex

import (
	"cmp"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
	"reprise/rewrite/tool/grammar"
)

type codex struct{ base.Base }

func init() { rewrite.Register(tool) }

// The option for the format, --json, has no value: "" names stream-json.
var tool = codex{base.Base{About: &descriptor, Reads: reads, Help: []string{"--json"},
	Formats: map[string]rewrite.Format{"": rewrite.StreamJSON}}}

var descriptor = rewrite.Descriptor{
	Name:            "codex",
	Packages:        []string{"@openai/codex"},
	Unattended:      []string{"codex", "exec", "--yolo"},
	Managed:         []string{"exec", "e"},
	Servers:         []string{"app-server", "exec-server"},
	Alone:           []string{"--help", "-h", "--version", "-V"},
	AwaitsStdin:     true,
	Nested:          []string{"CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_SANDBOX"},
	CachePerSession: true, // prompt_cache_key is the session's ID (codex 0.169.0)

	CannotWrite:    101,
	FileLimitKills: true,
	TellsFirst:     true,

	// A model's request is given to the hooks with the prompt.
	Hooks: rewrite.Hooks{
		Prompt:  []string{"UserPromptSubmit", "PreModelRequest", "PostModelRequest"},
		Start:   []string{"SessionStart"},
		Sources: []string{"startup", "resume"}, Plugins: "plugins",
	},

	Home: base.Home("CODEX_HOME", "/.codex", ""),
	// A rollout is a single file under the date of the start, and stays there. A fork does not
	// contain the source's lines; the first line names the thread it continues (0.169.0,
	// docs/internals/codex.md).
	Paths: []string{"sessions/*/*/*/rollout-*-{id}.jsonl"},
	Files: rewrite.SessionFiles{Paths: []string{"{file}"}, Lock: "thread-writer-locks/{id}.lock",
		Forks: []string{"sessions/*/*/*/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"}},
	Travels: true,
	Variables: rewrite.Variables{
		Settings: []string{"CODEX_*"},
		Account: []string{"OPENAI_*", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN",
			"CODEX_CA_CERTIFICATE"},
		Neutral: []string{"CODEX_HOME", "CODEX_SQLITE_HOME", "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
			"CODEX_RUST_LOG"},
	},
}

// shared are the options of both codex and codex exec. An option can be on either side of
// exec; the one after it wins.
var shared = grammar.Options{
	{grammar.Setting, rewrite.NoValue, `--approve-for-me
		--dangerously-bypass-approvals-and-sandbox|--yolo --dangerously-bypass-hook-trust --oss
		--strict-config`},
	{grammar.Setting, rewrite.OneValue, `--add-dir --config|-c --disable --enable --local-provider
		--profile|-p --sandbox|-s`},
	{grammar.FileSetting, rewrite.ManyValues, `--image|-i`},
	{grammar.Model, rewrite.OneValue, `--model|-m`},
	{grammar.Neutral, rewrite.OneValue, `--cd|-C`},
	// --worktree: a new working directory each time.
	{grammar.Unmanaged, rewrite.NoValue, `--worktree`},
	{grammar.Admin, rewrite.NoValue, `--help|-h --version|-V`},
}

// top are the further options before exec.
var top = grammar.Options{
	{grammar.Setting, rewrite.NoValue, `--search`},
	{grammar.Setting, rewrite.OneValue, `--ask-for-approval|-a`},
	{grammar.Neutral, rewrite.NoValue, `--no-alt-screen --no-daemon`},
	{grammar.Unmanaged, rewrite.OneValue, `--remote --remote-auth-token-env`},
}

// exec are the further options after exec. --last and --all belong to the resume.
var exec = grammar.Options{
	{grammar.Setting, rewrite.NoValue, `--ignore-rules --ignore-user-config`},
	{grammar.Setting, rewrite.OneValue, `--cyber-access-program --thread-source`},
	{grammar.FileSetting, rewrite.OneValue, `--output-schema`},
	{grammar.Format, rewrite.NoValue, `--json|--experimental-json`},
	{grammar.Neutral, rewrite.NoValue, `--skip-git-repo-check --trust`},
	{grammar.Neutral, rewrite.OneValue, `--color --output-last-message|-o`},
	{grammar.CallerOwned, rewrite.NoValue, `--all --last`},
	{grammar.OptOut, rewrite.NoValue, `--ephemeral`},
}

// commandLine is a parsed command line: codex [top] exec [exec] [sub [rest]].
type commandLine struct {
	top, exec, rest grammar.Args
	execAt          int    // index of the first word, or the length of the command line
	first, sub      string // that word, and a subcommand of exec; "" if there is none
}

// readArgs parses a command line. A word that is a subcommand's name is the subcommand, even
// after a prompt, which codex then drops.
func readArgs(args []string, learned rewrite.Probe) (a commandLine) {
	top, table := slices.Concat(shared, top), slices.Concat(shared, exec).With(learned)
	a.top, a.execAt = grammar.Clap(args, 0, top, func(string) bool { return true })
	if a.execAt < len(args) {
		a.first = args[a.execAt]
	}
	if !slices.Contains(descriptor.Managed, a.first) {
		return a
	}
	exec, subAt := grammar.Clap(args, a.execAt+1, table, func(word string) bool {
		return slices.Contains([]string{"resume", "fork", "review", "help"}, word)
	})
	if a.exec = exec; subAt < len(args) {
		a.sub = args[subAt]
		a.rest, _ = grammar.Clap(args, subAt+1, table, func(string) bool { return false })
	}
	return a
}

// serverTools are words after a server's name after which codex starts no server.
var serverTools = []string{
	"--help", "-h", "--print-startup-config", "daemon", "forward", "generate-internal-json-schema",
	"generate-json-schema", "generate-ts", "help", "proxy",
}

func (a *commandLine) starts(args []string) bool {
	return slices.Contains(descriptor.Servers, a.first) &&
		!slices.ContainsFunc(args[a.execAt:], func(word string) bool {
			return slices.Contains(serverTools, word)
		})
}

// all returns the facts of the whole command line. Later options win.
func (a *commandLine) all() grammar.Args {
	return grammar.Args{
		Options: slices.Concat(a.top.Options, a.exec.Options, a.rest.Options),
		Unknown: a.top.Unknown + a.exec.Unknown + a.rest.Unknown,
		Bad:     a.top.Bad || a.exec.Bad || a.rest.Bad,
	}
}

type details struct {
	execAt  int                    // place of exec in Args
	options []grammar.ParsedOption // after it
}

func (c codex) Parse(in rewrite.Input) rewrite.CommandLine {
	a := readArgs(in.Args, in.Learned)
	p := a.all()
	call := c.Read(p, in)
	readSettings(&call, p)
	if len(a.rest.Operands) > 0 && !p.Has(grammar.CallerOwned) {
		call.SessionID = in.Args[a.rest.Operands[0].At]
	}
	if len(a.exec.Operands) > 0 {
		call.PromptArgs, call.Prompt = a.exec.Operands[:1], in.Args[a.exec.Operands[0].At]
	}
	call.Own = details{a.execAt, a.exec.Options}
	call.Stdin = base.Stdin(in, len(call.PromptArgs) > 0 && call.Prompt != "-",
		rewrite.StdinAppended)
	c.Complete(&call, p, in, a.signs(&call, p, in))
	return call
}

func readSettings(c *rewrite.CommandLine, p grammar.Args) {
	c.Dir = p.Value("--cd", "")
	read, model := c.Settings, ""
	c.Settings = nil
	for _, s := range read {
		key, value, found := strings.Cut(s.Value, "=")
		value = strings.Trim(value, `"'`)
		switch {
		case s.Name == "--config" && found && key == "model":
			model = value
			continue
		case s.Name == "--config" && found && strings.HasSuffix(key, "_file"):
			c.Settings = append(c.Settings, rewrite.Setting{Name: "--config " + key, Value: value,
				File: true})
		case s.Name == "--image":
			s.Value = strings.ReplaceAll(s.Value, ",", "\x00")
		}
		c.Settings = append(c.Settings, s)
	}
	c.Model = cmp.Or(c.Model, model)
	files := []string{c.Home + "/config.toml"}
	for _, profile := range p.Values("--profile") {
		files = append(files, c.Home+"/"+profile+".config.toml")
	}
	project := ".codex/config.toml"
	if c.Dir != "" {
		project = c.Dir + "/" + project
	}
	c.Settings = append(c.Settings, rewrite.Setting{Name: "config.toml",
		Value: strings.Join(append(files, project), "\x00"), File: true})
}

var reads = base.Reads{
	Home:     "~/.codex",
	Settings: []string{"~/auth.json"},
	Hooks: []string{"{~,/etc/codex}/managed_config.toml", "/etc/codex/requirements.toml",
		"{~,^/.codex,/etc/codex}/{hooks.json,config.toml}", "~/{--profile}.config.toml",
		"~/plugins/cache/*/*/*/{hooks,hooks/hooks}.json",
		"~/plugins/cache/*/*/*/{.codex-plugin,.claude-plugin}/plugin.json"},
	Watched: base.Watched{
		{reason.InstructionsChanged, []string{"{^,~}/AGENTS{,.override}.md"}},
		{"", []string{"^/.codex/config.toml", "{^/.codex,~}/rules/*.rules",
			"^/.agents/skills/**/SKILL.md",
			"~/skills/*/SKILL.md"}}, // codex itself writes into ~/skills/.system
	},
}

// accountOf returns the identity of the account that codex is logged in to. codex refreshes the
// tokens in the same file, so they count only if nothing else identifies their owner.
func accountOf(login string) rewrite.Setting {
	tokens := jsonline.Member(login, "tokens")
	value := jsonline.Member(login, "auth_mode") +
		jsonline.Compact(jsonline.Member(login, "OPENAI_API_KEY")) +
		jsonline.Member(tokens, "account_id")
	if jsonline.Member(tokens, "account_id") == "" {
		value += jsonline.Compact(tokens)
	}
	return rewrite.Setting{Name: "~/.codex/auth.json", Value: value, Guard: reason.AuthChanged}
}

// signs returns the signs. Behind an unknown option it cannot be told which word is the command.
func (a *commandLine) signs(c *rewrite.CommandLine, p grammar.Args, in rewrite.Input) base.Signs {
	s := base.Signs{
		Command: a.sub == "help",
		Bad: a.sub == "" && (len(a.exec.Operands) > 1 || // --last without resume
			p.Has(grammar.CallerOwned) && !p.Has(grammar.OptOut)),
		Last: cmp.Or(base.When(a.sub != "", reason.CallerSession),
			base.When(in.StdinTTY && (len(c.PromptArgs) == 0 || c.Prompt == "-"),
				reason.Interactive)),
	}
	managed := slices.Contains(descriptor.Managed, a.first)
	if !p.Has(grammar.Admin) && !s.Command {
		s.First = cmp.Or(
			base.When(p.Unknown != "", reason.UnknownOption),
			base.When(a.starts(in.Args), reason.AppServer),
			base.When(!managed && a.first != "" && !in.StdinTTY, reason.NotManaged),
			base.When(!managed, reason.Interactive),
			base.When(a.sub == "review", reason.NotManaged))
	}
	return s
}

// ResolveWithEnv rejects versions before 0.42: exec could not resume, or did not show the session.
func (codex) ResolveWithEnv(c rewrite.CommandLine, s rewrite.HostEnv) rewrite.CommandLine {
	for _, login := range s.Settings {
		c.Settings = append(c.Settings, accountOf(login.Text))
	}
	c.ReadHooks(descriptor.Hooks, s, nil)
	for _, setting := range c.Settings {
		if value, hooks := strings.CutPrefix(setting.Value, "hooks"); setting.Name == "--config" &&
			hooks && !strings.HasPrefix(value, ".state") {
			c.CannotReadHooks()
		}
	}
	c.NoResume = !base.AtLeast(s.Version, 0, 42)
	return c
}

// ActsOn reports mentions of skills ("$NAME"), which codex loads.
func (codex) ActsOn(text string) bool {
	return base.Mentions(text, '$', false) || base.Mentions(text, '@', false)
}

// Options implements Tool. codex resumes by a subcommand.
func (c codex) Options(help string) rewrite.Probe {
	probe := c.Base.Options(help)
	probe.Resume = strings.Contains(help, "\n  resume ")
	return probe
}

// EffectivePrompt joins prompt and stdin the way codex does (recordings/codex/stdin-and-arg-json,
// stdin-empty-and-arg).
func (codex) EffectivePrompt(c rewrite.CommandLine, stdin string) string {
	stdin = strings.TrimPrefix(stdin, "\ufeff")
	switch {
	case c.Stdin == rewrite.StdinPrompt:
		return stdin
	case strings.TrimSpace(stdin) == "":
		return c.Prompt
	case !strings.HasSuffix(stdin, "\n"):
		stdin += "\n"
	}
	return c.Prompt + "\n\n<stdin>\n" + stdin + "</stdin>"
}

// Plan runs a fresh call unchanged. A resume has every option before the word resume, where all are
// allowed, and the prompt on stdin: codex drops data on stdin if it resumes with a prompt in argv
// (recordings/codex/stdin-and-arg-resume-json).
func (codex) Plan(c rewrite.CommandLine, t rewrite.Target) rewrite.Plan {
	plan := t.Plan(c)
	plan.ReadStderr, plan.OneStream = c.Format == rewrite.Text, c.Format == rewrite.Text
	plan.Follow = []rewrite.Follow{{Dir: c.Home + "/sessions", Name: "rollout-*.jsonl",
		Lines: true}}
	if plan.Resume != "" {
		plan.Args = append(resumeArgs(c), "resume", plan.Resume, "-")
		plan.Stdin, plan.HasStdin = plan.Prompt, true
		plan.ReadStderr = plan.ReadStderr || notice(&c) != ""
	}
	return plan
}

// resumeArgs returns the caller's command line without the prompt. Images are attached to
// their option, which would otherwise take "resume" as another image.
func resumeArgs(c rewrite.CommandLine) []string {
	own := base.Own[details](c)
	args := slices.Clone(c.Args[:own.execAt+1])
	last := -1
	for _, o := range own.options {
		switch {
		case o.Span.At == last: // part of the same cluster
		case o.Names[0] == "--image":
			for _, v := range o.Values {
				args = append(args, "--image="+v)
			}
		default:
			args = append(args, c.Args[o.Span.At:o.Span.At+o.Span.N]...)
		}
		last = o.Span.At
	}
	return args
}

// notice returns the line that codex writes to stderr before it reads stdin and that a resume
// lacks (recordings/codex/resume-dash).
func notice(c *rewrite.CommandLine) string {
	switch {
	case c.Stdin == rewrite.StdinAppended:
		return "Reading additional input from stdin...\n"
	case c.Stdin == rewrite.StdinPrompt && len(c.PromptArgs) == 0:
		return "Reading prompt from stdin...\n"
	}
	return ""
}

// refusals lists the messages of codex when it refuses a resume
// (recordings/codex/resume-unknown-text and resume-busy-text). The error codes do not distinguish
// these cases.
var refusals = base.Causes{
	{"already has an active writer", reason.RefusedBusy},
	{"no rollout found", reason.RefusedUnknown},
	{"missing rollout path", reason.RefusedUnknown},
	{"thread not loaded", reason.RefusedUnknown},
	{"not found", reason.RefusedUnknown},
	{"is archived", reason.RefusedUnknown},
	{"(code -32603)", reason.RefusedBroken}, // an empty or unreadable rollout
}

// Refused reads only the last line: there codex says why it gives up, and earlier lines can be the
// prompt. Errors that do not concern the session (trust, limits, logins, network) are no refusals.
func (codex) Refused(stderr string, exit int) reason.Code {
	lines := strings.Split(strings.TrimRight(stderr, "\n"), "\n")
	last := base.StripEscapes(lines[len(lines)-1])
	switch {
	case exit == 2: // a rejected command line; the reason is above the usage
		if strings.Contains(stderr, "unrecognized subcommand 'resume'") {
			return reason.RefusedNoResume
		}
		return reason.RefusedSilent
	case strings.HasPrefix(last, "Failed to read prompt from stdin"):
		return reason.RefusedSilent // stdin is not valid UTF-8: codex itself must read it
	case !strings.HasPrefix(last, "Error: ") ||
		!slices.ContainsFunc([]string{"thread", "session", "rollout", "resume"},
			func(word string) bool { return strings.Contains(last, word) }):
		return ""
	}
	return cmp.Or(refusals.In(last), reason.RefusedSilent)
}
