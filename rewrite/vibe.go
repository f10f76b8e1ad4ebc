package rewrite

import (
	"encoding/json"
	"slices"
	"strings"

	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// vibe is Mistral Vibe. Facts in this file were measured with 3.0.3 unless they name another
// version; docs/internals/vibe.md lists them all.
//
// A call runs in the caller's format, text included: no format shows that a run has failed, so text
// rendered from another format could be wrong. What the output lacks is read from the files that
// vibe writes to --output-dir.
type vibe struct{ base }

func init() { Register(vibe{}) }

var vibeDescriptor = Descriptor{
	Name:        "vibe",
	Headless:    []string{"vibe", "-p"},
	Unattended:  []string{"vibe", "--auto-approve", "-p"},
	Subcommands: []string{"mcp", "config", "help", "update", "run-server"},
	Alone:       []string{"--help", "-h", "--version", "-v", "--check-upgrade", "--setup"},
	// Set by vibe's launcher, which overrides an earlier value: only vibe's own children have it.
	Nested:   []string{"VIBE_APP_SERVER_BIN"},
	Provider: "mistral_ai",

	CannotWrite: 2,

	Home:     vibeStore,
	Sessions: []string{"unified/*/meta.json", "session_*/meta.json"},
	Travels:  true,
	StandIn: StandIn{
		Env:    []string{"VIBE_HOME=HOME/.vibe", "MISTRAL_API_KEY=stand-in"},
		Config: ".vibe/config.toml",
		// The provider is vibe's default at another address. vibe 3.0.3 would retry for five
		// minutes.
		Text: `active_model = "stand-in"
vibe_base_url = "URL"
console_base_url = "URL"
vibe_code_sessions_base_url = "URL"
api_retry_max_elapsed_time = 0.0
enable_telemetry = false
enable_update_checks = false
enable_auto_update = false
enable_connectors = false

[[providers]]
name = "mistral"
api_base = "URL/v1"
api_key_env_var = "MISTRAL_API_KEY"
backend = "mistral"

[[models]]
name = "stand-in"
provider = "mistral"
alias = "stand-in"
input_price = 1.5
output_price = 7.5
cached_input_price = 0.15
`,
	},
}

func (vibe) Descriptor() *Descriptor { return &vibeDescriptor }

// vibeOptions lists every option of vibe 3.0.3: those in --help, and the hidden ones.
var vibeOptions = optionTable{
	{[]string{"--add-dir"}, OneValue, setting},
	{[]string{"--agent"}, OneValue, setting},
	{[]string{"--agent-socket"}, OneValue, unmanaged},
	{[]string{"--auto-approve", "--yolo"}, NoValue, setting},
	{[]string{"--check-upgrade"}, NoValue, admin},
	{[]string{"--continue", "-c"}, NoValue, callerOwned},
	{[]string{"--disabled-tools"}, OneValue, setting},
	{[]string{"--enabled-tools"}, OneValue, setting},
	{[]string{"--help", "-h"}, NoValue, admin},
	{[]string{"--max-price"}, OneValue, neutral},
	{[]string{"--max-tokens"}, OneValue, neutral},
	{[]string{"--max-turns"}, OneValue, neutral},
	{[]string{"--output"}, OneValue, format},
	{[]string{"--output-dir"}, OneValue, neutral},
	{[]string{"--prompt", "-p"}, OptionalValue, neutral},
	{[]string{"--prompt-file"}, OneValue, unmanaged},
	{[]string{"--resume"}, OptionalValue, callerOwned},
	{[]string{"--setup"}, NoValue, admin},
	{[]string{"--smart-approve"}, NoValue, setting},
	{[]string{"--teleport"}, NoValue, unmanaged},
	{[]string{"--time-limit"}, OneValue, neutral},
	{[]string{"--trust"}, NoValue, setting},
	{[]string{"--version", "-v"}, NoValue, admin},
	{[]string{"--workdir"}, OneValue, neutral},
	{[]string{"--worktree"}, OptionalValue, unmanaged},
}

// Variables returns the prefix VIBE_: vibe reads any configuration key from VIBE_KEY.
func (vibe) Variables() Variables {
	return Variables{
		Settings: []string{"VIBE_*"},
		Account:  []string{"MISTRAL_*", "VIBE_VIBE_BASE_URL"},
		Neutral: []string{
			"VIBE_ACTIVE_MODEL", // already counted as the call's model
			"VIBE_HOME", "VIBE_CWD", "VIBE_SESSION_LOGGING", "VIBE_ENABLE_TELEMETRY", "VIBE_LOG_*",
		},
	}
}

// vibeOwn is what vibe's calls have of their own: the caller's --output-dir.
type vibeOwn struct{ outputDir string }

func vibeOutputDir(c Call) string {
	own, _ := c.Own.(vibeOwn)
	return own.outputDir
}

func (v vibe) Parse(in Invocation) Call {
	call := vibeDescriptor.newCall(in)
	p, _ := parseClap(in.Args, 0, vibeOptions.with(in.Learned), func(string) bool { return false })
	call.readVibe(p, in)
	switch call.Reason = vibeReason(&call, p, in); call.Reason {
	case "":
		call.Mode = Fresh
	case reason.CallerSession:
		if call.Format == StreamJSON {
			call.Mode = Observe // each output line contains the session ID
		}
	}
	return call
}

// vibeFormats are the values of --output.
var vibeFormats = map[string]Format{"text": Text, "json": JSON, "streaming": StreamJSON}

// readVibe copies into the call every option that does not decide whether it is managed. If an
// option occurs twice, the last counts.
func (c *Call) readVibe(p parsedArgs, in Invocation) {
	c.Unknown, c.Dir, c.Model = p.unknown, in.Env("VIBE_CWD"), in.Env("VIBE_ACTIVE_MODEL")
	agent := ""
	for _, o := range p.options {
		value := strings.Join(o.values, "")
		switch o.Kind {
		case setting:
			c.Settings = append(c.Settings, Setting{Name: o.Names[0], Value: value})
		case format:
			c.Format = vibeFormats[value]
		case callerOwned:
			c.SessionID = value
		}
		switch o.Names[0] {
		case "--prompt":
			c.Prompt = value
			c.promptArgs = append(c.promptArgs, o.span)
		case "--workdir":
			c.Dir = value
		case "--output-dir":
			c.Own = vibeOwn{value}
		case "--agent":
			agent = value
		}
	}
	slices.SortStableFunc(c.Settings, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	c.Home = vibeStore(in.Env)
	c.SettingsFiles = vibeSettingsFiles(agent, c.Dir, in.Env)
	c.Watched = vibeWatched(vibeHome(in.Env))
	// Data beside a prompt in argv are dropped (recordings/vibe/stdin-and-arg).
	if c.Prompt == "" && !in.StdinTTY {
		c.Stdin, c.Silence = StdinPrompt, SilenceAwaited
	}
}

// vibeStore returns the directory that holds the sessions. VIBE_SESSION_LOGGING can move it out of
// VIBE_HOME, so that sessions survive a caller that makes a new VIBE_HOME for each call.
func vibeStore(env func(string) string) string {
	var logging struct {
		SaveDir string `json:"save_dir"`
	}
	// vibe itself rejects anything but JSON.
	if json.Unmarshal([]byte(env("VIBE_SESSION_LOGGING")), &logging) == nil && logging.SaveDir != "" {
		if below, ok := strings.CutPrefix(logging.SaveDir, "~/"); ok {
			return env("HOME") + "/" + below
		}
		return logging.SaveDir
	}
	return vibeHome(env) + "/logs/session"
}

func vibeHome(env func(string) string) string {
	if dir := env("VIBE_HOME"); dir != "" {
		return dir
	}
	return env("HOME") + "/.vibe"
}

// vibeSettingsFiles returns the user's and the project's configuration, and the agent's file if one
// is named.
func vibeSettingsFiles(agent, dir string, env func(string) string) []string {
	if dir == "" {
		dir = "."
	}
	var files []string
	for _, folder := range []string{vibeHome(env), dir + "/.vibe"} {
		files = append(files, folder+"/config.toml")
		if agent != "" {
			files = append(files, folder+"/agents/"+agent+".toml")
		}
	}
	return files
}

// vibeWatched returns the files that vibe reads on its own at the start of a session. .env contains
// its key.
func vibeWatched(home string) []Watch {
	return []Watch{
		{Path: home + "/.env", Name: "~/.vibe/.env", Guard: reason.AuthChanged},
		{Path: home + "/AGENTS.md", Name: "~/.vibe/AGENTS.md", Guard: reason.InstructionsChanged},
		{Path: home + "/instructions.md", Name: "~/.vibe/instructions.md", Guard: reason.InstructionsChanged},
		{Path: home + "/prompts/*.md", Name: "~/.vibe/prompts", Guard: reason.InstructionsChanged},
		{Path: ".vibe/prompts/*.md", Guard: reason.InstructionsChanged},
		{Path: "AGENTS.md", Above: true, Guard: reason.InstructionsChanged},
		{Path: "VIBE.md", Above: true, Guard: reason.InstructionsChanged},
		{Path: ".vibe/agents/*.toml"},
	}
}

// vibeReason returns why the call is not managed, or "".
func vibeReason(c *Call, p parsedArgs, in Invocation) reason.Code {
	isCommand := func(s argSpan) bool { return slices.Contains(vibeDescriptor.Subcommands, c.Args[s.at]) }
	switch why := c.why(&vibeDescriptor, p, in, signs{
		command:     slices.ContainsFunc(p.operands, isCommand),
		interactive: (in.StdoutTTY || p.unknown == "") && !p.names("--prompt") && !p.names("--prompt-file"),
		bad:         len(p.operands) > 1 || c.Format == "",
	}); {
	case why != "":
		return why
	case vibeOutputDir(*c) != "" && c.Format == Text:
		c.Unmanaged = "--output-dir"
		return reason.UnmanagedOption // no ID that certainly belongs to this call: see File
	case c.Prompt == "" && in.StdinTTY:
		return reason.BadUsage
	case prompt.IsSlashCommand(c.Prompt):
		return reason.SlashCommand
	}
	return ""
}

// ResolveWithEnv passes through versions before 2.26.1, after 3 and unknown ones: older ones reject
// --output-dir, others have not been measured. The content of the configuration counts as settings,
// since a session keeps the model it began with, whatever the configuration says now
// (recordings/vibe/resume-model-changed).
func (vibe) ResolveWithEnv(c Call, s HostEnv) Call {
	if s.Version == "" || !atLeast(s.Version, 2, 26, 1) || atLeast(s.Version, 4) {
		c.Mode, c.Reason, c.NoResume = Passthrough, reason.NoResume, true
		return c
	}
	for _, path := range c.SettingsFiles {
		if text, found := s.Settings[path]; found {
			// By its name alone: a caller may move VIBE_HOME with each call.
			c.Settings = append(c.Settings, Setting{Name: path[strings.LastIndex(path, "/")+1:], Value: text})
		}
	}
	return c
}

// ActsOn reports file mentions ("@").
func (vibe) ActsOn(text string) bool {
	return prompt.Mentions(text, '@', true) || prompt.Mentions(text, '$', false)
}

func (vibe) Options(help string) Probe { return readProbe(help, "--prompt", "--resume") }

// EffectivePrompt trims stdin but not argv, as vibe does.
func (vibe) EffectivePrompt(c Call, stdin string) string {
	if c.Stdin == StdinPrompt {
		return strings.TrimSpace(stdin)
	}
	return c.Prompt
}

// vibeExport is the file in --output-dir that says how a run ended, vibeCheckpoint a file of the
// session's copy beside it.
const (
	vibeExport     = "export.json"
	vibeCheckpoint = "checkpoint.json"
)

// Plan adds a private --output-dir, which changes nothing else in vibe's behavior
// (recordings/vibe/output-dir-*). A resume gets the new prompt in place of the caller's. Added
// options come first, before any "--". Their values are attached, since both options also work
// without one.
func (vibe) Plan(c Call, t Target) Plan {
	prompt, whole := t.Prompt()
	plan := Plan{Resume: t.Session(), Prompt: prompt, Whole: whole, Asked: t.Asked(), Args: slices.Clone(c.Args)}
	if plan.Resume != "" {
		plan.resumeVibe(c)
	}
	if dir := vibeOutputDir(c); dir != "" {
		plan.Follow = []Follow{{Dir: dir, Name: vibeExport}}
		return plan
	}
	plan.Args = append([]string{"--output-dir", Scratch}, plan.Args...)
	plan.Follow = []Follow{{Dir: Scratch, Name: vibeExport}, {Dir: Scratch, Name: vibeCheckpoint}}
	return plan
}

func (p *Plan) resumeVibe(c Call) {
	for _, span := range slices.Backward(c.promptArgs) {
		p.Args = slices.Delete(p.Args, span.at, span.at+span.n)
	}
	front := []string{"--prompt=" + p.Prompt, "--resume=" + p.Resume}
	if c.Stdin == StdinPrompt || len(p.Prompt) > longestArg {
		front[0] = "--prompt"
		p.Prompt = strings.TrimSpace(p.Prompt) // as vibe does
		p.Stdin, p.HasStdin = p.Prompt, true
	}
	p.Args = append(front, p.Args...)
}

// SessionPaths returns journals of the session; home is the directory of sessions. A session keeps
// the files of its last two generations, named by number, and each run begins a new one. The last
// journal is empty after a run, and grows or disappears if another process continues the session.
func (vibe) SessionPaths(home, cwd, id string) []string {
	return []string{Literal(home) + "/unified/" + id + "/journal/*.jsonl"}
}

// SessionFiles returns the session's directory. vibe 3.0.3 resumes it only with the plugins that it
// began with, of which it keeps manifests and contents under their digests. What it checks out from
// them, and runnable copies (.x), it makes again.
func (vibe) SessionFiles(home, id, path string) (SessionFiles, bool) {
	if below(home, path, "unified/"+id+"/journal/*.jsonl") == nil {
		return SessionFiles{}, false
	}
	return SessionFiles{
		Paths:  []string{"unified/" + id},
		Common: []string{"plugins/blobs/*/*[0-9a-f]", "plugins/manifests/*/*[0-9a-f]"},
		Lock:   "active/" + id + ".lock",
	}, true
}

// vibeRefusals lists how vibe's messages begin when it refuses a resume.
var vibeRefusals = refusals{
	{"Session not found: ", reason.RefusedUnknown},
	{"Session is already open: ", reason.RefusedBusy},
	{"Session logging is disabled.", reason.RefusedUnknown},
	{"The session's pinned plugin environment could not be rebuilt", reason.RefusedBroken},
	{"Invalid Unified session store: ", reason.RefusedBroken},
}

// Refused reads a run that left no export. An unknown message is no refusal: vibe's other errors
// come from the API.
func (vibe) Refused(stderr string, exit int) reason.Code {
	if exit == 0 {
		return ""
	}
	for line := range strings.Lines(stderr) {
		if text, ok := strings.CutPrefix(line, "Error: "); ok {
			if reason := vibeRefusals.find(text, strings.HasPrefix); reason != "" {
				return reason
			}
		}
	}
	return ""
}
