// Package droid is Factory's Droid as the shim knows it: command line, output, session files. Facts
// here were measured with 0.225.2 unless they name another version; docs/internals/droid.md lists
// them all.
//
// A resume is a fork. With --session-id, an unknown ID begins a new session under that very ID,
// which looks like a resume that succeeded; --fork refuses it.
package droid

import (
	"cmp"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
	"reprise/rewrite/tool/grammar"
)

type droid struct{ base.Base }

func init() { rewrite.Register(tool) }

var tool = droid{base.Base{About: &descriptor, Reads: reads,
	Help: []string{"--output-format", "--fork"}}}

var descriptor = rewrite.Descriptor{
	Name:       "droid",
	Packages:   []string{"droid", "@factory/cli"},
	Unattended: []string{"droid", "exec", "--auto", "high"},
	Managed:    []string{"exec"},
	Servers:    []string{"daemon"},
	// droid exec sets the first for itself, and so for the commands; the pseudo-terminals need the
	// second.
	AwaitsStdin: true,
	Nested:      []string{"FACTORY_DISABLE_SETTINGS_PERSISTENCE", "BUN_PTY_LIB"},

	CannotWrite:    1,
	FileLimitKills: true,

	Hooks: rewrite.Hooks{
		Prompt: []string{"UserPromptSubmit"}, Start: []string{"SessionStart"},
		Sources: []string{"startup", "resume"},
		Plugins: "enabledPlugins",
	},

	Home: base.Home("FACTORY_HOME_OVERRIDE", "", "/.factory"),
	// The directory of a session is named after the working directory; an ID is there once.
	Paths: []string{"sessions/*/{id}.jsonl"},
	Files: rewrite.SessionFiles{Paths: []string{"{file}", "{own}.settings.json",
		"{own}.settings.json.bak"}},
	Variables: rewrite.Variables{
		Settings: []string{"FACTORY_*", "DROID_*"},
		Account:  []string{"FACTORY_API_KEY", "FACTORY_API_BASE_URL*", "FACTORY_ORG_ID"},
		Neutral: []string{
			"FACTORY_HOME_OVERRIDE", "FACTORY_LOG_*", "FACTORY_OTEL_ENABLED", "FACTORY_TELEMETRY_*",
			"FACTORY_DEBUG_*", "FACTORY_TUI_*", "FACTORY_VSCODE_*", "FACTORY_JETBRAINS_*",
			"FACTORY_DROID_AUTO_UPDATE_ENABLED", "DROID_DISABLE_SOUNDS",
		},
	},
}

// options lists every option of droid exec.
var options = grammar.Options{
	{grammar.Setting, rewrite.NoValue, `--disable-builtin-skills --skip-permissions-unsafe
		--use-spec`},
	{grammar.Setting, rewrite.OneValue, `--add-tools --append-system-prompt --auto --only-tools
		--reasoning-effort|-r --remove-tools --spec-model --spec-reasoning-effort --tag`},
	{grammar.FileSetting, rewrite.OneValue, `--append-system-prompt-file --settings`},
	{grammar.Model, rewrite.OneValue, `--model|-m`},
	{grammar.Format, rewrite.OneValue, `--output-format|-o`},
	{grammar.Neutral, rewrite.OneValue, `--cwd --log-group-id`},
	{grammar.CallerOwned, rewrite.OneValue, `--fork --session-id|-s`},
	{grammar.Unmanaged, rewrite.NoValue, `--mission`},
	{grammar.Unmanaged, rewrite.OneValue, `--file|-f --input-format --validator-model
		--validator-reasoning-effort --worker-model --worker-reasoning-effort --worktree-dir`},
	{grammar.Unmanaged, rewrite.OptionalValue, `--worktree|-w`},
	{grammar.Admin, rewrite.NoValue, `--help|-h --list-tools`},
}

func (d droid) Parse(in rewrite.Input) rewrite.CommandLine {
	if why := other(in.Args); why != "" {
		c := d.Read(grammar.Args{}, in)
		c.Reason = why
		return c
	}
	p := grammar.Commander(in.Args, options.With(in.Learned))
	c := d.Read(p, in)
	c.Dir, c.SessionID = p.Value("--cwd", ""), p.Value("--session-id", "")
	if len(p.Operands) > 1 { // the first is exec
		c.PromptArgs, c.Prompt = p.Operands[1:2], in.Args[p.Operands[1].At]
	}
	// Data beside a prompt in argv are dropped (recordings/droid/stdin-and-arg).
	c.Stdin = base.Stdin(in, len(c.PromptArgs) > 0, rewrite.StdinUnused)
	d.Complete(&c, p, in, base.Signs{
		Interactive: in.StdoutTTY, // a terminal gets the title before each event
		Bad:         len(p.Operands) > 2 || c.Prompt == "" && c.Stdin != rewrite.StdinPrompt,
		Last: cmp.Or(base.When(prompt.IsSlashCommand(c.Prompt), reason.SlashCommand),
			base.When(in.Learned.Known && !in.Learned.Resume, reason.NoResume)),
	})
	if path := in.Env("FACTORY_ORG_MANAGED_SETTINGS_LOCAL_PATH"); path != "" {
		c.HookFiles = append(c.HookFiles, rewrite.Watch{Path: path})
	}
	return c
}

// other returns why a call without exec is passed through, or "".
func other(args []string) reason.Code {
	switch {
	case len(args) == 0, grammar.LooksLikeOption(args[0]) && args[0] != "--help" &&
		args[0] != "--version":
		return reason.Interactive
	case args[0] == "exec":
		return ""
	case slices.Contains(descriptor.Servers, args[0]):
		return reason.AppServer
	}
	return reason.NotManaged
}

// The user's own droids are missing, since the first run adds some to them. An organization's
// settings are a copy (0.225.2), or the file that a variable names.
var reads = base.Reads{
	Home:     "~/.factory",
	Settings: []string{"{~,.factory}/settings{,.local}.json"},
	Hooks: []string{"^/.factory/settings{,.local}.json", "{--settings}",
		"~/{,cache/}org-managed-settings.json", "~/org-managed-settings.cache.json",
		"{~,^/.factory}/{,plugins/cache/*/*/*/}{hooks,hooks/hooks}.json",
		"{~,^/.factory}/plugins/cache/*/*/*/{.factory-plugin,.claude-plugin}/plugin.json"},
	Watched: base.Watched{
		{"", []string{"{~,^/.factory}/mcp.json", "^/.factory/droids/*.md",
			"{~,^/.factory}/skills/*/SKILL.md"}},
		{reason.InstructionsChanged, []string{"{~,^}/AGENTS.md", "^/CLAUDE.md"}},
	},
}

// ResolveWithEnv counts the content of the settings, since a session keeps the model that it began
// with.
func (droid) ResolveWithEnv(c rewrite.CommandLine, s rewrite.HostEnv) rewrite.CommandLine {
	for _, f := range s.Settings {
		c.Settings = append(c.Settings, rewrite.JSONSettings(f.Path, f.Text)...)
	}
	c.ReadHooks(descriptor.Hooks, s, nil)
	c.Copies = true
	return c
}

// Plan requests stream-json unless a fresh call's own format has the session's ID: only there a
// resume shows which texts are its own. droid 0.225.2 takes no ID, and the one way to find a
// session that is known (--tag) would change the data that the service keeps.
func (droid) Plan(c rewrite.CommandLine, t rewrite.Target) rewrite.Plan {
	plan := t.Plan(c)
	var added []string
	if c.Format == rewrite.Text || c.Format == rewrite.JSON && plan.Resume != "" {
		added = askStreamJSON(&c, plan.Args)
	}
	if plan.Resume != "" {
		added = append(added, "--fork="+plan.Resume)
	}
	base.Add(&plan, c, "", added...)
	return plan
}

// Refused reads a run that showed no end: droid refuses to fork an unknown session without a word
// (recordings/droid/fork-unknown).
func (droid) Refused(stderr string, exit int) reason.Code {
	if exit == 1 && strings.TrimSpace(stderr) == "" {
		return reason.RefusedSilent
	}
	return ""
}

var failures = base.WithStatus("%d ", base.Causes{{"Connection error.", reason.Unreachable}})

// refusals are errors of the model's API.
var refusals = base.Causes{
	{"prompt is too long", reason.RefusedContext},
	{"maximum context length", reason.RefusedContext},
	{"`tool_use` ids were found without", reason.RefusedBroken},
}

// askStreamJSON replaces the caller's output format in args by stream-json. It returns the option
// to add if the caller has given none.
func askStreamJSON(c *rewrite.CommandLine, args []string) (added []string) {
	const option = "--output-format=stream-json"
	switch c.FormatArg.N {
	case 0:
		return []string{option}
	case 1:
		args[c.FormatArg.At] = option
	default:
		args[c.FormatArg.At+1] = "stream-json"
	}
	return nil
}
