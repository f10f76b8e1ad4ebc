package rewrite

import (
	"cmp"
	"slices"
	"strings"

	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// codex is the Codex CLI. Facts in this file were measured with 0.169.0 unless they name another
// version; docs/internals/codex.md lists them all.
type codex struct{ base }

func init() { Register(codex{}) }

var codexDescriptor = Descriptor{
	Name:            "codex",
	Headless:        []string{"codex", "exec"},
	Unattended:      []string{"codex", "exec", "--yolo"},
	Managed:         []string{"exec", "e"},
	Servers:         []string{"app-server", "exec-server"},
	Alone:           []string{"--help", "-h", "--version", "-V"},
	Nested:          []string{"CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_SANDBOX"},
	LoginKeys:       []string{"CODEX_API_KEY", "OPENAI_API_KEY"},
	CachePerSession: true, // prompt_cache_key is the session's ID (codex 0.169.0)
	Provider:        "openai",

	CannotWrite:    101,
	FileLimitKills: true,

	Home:     codexHome,
	Sessions: []string{"sessions/*/*/*/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"},
	Travels:  true,
	StandIn: StandIn{
		Env:    []string{"CODEX_HOME=HOME/.codex", "OPENAI_API_KEY=stand-in"},
		Config: ".codex/config.toml",
		// The model is in the catalogue of codex 0.169.0: for any other, codex prints a warning as
		// an item of its stream. With plugins enabled, codex clones a catalogue of them at each
		// start.
		Text: `model = "gpt-5.5"
model_provider = "standin"
check_for_update_on_startup = false

[model_providers.standin]
name = "stand-in"
base_url = "URL/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[features]
plugins = false
`,
	},
}

func (codex) Descriptor() *Descriptor { return &codexDescriptor }

// codexShared are the options of both codex and codex exec. An option may be on either side of
// exec; the one after it wins.
var codexShared = optionTable{
	{[]string{"--add-dir"}, OneValue, setting},
	{[]string{"--approve-for-me"}, NoValue, setting},
	{[]string{"--cd", "-C"}, OneValue, neutral},
	{[]string{"--config", "-c"}, OneValue, setting},
	{[]string{"--dangerously-bypass-approvals-and-sandbox", "--yolo"}, NoValue, setting},
	{[]string{"--dangerously-bypass-hook-trust"}, NoValue, setting},
	{[]string{"--disable"}, OneValue, setting},
	{[]string{"--enable"}, OneValue, setting},
	{[]string{"--help", "-h"}, NoValue, admin},
	{[]string{"--image", "-i"}, ManyValues, fileSetting},
	{[]string{"--local-provider"}, OneValue, setting},
	{[]string{"--model", "-m"}, OneValue, model},
	{[]string{"--oss"}, NoValue, setting},
	{[]string{"--profile", "-p"}, OneValue, setting},
	{[]string{"--sandbox", "-s"}, OneValue, setting},
	{[]string{"--strict-config"}, NoValue, setting},
	{[]string{"--version", "-V"}, NoValue, admin},
	{[]string{"--worktree"}, NoValue, unmanaged}, // a new working directory each time
}

// codexTop are the further options before exec.
var codexTop = optionTable{
	{[]string{"--ask-for-approval", "-a"}, OneValue, setting},
	{[]string{"--no-alt-screen"}, NoValue, neutral},
	{[]string{"--no-daemon"}, NoValue, neutral},
	{[]string{"--remote"}, OneValue, unmanaged},
	{[]string{"--remote-auth-token-env"}, OneValue, unmanaged},
	{[]string{"--search"}, NoValue, setting},
}

// codexExec are the further options after exec. --last and --all belong to its resume.
var codexExec = optionTable{
	{[]string{"--all"}, NoValue, callerOwned},
	{[]string{"--color"}, OneValue, neutral},
	{[]string{"--cyber-access-program"}, OneValue, setting},
	{[]string{"--ephemeral"}, NoValue, optOut},
	{[]string{"--ignore-rules"}, NoValue, setting},
	{[]string{"--ignore-user-config"}, NoValue, setting},
	{[]string{"--json", "--experimental-json"}, NoValue, format},
	{[]string{"--last"}, NoValue, callerOwned},
	{[]string{"--output-last-message", "-o"}, OneValue, neutral},
	{[]string{"--output-schema"}, OneValue, fileSetting},
	{[]string{"--skip-git-repo-check"}, NoValue, neutral},
	{[]string{"--thread-source"}, OneValue, setting},
	{[]string{"--trust"}, NoValue, neutral},
}

// Variables returns codex's own variables and those of the API it uses.
func (codex) Variables() Variables {
	return Variables{
		Settings: []string{"CODEX_*"},
		Account:  []string{"OPENAI_*", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "CODEX_CA_CERTIFICATE"},
		Neutral:  []string{"CODEX_HOME", "CODEX_SQLITE_HOME", "CODEX_INTERNAL_ORIGINATOR_OVERRIDE", "CODEX_RUST_LOG"},
	}
}

// codexArgs is a parsed command line: codex [top] exec [exec] [sub [rest]].
type codexArgs struct {
	top, exec, rest parsedArgs
	execAt          int // index of the word exec, or the length of the command line
	subAt           int // index of a subcommand of exec, or the length of the command line
}

// readCodexArgs parses a command line. A word that is a subcommand's name is the subcommand, even
// after a prompt, which codex then drops.
func readCodexArgs(args []string, learned Probe) codexArgs {
	var a codexArgs
	top, table := slices.Concat(codexShared, codexTop), slices.Concat(codexShared, codexExec).with(learned)
	a.subAt = len(args)
	a.top, a.execAt = parseClap(args, 0, top, func(string) bool { return true })
	if !a.managed(args) {
		return a
	}
	a.exec, a.subAt = parseClap(args, a.execAt+1, table, isCodexSubcommand)
	if a.subAt < len(args) {
		a.rest, _ = parseClap(args, a.subAt+1, table, func(string) bool { return false })
	}
	return a
}

// managed reports whether the command line contains exec.
func (a *codexArgs) managed(args []string) bool {
	return a.execAt < len(args) && slices.Contains([]string{"exec", "e"}, args[a.execAt])
}

// codexServerTools are words after a server's name with which codex starts no server.
var codexServerTools = []string{
	"--help", "-h", "--print-startup-config", "daemon", "forward", "generate-internal-json-schema", "generate-json-schema", "generate-ts", "help", "proxy",
}

// starts reports whether the command line starts a server.
func (a *codexArgs) starts(args []string) bool {
	if a.execAt >= len(args) || !slices.Contains(codexDescriptor.Servers, args[a.execAt]) {
		return false
	}
	return !slices.ContainsFunc(args[a.execAt:], func(word string) bool { return slices.Contains(codexServerTools, word) })
}

func isCodexSubcommand(word string) bool {
	return slices.Contains([]string{"resume", "fork", "review", "help"}, word)
}

// options returns all options; later ones win.
func (a *codexArgs) options() []parsedOption {
	return slices.Concat(a.top.options, a.exec.options, a.rest.options)
}

func (a *codexArgs) has(kind optionKind) bool {
	return slices.ContainsFunc(a.options(), func(o parsedOption) bool { return o.Kind == kind })
}

// codexOwn is what codex's calls have of their own.
type codexOwn struct {
	execAt  int   // place of exec in Args
	learned Probe // what Args was parsed with
}

func (c codex) Parse(in Invocation) Call {
	call := codexDescriptor.newCall(in)
	a := readCodexArgs(in.Args, in.Learned)
	call.Home = codexHome(in.Env)
	call.readCodexOptions(a.options())
	call.readCodexPrompt(&a, in)
	call.Reason = codexReason(&call, &a, in)
	switch call.Reason {
	case "":
		call.Mode = Fresh
		call.SettingsFiles = []string{call.Home + "/auth.json"}
		call.Watched = codexWatched(call.Home)
	case reason.CallerSession:
		if call.Format != Text {
			call.Mode = Observe // its output contains the session ID
		}
	}
	return call
}

func (c *Call) readCodexOptions(options []parsedOption) {
	modelKey := ""
	files := []string{c.Home + "/config.toml"}
	for _, o := range options {
		value := ""
		if len(o.values) > 0 {
			value = o.values[len(o.values)-1]
		}
		switch {
		case o.Kind == model:
			c.Model = value
		case o.Kind == format:
			c.Format = StreamJSON
		case o.Names[0] == "--cd":
			c.Dir = value
		case o.Names[0] == "--config" && strings.HasPrefix(value, "model="):
			modelKey = strings.Trim(strings.TrimPrefix(value, "model="), `"'`)
		case o.Kind == setting, o.Kind == fileSetting:
			c.addCodexSetting(o)
		}
		if o.Names[0] == "--profile" {
			files = append(files, c.Home+"/"+value+".config.toml")
		}
	}
	if c.Model == "" {
		c.Model = modelKey
	}
	if c.Dir == "" {
		files = append(files, ".codex/config.toml")
	} else {
		files = append(files, c.Dir+"/.codex/config.toml")
	}
	c.Settings = append(c.Settings, Setting{Name: "config.toml", Value: strings.Join(files, "\x00"), File: true})
	slices.SortStableFunc(c.Settings, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
}

func (c *Call) addCodexSetting(o parsedOption) {
	value := strings.Join(o.values, "\x00")
	if o.Names[0] == "--image" {
		value = strings.ReplaceAll(value, ",", "\x00")
	}
	c.Settings = append(c.Settings, Setting{Name: o.Names[0], Value: value, File: o.Kind == fileSetting})
	if key, file, found := strings.Cut(value, "="); found && o.Names[0] == "--config" && strings.HasSuffix(key, "_file") {
		c.Settings = append(c.Settings, Setting{Name: "--config " + key, Value: strings.Trim(file, `"'`), File: true})
	}
}

// codexWatched returns the files that codex reads on its own at the start of a session.
func codexWatched(home string) []Watch {
	var watched []Watch
	for _, name := range []string{"AGENTS.md", "AGENTS.override.md"} {
		watched = append(watched, Watch{Path: name, Above: true, Guard: reason.InstructionsChanged},
			Watch{Path: home + "/" + name, Name: "~/.codex/" + name, Guard: reason.InstructionsChanged})
	}
	return append(watched,
		Watch{Path: ".codex/config.toml", Above: true},
		Watch{Path: ".codex/rules/*.rules", Above: true},
		Watch{Path: home + "/rules/*.rules", Name: "~/.codex/rules"},
		Watch{Path: ".agents/skills/*/SKILL.md", Above: true},
		Watch{Path: home + "/skills/*/SKILL.md", Name: "~/.codex/skills"})
}

// codexAccount returns what identifies the account that codex is logged in to. codex refreshes its
// tokens in the same file, so they count only if nothing else identifies their owner.
func codexAccount(login string) Setting {
	tokens := jsonMember(login, "tokens")
	value := jsonMember(login, "auth_mode") + jsonCompact(jsonMember(login, "OPENAI_API_KEY")) + jsonMember(tokens, "account_id")
	if jsonMember(tokens, "account_id") == "" {
		value += jsonCompact(tokens)
	}
	return Setting{Name: "~/.codex/auth.json", Value: value, Guard: reason.AuthChanged}
}

// readCodexPrompt finds the prompt, or the session that the caller names.
func (c *Call) readCodexPrompt(a *codexArgs, in Invocation) {
	c.Unknown = a.top.unknown + a.exec.unknown + a.rest.unknown
	if len(a.rest.operands) > 0 && !a.has(callerOwned) {
		c.SessionID = in.Args[a.rest.operands[0].at]
	}
	if len(a.exec.operands) > 0 {
		c.promptArg = a.exec.operands[0].at
		c.Prompt = in.Args[c.promptArg]
	}
	c.Own = codexOwn{a.execAt, in.Learned}
	switch {
	case in.StdinTTY:
	case c.promptArg < 0 || c.Prompt == "-":
		c.Stdin, c.Silence = StdinPrompt, SilenceAwaited
	default:
		c.Stdin, c.Silence = StdinAppended, SilenceAwaited
	}
}

// codexHome returns the directory that CODEX_HOME moves.
func codexHome(env func(string) string) string {
	if dir := env("CODEX_HOME"); dir != "" {
		return dir
	}
	return env("HOME") + "/.codex"
}

// codexReason returns why the call is not managed, or "".
func codexReason(c *Call, a *codexArgs, in Invocation) reason.Code {
	sub := ""
	if a.subAt < len(in.Args) {
		sub = in.Args[a.subAt]
	}
	p := parsedArgs{options: a.options(), unknown: c.Unknown, bad: a.top.bad || a.exec.bad || a.rest.bad}
	s := signs{command: sub == "help", bad: sub == "" && len(a.exec.operands) > 1}
	if sub == "" && p.has(callerOwned) && !p.has(optOut) {
		s.bad = true // --last without resume
	}
	if !p.has(admin) && !s.command {
		if why := a.elsewhere(sub, p.unknown, in); why != "" {
			return why
		}
	}
	switch why := c.why(&codexDescriptor, p, in, s); {
	case why != "":
		return why
	case sub != "":
		return reason.CallerSession
	case in.StdinTTY && (c.promptArg < 0 || c.Prompt == "-"):
		return reason.Interactive
	}
	return ""
}

// elsewhere returns why a command line has no exec that is managed, or "". Behind an unknown option it cannot be told
// what is the command.
func (a *codexArgs) elsewhere(sub, unknown string, in Invocation) reason.Code {
	switch {
	case unknown != "":
		return reason.UnknownOption
	case a.starts(in.Args):
		return reason.AppServer
	case a.execAt < len(in.Args) && !a.managed(in.Args) && !in.StdinTTY:
		return reason.NotManaged
	case !a.managed(in.Args):
		return reason.Interactive
	case sub == "review":
		return reason.NotManaged
	}
	return ""
}

// ResolveWithEnv rejects versions before 0.42: exec could not resume, or did not show its session.
func (codex) ResolveWithEnv(c Call, s HostEnv) Call {
	for _, path := range c.SettingsFiles {
		if login := s.Settings[path]; login != "" {
			c.Settings = append(c.Settings, codexAccount(login))
		}
	}
	c.NoResume = s.Version != "" && !atLeast(s.Version, 0, 42)
	return c
}

// ActsOn reports mentions of skills ("$NAME"), which codex loads.
func (codex) ActsOn(text string) bool {
	return prompt.Mentions(text, '$', false) || prompt.Mentions(text, '@', false)
}

func (codex) HelpArgs() []string { return []string{"exec", "--help"} }

func (codex) Options(help string) Probe {
	probe := readProbe(help, "--json")
	probe.Resume = strings.Contains(help, "\n  resume ")
	return probe
}

// EffectivePrompt joins prompt and stdin the way codex does (recordings/codex/stdin-and-arg-json,
// stdin-empty-and-arg).
func (codex) EffectivePrompt(c Call, stdin string) string {
	stdin = strings.TrimPrefix(stdin, "\ufeff")
	switch {
	case c.Stdin == StdinPrompt:
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
func (codex) Plan(c Call, t Target) Plan {
	prompt, whole := t.Prompt()
	plan := Plan{
		Args: slices.Clone(c.Args), Resume: t.Session(), Prompt: prompt, Whole: whole, Asked: t.Asked(),
		ReadStderr: c.Format == Text, OneStream: c.Format == Text,
		Follow: []Follow{{Dir: c.Home + "/sessions", Name: "rollout-*.jsonl", Lines: true}},
	}
	if plan.Resume != "" {
		plan.Args = append(codexResumeArgs(c), "resume", plan.Resume, "-")
		plan.Stdin, plan.HasStdin = prompt, true
		plan.ReadStderr = plan.ReadStderr || c.codexNotice() != ""
	}
	return plan
}

// codexResumeArgs returns the caller's command line without its prompt. Images are attached to
// their option, which would otherwise take "resume" as another image.
func codexResumeArgs(c Call) []string {
	own, _ := c.Own.(codexOwn)
	a := readCodexArgs(c.Args, own.learned)
	args := slices.Clone(c.Args[:own.execAt+1])
	last := -1
	for _, o := range a.exec.options {
		switch {
		case o.span.at == last: // part of the same cluster
		case o.Names[0] == "--image":
			for _, v := range o.values {
				args = append(args, "--image="+v)
			}
		default:
			args = append(args, c.Args[o.span.at:o.span.at+o.span.n]...)
		}
		last = o.span.at
	}
	return args
}

// codexNotice returns the line that codex writes to stderr before it reads stdin and that a resume
// lacks (recordings/codex/resume-dash).
func (c *Call) codexNotice() string {
	switch {
	case c.Stdin == StdinAppended:
		return "Reading additional input from stdin...\n"
	case c.Stdin == StdinPrompt && c.promptArg < 0:
		return "Reading prompt from stdin...\n"
	}
	return ""
}

// SessionPaths returns the rollout's path: it is under the date of its start, and stays there.
func (codex) SessionPaths(home, _, id string) []string {
	return []string{Literal(home) + "/sessions/*/*/*/rollout-*-" + id + ".jsonl"}
}

// SessionFiles returns the rollout, a single file. A fork does not contain what came before it; its
// first line names the thread it continues (0.169.0, docs/internals/codex.md).
func (codex) SessionFiles(home, id, path string) (SessionFiles, bool) {
	parts := below(home, path, "sessions/*/*/*/rollout-*-"+id+".jsonl")
	if parts == nil {
		return SessionFiles{}, false
	}
	return SessionFiles{
		Paths: []string{strings.Join(parts, "/")},
		Lock:  "thread-writer-locks/" + id + ".lock",
		Forks: []string{"sessions/*/*/*/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"},
	}, true
}

// codexRefusals lists what codex writes when it refuses a resume (CLI-FACTS 2.3,
// recordings/codex/resume-unknown-text and resume-busy-text). The error codes do not distinguish
// these cases.
var codexRefusals = refusals{
	{"already has an active writer", reason.RefusedBusy},
	{"no rollout found", reason.RefusedUnknown},
	{"missing rollout path", reason.RefusedUnknown},
	{"thread not loaded", reason.RefusedUnknown},
	{"not found", reason.RefusedUnknown},
	{"is archived", reason.RefusedUnknown},
	{"(code -32603)", reason.RefusedBroken}, // an empty or unreadable rollout
}

// Refused reads only the last line: there codex says why it gives up, and earlier lines may be the
// prompt. Errors that do not concern the session (trust, limits, logins, network) are no refusals.
func (codex) Refused(stderr string, exit int) reason.Code {
	lines := strings.Split(strings.TrimRight(stderr, "\n"), "\n")
	last := stripEscapes(lines[len(lines)-1])
	about := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(last, w) })
	}
	switch {
	case exit == 2: // a rejected command line; the reason is above its usage
		if strings.Contains(stderr, "unrecognized subcommand 'resume'") {
			return reason.RefusedNoResume
		}
		return reason.RefusedSilent
	case strings.HasPrefix(last, "Failed to read prompt from stdin"):
		return reason.RefusedSilent // stdin is not valid UTF-8: codex itself must read it
	case !strings.HasPrefix(last, "Error: ") || !about("thread", "session", "rollout", "resume"):
		return ""
	}
	return cmp.Or(codexRefusals.in(last), reason.RefusedSilent)
}
