// Package vibe is Mistral Vibe as the shim knows it: command line, output, session files. Facts
// here were measured with 3.0.3 unless they name another version; docs/internals/vibe.md lists them
// all.
//
// A call runs in the caller's format, text included: no format shows that a run has failed, so text
// rendered from another format could be wrong. Facts that the output lacks are read from the files
// that vibe writes to --output-dir.
package vibe

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
	"reprise/rewrite/tool/grammar"
)

type vibe struct{ base.Base }

func init() { rewrite.Register(tool) }

var tool = vibe{base.Base{About: &descriptor, Reads: reads, Help: []string{"--prompt", "--resume"},
	Formats: map[string]rewrite.Format{"text": rewrite.Text, "json": rewrite.JSON,
		"streaming": rewrite.StreamJSON}}}

var descriptor = rewrite.Descriptor{
	Name:        "vibe",
	Unattended:  []string{"vibe", "--auto-approve", "-p"},
	Subcommands: []string{"mcp", "config", "help", "update", "run-server"},
	Alone:       []string{"--help", "-h", "--version", "-v", "--check-upgrade", "--setup"},
	// Set by vibe's launcher, which overrides an earlier value: only vibe's own children have it.
	AwaitsStdin: true,
	Nested:      []string{"VIBE_APP_SERVER_BIN"},

	CannotWrite: 2,

	Home: store,
	// A session keeps the files of the last two generations, named by number, and each run begins a
	// new one. The last journal is empty after a run, and grows or disappears if another process
	// continues the session. vibe 3.0.3 resumes it only with the plugins that it began with; it
	// keeps manifests and contents under their digests. Checked-out files and runnable copies (.x)
	// it makes again.
	Paths: []string{"unified/{id}/journal/*.jsonl"},
	Files: rewrite.SessionFiles{
		Paths:  []string{"unified/{id}"},
		Common: []string{"plugins/blobs/*/*[0-9a-f]", "plugins/manifests/*/*[0-9a-f]"},
		Lock:   "active/{id}.lock",
	},
	Travels: true,
	// vibe reads any configuration key from VIBE_KEY.
	Variables: rewrite.Variables{
		Settings: []string{"VIBE_*"},
		Account:  []string{"MISTRAL_*", "VIBE_VIBE_BASE_URL"},
		Model:    []string{"VIBE_ACTIVE_MODEL"},
		Neutral: []string{
			"VIBE_HOME", "VIBE_CWD", "VIBE_SESSION_LOGGING", "VIBE_ENABLE_TELEMETRY", "VIBE_LOG_*",
		},
	},
}

// options lists every option of vibe 3.0.3: those in --help, and the hidden ones.
var options = grammar.Options{
	{grammar.Setting, rewrite.NoValue, `--auto-approve|--yolo --smart-approve --trust`},
	{grammar.Setting, rewrite.OneValue, `--add-dir --agent --disabled-tools --enabled-tools`},
	{grammar.Format, rewrite.OneValue, `--output`},
	{grammar.Neutral, rewrite.OneValue, `--max-price --max-tokens --max-turns --output-dir
		--time-limit --workdir`},
	{grammar.Neutral, rewrite.OptionalValue, `--prompt|-p`},
	{grammar.CallerOwned, rewrite.NoValue, `--continue|-c`},
	{grammar.CallerOwned, rewrite.OptionalValue, `--resume`},
	{grammar.Unmanaged, rewrite.NoValue, `--teleport`},
	{grammar.Unmanaged, rewrite.OneValue, `--agent-socket --prompt-file`},
	{grammar.Unmanaged, rewrite.OptionalValue, `--worktree`},
	{grammar.Admin, rewrite.NoValue, `--check-upgrade --help|-h --setup --version|-v`},
}

// Parse reads a command line. If an option occurs twice, the last counts.
func (v vibe) Parse(in rewrite.Input) rewrite.CommandLine {
	p, _ := grammar.Clap(in.Args, 0, options.With(in.Learned), func(string) bool { return false })
	c := v.Read(p, in)
	c.Dir, c.Prompt = p.Value("--workdir", in.Env("VIBE_CWD")), p.Value("--prompt", "")
	c.Own = p.Value("--output-dir", "")
	if c.Prompt != "" {
		c.PromptArgs = p.Spans("--prompt")
	}
	// Data beside a prompt in argv are dropped (recordings/vibe/stdin-and-arg).
	c.Stdin = base.Stdin(in, c.Prompt != "", rewrite.StdinUnused)
	s := base.Signs{
		Command: slices.ContainsFunc(p.Operands, func(s rewrite.Span) bool {
			return slices.Contains(descriptor.Subcommands, in.Args[s.At])
		}),
		Interactive: (in.StdoutTTY || p.Unknown == "") && !p.Names("--prompt") &&
			!p.Names("--prompt-file"),
		Bad:      len(p.Operands) > 1 || c.Prompt == "" && in.StdinTTY,
		Last:     base.When(prompt.IsSlashCommand(c.Prompt), reason.SlashCommand),
		Nameless: c.Format == rewrite.JSON,
	}
	if base.Own[string](c) != "" && c.Format == rewrite.Text {
		s.Unmanaged = "--output-dir" // no ID that certainly belongs to this call: see File
	}
	v.Complete(&c, p, in, s)
	return c
}

// store returns the directory that holds the sessions. VIBE_SESSION_LOGGING can move it out of
// VIBE_HOME, so that sessions survive a caller that makes a new VIBE_HOME for each call.
func store(env func(string) string) string {
	var logging struct {
		SaveDir string `json:"save_dir"`
	}
	// vibe itself rejects anything but JSON.
	if json.Unmarshal([]byte(env("VIBE_SESSION_LOGGING")), &logging) == nil &&
		logging.SaveDir != "" {
		if below, ok := strings.CutPrefix(logging.SaveDir, "~/"); ok {
			return env("HOME") + "/" + below
		}
		return logging.SaveDir
	}
	return home(env) + "/logs/session"
}

var home = base.Home("VIBE_HOME", "/.vibe", "")

// .env contains the key.
var reads = base.Reads{
	Home: "~/.vibe",
	Dir:  home,
	Settings: []string{"~/config.toml", "~/agents/{--agent}.toml",
		".vibe/config.toml", ".vibe/agents/{--agent}.toml"},
	Watched: base.Watched{
		{reason.AuthChanged, []string{"~/.env"}},
		{reason.InstructionsChanged, []string{"~/{AGENTS,instructions}.md",
			"{~,.vibe}/prompts/*.md", "^/{AGENTS,VIBE}.md"}},
		{"", []string{".vibe/agents/*.toml"}},
	},
}

// ResolveWithEnv passes through versions before 2.26.1, after 3 and unknown ones: older ones reject
// --output-dir, others have not been measured. The content of the configuration counts as settings,
// since a session keeps the model it began with, whatever the configuration says now
// (recordings/vibe/resume-model-changed).
func (vibe) ResolveWithEnv(c rewrite.CommandLine, s rewrite.HostEnv) rewrite.CommandLine {
	if s.Version == "" || !base.AtLeast(s.Version, 2, 26, 1) || base.AtLeast(s.Version, 4) {
		c.Mode, c.Reason = rewrite.Passthrough, reason.NoResume
		return c
	}
	for _, f := range s.Settings {
		// By the name alone: a caller can move VIBE_HOME with each call.
		c.Settings = append(c.Settings, rewrite.Setting{Name: path.Base(f.Path), Value: f.Text})
	}
	return c
}

// ActsOn reports file mentions ("@"), and skills ("$NAME").
func (v vibe) ActsOn(text string) bool {
	return v.Base.ActsOn(text) || base.Mentions(text, '$', false)
}

// EffectivePrompt trims stdin but not argv, as vibe does.
func (v vibe) EffectivePrompt(c rewrite.CommandLine, stdin string) string {
	return v.Base.EffectivePrompt(c, strings.TrimSpace(stdin))
}

// export is the file in --output-dir that says how a run ended, checkpoint a file of the
// session's copy beside it.
const (
	export     = "export.json"
	checkpoint = "checkpoint.json"
)

// Plan adds a private --output-dir, which changes nothing else in vibe's behavior
// (recordings/vibe/output-dir-*). The values of added options are attached, since they also work
// without one.
func (vibe) Plan(c rewrite.CommandLine, t rewrite.Target) rewrite.Plan {
	plan := t.Plan(c)
	var added []string
	if dir := base.Own[string](c); dir != "" {
		plan.Follow = []rewrite.Follow{{Dir: dir, Name: export}}
	} else {
		added = append(added, "--output-dir="+rewrite.Scratch)
		plan.Follow = []rewrite.Follow{{Dir: rewrite.Scratch, Name: export},
			{Dir: rewrite.Scratch, Name: checkpoint}}
	}
	if plan.Resume != "" {
		added = append(added, "--resume="+plan.Resume)
	}
	base.Add(&plan, c, "--prompt", added...)
	if plan.Stdin != "" {
		plan.Prompt = strings.TrimSpace(plan.Prompt) // as vibe does
		plan.Stdin = plan.Prompt
		if c.Stdin != rewrite.StdinPrompt { // it was in argv, and is too long now
			plan.Args = append(plan.Args, "--prompt")
		}
	}
	return plan
}

// refusals lists how vibe's messages begin when it refuses a resume.
var refusals = base.Causes{
	{"Session not found: ", reason.RefusedUnknown},
	{"Session is already open: ", reason.RefusedBusy},
	{"Session logging is disabled.", reason.RefusedUnknown},
	{"The session's pinned plugin environment could not be rebuilt", reason.RefusedBroken},
	{"Invalid Unified session store: ", reason.RefusedBroken},
}

// Refused reads a run that left no export. A message of the API can repeat any words: only the
// beginning of a line counts.
func (vibe) Refused(stderr string, exit int) (why reason.Code) {
	for line := range strings.Lines(stderr) {
		text, isError := strings.CutPrefix(line, "Error: ")
		why = cmp.Or(why, base.When(isError && exit != 0, refusals.Begins(text)))
	}
	return why
}
