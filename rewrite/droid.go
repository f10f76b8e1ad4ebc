package rewrite

import (
	"slices"
	"strings"

	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// droid is Factory's Droid. Facts in this file were measured with 0.225.2 unless they name another
// version; docs/internals/droid.md lists them all.
//
// A resume is a fork. With --session-id, an unknown ID begins a new session under that very ID, which
// looks like a resume that succeeded; --fork refuses it.
type droid struct{ base }

func init() { Register(droid{}) }

var droidDescriptor = Descriptor{
	Name:       "droid",
	Headless:   []string{"droid", "exec"},
	Unattended: []string{"droid", "exec", "--auto", "high"},
	Managed:    []string{"exec"},
	Servers:    []string{"daemon"},
	// droid exec sets the first for itself, and so for its commands; its pseudo-terminals need the second.
	Nested:    []string{"FACTORY_DISABLE_SETTINGS_PERSISTENCE", "BUN_PTY_LIB"},
	LoginKeys: []string{"FACTORY_API_KEY"},
	Provider:  "factory",

	CannotWrite:    1,
	FileLimitKills: true,

	Home:     droidHome,
	Sessions: []string{"sessions/*/????????-????-????-????-????????????.jsonl"},
	StandIn: StandIn{
		Env: []string{
			"FACTORY_API_KEY=stand-in", "FACTORY_API_BASE_URL=URL", "FACTORY_AIRGAP_ENABLED=true",
			"FACTORY_DROID_AUTO_UPDATE_ENABLED=false", "FACTORY_DISABLE_KEYRING=1", "OTEL_SDK_DISABLED=true",
		},
		Config: ".factory/settings.json",
		Text: `{
  "customModels": [{
    "model": "stand-in", "displayName": "stand-in", "id": "custom:stand-in", "provider": "anthropic",
    "baseUrl": "URL", "apiKey": "stand-in", "maxOutputTokens": 8192
  }],
  "sessionDefaultSettings": {"model": "custom:stand-in"},
  "cloudSessionSync": false
}
`,
	},
}

func (droid) Descriptor() *Descriptor { return &droidDescriptor }

// droidOptions lists every option of droid exec.
var droidOptions = optionTable{
	{[]string{"--add-tools"}, OneValue, setting},
	{[]string{"--append-system-prompt"}, OneValue, setting},
	{[]string{"--append-system-prompt-file"}, OneValue, fileSetting},
	{[]string{"--auto"}, OneValue, setting},
	{[]string{"--cwd"}, OneValue, neutral},
	{[]string{"--disable-builtin-skills"}, NoValue, setting},
	{[]string{"--file", "-f"}, OneValue, unmanaged},
	{[]string{"--fork"}, OneValue, callerOwned},
	{[]string{"--help", "-h"}, NoValue, admin},
	{[]string{"--input-format"}, OneValue, unmanaged},
	{[]string{"--list-tools"}, NoValue, admin},
	{[]string{"--log-group-id"}, OneValue, neutral},
	{[]string{"--mission"}, NoValue, unmanaged},
	{[]string{"--model", "-m"}, OneValue, model},
	{[]string{"--only-tools"}, OneValue, setting},
	{[]string{"--output-format", "-o"}, OneValue, format},
	{[]string{"--reasoning-effort", "-r"}, OneValue, setting},
	{[]string{"--remove-tools"}, OneValue, setting},
	{[]string{"--session-id", "-s"}, OneValue, callerOwned},
	{[]string{"--settings"}, OneValue, fileSetting},
	{[]string{"--skip-permissions-unsafe"}, NoValue, setting},
	{[]string{"--spec-model"}, OneValue, setting},
	{[]string{"--spec-reasoning-effort"}, OneValue, setting},
	{[]string{"--tag"}, OneValue, setting},
	{[]string{"--use-spec"}, NoValue, setting},
	{[]string{"--validator-model"}, OneValue, unmanaged},
	{[]string{"--validator-reasoning-effort"}, OneValue, unmanaged},
	{[]string{"--worker-model"}, OneValue, unmanaged},
	{[]string{"--worker-reasoning-effort"}, OneValue, unmanaged},
	{[]string{"--worktree", "-w"}, OptionalValue, unmanaged},
	{[]string{"--worktree-dir"}, OneValue, unmanaged},
}

// Variables returns droid's own prefixes.
func (droid) Variables() Variables {
	return Variables{
		Settings: []string{"FACTORY_*", "DROID_*"},
		Account:  []string{"FACTORY_API_KEY", "FACTORY_API_BASE_URL*", "FACTORY_ORG_ID"},
		Neutral: []string{
			"FACTORY_HOME_OVERRIDE", "FACTORY_LOG_*", "FACTORY_OTEL_ENABLED", "FACTORY_TELEMETRY_*", "FACTORY_DEBUG_*", "FACTORY_TUI_*",
			"FACTORY_VSCODE_*", "FACTORY_JETBRAINS_*", "FACTORY_DROID_AUTO_UPDATE_ENABLED", "DROID_DISABLE_SOUNDS",
		},
	}
}

func (droid) Parse(in Invocation) Call {
	call := droidDescriptor.newCall(in)
	call.Home = droidHome(in.Env)
	if len(in.Args) == 0 || in.Args[0] != "exec" {
		call.Reason = droidOther(in)
		return call
	}
	call.NoResume = in.Learned.Known && !in.Learned.Resume
	p := parseCommander(in.Args[1:], droidOptions.with(in.Learned))
	call.readDroid(p, in)
	switch call.Reason = droidReason(&call, p, in); call.Reason {
	case "":
		call.Mode = Fresh
		call.SettingsFiles = []string{call.Home + "/settings.json", call.Home + "/settings.local.json", ".factory/settings.json", ".factory/settings.local.json"}
		call.Watched = droidWatched(call.Home)
	case reason.CallerSession:
		if call.Format != Text {
			call.Mode = Observe // its output contains the session ID
		}
	}
	return call
}

// droidOther returns why a call without exec is passed through.
func droidOther(in Invocation) reason.Code {
	switch {
	case len(in.Args) > 0 && slices.Contains(droidDescriptor.Servers, in.Args[0]):
		return reason.AppServer
	case len(in.Args) == 0 || looksLikeOption(in.Args[0]) && in.Args[0] != "--help" && in.Args[0] != "--version":
		return reason.Interactive
	}
	return reason.Admin
}

// readDroid copies into the call every option that does not decide whether it is managed. The options
// come after exec.
func (c *Call) readDroid(p parsedArgs, in Invocation) {
	c.Unknown = p.unknown
	for _, o := range p.options {
		value := strings.Join(o.values, "")
		switch o.Kind {
		case setting, fileSetting:
			c.Settings = append(c.Settings, Setting{Name: o.Names[0], Value: value, File: o.Kind == fileSetting})
		case format:
			c.Format, c.formatArg = Format(value), argSpan{o.span.at + 1, o.span.n}
		case model:
			c.Model = value
		}
		switch o.Names[0] {
		case "--cwd":
			c.Dir = value
		case "--session-id":
			c.SessionID = value
		}
	}
	slices.SortStableFunc(c.Settings, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	if len(p.operands) > 0 {
		c.promptArg = p.operands[0].at + 1
		c.Prompt = c.Args[c.promptArg]
	}
	// Data beside a prompt in argv are dropped (recordings/droid/stdin-and-arg).
	if c.promptArg < 0 && !in.StdinTTY {
		c.Stdin, c.Silence = StdinPrompt, SilenceAwaited
	}
}

// droidHome returns the directory of settings and sessions.
func droidHome(env func(string) string) string {
	if dir := env("FACTORY_HOME_OVERRIDE"); dir != "" {
		return dir + "/.factory"
	}
	return env("HOME") + "/.factory"
}

// droidWatched returns the files that droid reads on its own at the start of a session. The user's
// own droids are missing, since the first run adds some to them.
func droidWatched(home string) []Watch {
	return []Watch{
		{Path: home + "/mcp.json", Name: "~/.factory/mcp.json"},
		{Path: ".factory/mcp.json", Above: true},
		{Path: ".factory/droids/*.md", Above: true},
		{Path: ".factory/skills/*/SKILL.md", Above: true},
		{Path: home + "/skills/*/SKILL.md", Name: "~/.factory/skills"},
		{Path: home + "/AGENTS.md", Name: "~/.factory/AGENTS.md", Guard: reason.InstructionsChanged},
		{Path: "AGENTS.md", Above: true, Guard: reason.InstructionsChanged},
		{Path: "CLAUDE.md", Above: true, Guard: reason.InstructionsChanged},
	}
}

// droidReason returns why the call is not managed, or "".
func droidReason(c *Call, p parsedArgs, in Invocation) reason.Code {
	switch why := c.why(&droidDescriptor, p, in, signs{
		interactive: in.StdoutTTY, // a terminal gets its title before each event
		bad: len(p.operands) > 1 || c.Prompt == "" && c.Stdin != StdinPrompt ||
			!slices.Contains([]Format{Text, JSON, StreamJSON}, c.Format),
	}); {
	case why != "":
		return why
	case prompt.IsSlashCommand(c.Prompt):
		return reason.SlashCommand
	case c.NoResume:
		return reason.NoResume
	}
	return ""
}

// ResolveWithEnv counts the content of the settings, since a session keeps the model that it began with.
func (droid) ResolveWithEnv(c Call, s HostEnv) Call {
	for _, path := range c.SettingsFiles {
		if text, found := s.Settings[path]; found {
			c.Settings = append(c.Settings, jsonSettings(path, text)...)
		}
	}
	c.Copies = true
	return c
}

// ActsOn reports file mentions.
func (droid) ActsOn(text string) bool { return prompt.Mentions(text, '@', true) }

func (droid) HelpArgs() []string { return []string{"exec", "--help"} }

func (droid) Options(help string) Probe { return readProbe(help, "--output-format", "--fork") }

// EffectivePrompt returns stdin as it is, like droid.
func (droid) EffectivePrompt(c Call, stdin string) string {
	if c.Stdin == StdinPrompt {
		return stdin
	}
	return c.Prompt
}

// Plan requests stream-json unless a fresh call's own format has the session's ID: only there a resume
// shows which texts are its own. droid 0.225.2 takes no ID, and the one way to find a session that is known
// (--tag) would change what its service keeps.
func (droid) Plan(c Call, t Target) Plan {
	prompt, whole := t.Prompt()
	plan := Plan{Resume: t.Session(), Copy: t.Copied(), Prompt: prompt, Whole: whole, Asked: t.Asked()}
	front, args := []string{"exec"}, slices.Clone(c.Args)
	if c.Format == Text || c.Format == JSON && plan.Resume != "" {
		front = append(front, c.askStreamJSON(args)...)
	}
	if plan.Resume != "" {
		front = append(front, "--fork="+plan.Resume)
		args = plan.placePrompt(c, t, args)
	}
	plan.Args = append(front, args[1:]...)
	return plan
}

// SessionPaths returns the session's file. Its directory is named after the working directory; an ID
// is there once.
func (droid) SessionPaths(home, _, id string) []string {
	return []string{Literal(home) + "/sessions/*/" + id + ".jsonl"}
}

// SessionFiles returns the session's file and its settings.
func (droid) SessionFiles(home, id, path string) (SessionFiles, bool) {
	parts := below(home, path, "sessions/*/"+id+".jsonl")
	if parts == nil {
		return SessionFiles{}, false
	}
	file := strings.TrimSuffix(strings.Join(parts, "/"), ".jsonl")
	return SessionFiles{Paths: []string{file + ".jsonl", file + ".settings.json", file + ".settings.json.bak"}}, true
}

// Refused reads a run that showed no end: droid refuses to fork an unknown session without a word
// (recordings/droid/fork-unknown).
func (droid) Refused(stderr string, exit int) reason.Code {
	if exit == 1 && strings.TrimSpace(stderr) == "" {
		return reason.RefusedSilent
	}
	return ""
}

// droidRefusals are errors of the model's API.
var droidRefusals = refusals{
	{"prompt is too long", reason.RefusedContext},
	{"maximum context length", reason.RefusedContext},
	{"`tool_use` ids were found without", reason.RefusedBroken},
}
