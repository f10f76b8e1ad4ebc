// Package qwen is Qwen Code as the shim knows it: command line, output, session files. Facts here
// were measured with 0.24.4 unless they name another version; docs/internals/qwen.md lists them
// all.
package qwen

import (
	"cmp"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
	"reprise/rewrite/tool/grammar"
)

type qwen struct{ base.Base }

func init() { rewrite.Register(tool) }

var tool = qwen{base.Base{About: &descriptor, Reads: reads, Refusals: refusals,
	Help: []string{"--prompt", "--resume"}, Yargs: true}}

var descriptor = rewrite.Descriptor{
	Name:       "qwen",
	Packages:   []string{"@qwen-code/qwen-code"},
	Unattended: []string{"qwen", "--yolo", "-p"},
	Subcommands: []string{"auth", "board", "channel", "extensions", "hooks", "hook", "mcp",
		"review", "sandbox", "sessions", "update"},
	Servers: []string{"serve"},
	Alone:   []string{"--help", "-h", "--version", "-v"},
	Nested:  []string{"QWEN_CODE"}, // set by the shell tool
	Home:    home,
	// The directory of sessions is named as claude's. The files are those that qwen itself deletes
	// with a session.
	Paths: []string{"projects/{dir}/chats/{id}.jsonl", "projects/*/chats/{id}.jsonl"},
	Files: rewrite.SessionFiles{Paths: []string{"{file}", "{own}.worktree.json", "{own}.pr.json",
		"{own}.ledger.jsonl", "file-history/{id}"}},
	Hooks: rewrite.Hooks{
		Prompt:  []string{"UserPromptSubmit", "UserPromptExpansion"},
		Start:   []string{"SessionStart"},
		Sources: []string{"startup", "resume"}, Off: "disableAllHooks",
	},
	CacheByText: true, // implicit caching of DashScope
	Variables: rewrite.Variables{
		Settings: []string{"QWEN_*", "ENABLE_WEB_SEARCH", "WEB_SEARCH_*"},
		Account: []string{"OPENAI_*", "DASHSCOPE_*", "ANTHROPIC_*", "GEMINI_*", "QWEN_OAUTH",
			"QWEN_API_KEY", "QWEN_CUSTOM_API_KEY_*", "QWEN_BASE_URL"},
		Model: []string{"OPENAI_MODEL", "QWEN_MODEL"},
		Neutral: []string{
			"QWEN_HOME", "QWEN_RUNTIME_DIR", "QWEN_TELEMETRY_*", "QWEN_DEBUG_LOG_FILE",
			"QWEN_CODE_IDE_*", "QWEN_CODE_SUPPRESS_YOLO_WARNING", "QWEN_CODE_PROFILE_*",
		},
	},
}

// options lists every option of qwen 0.24.4, the hidden ones included. ManyValues are yargs
// arrays, with one value per occurrence.
var options = grammar.Options{
	{grammar.Setting, rewrite.NoValue, `--bare --experimental-lsp --insecure --safe-mode
		--sandbox|-s --screen-reader --yolo|-y`},
	{grammar.Setting, rewrite.OneValue, `--append-system-prompt --approval-mode --auth-type
		--channel --json-schema --max-subagent-depth --openai-api-key --openai-base-url
		--output-style --proxy --sandbox-image --system-prompt`},
	{grammar.Setting, rewrite.ManyValues, `--allowed-mcp-server-names --allowed-tools --core-tools
		--disabled-slash-commands --exclude-tools --extensions|-e --fallback-model
		--include-directories|--add-dir`},
	{grammar.FileSetting, rewrite.OneValue, `--mcp-config`},
	{grammar.Model, rewrite.OneValue, `--model|-m`},
	{grammar.Format, rewrite.OneValue, `--output-format|-o`},
	{grammar.StreamOnly, rewrite.NoValue, `--include-partial-messages`},
	// --chat-recording: turned off, it is an opt-out.
	{grammar.Neutral, rewrite.NoValue, `--chat-recording --debug|-d --openai-logging --telemetry
		--telemetry-log-prompts`},
	{grammar.Neutral, rewrite.OneValue, `--input-format --max-session-turns --max-tool-calls
		--max-wall-time --openai-logging-dir --prompt|-p --telemetry-otlp-endpoint
		--telemetry-otlp-protocol --telemetry-outfile --telemetry-target`},
	{grammar.CallerOwned, rewrite.NoValue, `--continue|-c --fork-session`},
	{grammar.CallerOwned, rewrite.OneValue, `--sandbox-session-id --session-id`},
	{grammar.CallerOwned, rewrite.OptionalValue, `--resume|-r`},
	{grammar.Unmanaged, rewrite.NoValue, `--restore-ask-user-question`},
	{grammar.Unmanaged, rewrite.OneValue, `--input-file --json-fd --json-file`},
	{grammar.Unmanaged, rewrite.OptionalValue, `--worktree`},
	{grammar.Server, rewrite.NoValue, `--acp --experimental-acp`},
	{grammar.Admin, rewrite.NoValue, `--help|-h --list-extensions|-l --version|-v`},
	{grammar.Admin, rewrite.OneValue, `--prompt-interactive|-i`},
}

func (q qwen) Parse(in rewrite.Input) rewrite.CommandLine {
	p := grammar.Yargs(in.Args, options.With(in.Learned))
	c := q.ReadYargs(p, in, "QWEN_CODE",
		"/etc/qwen-code", "/Library/Application Support/QwenCode")
	for i := range c.Settings {
		if s := &c.Settings[i]; s.Name == "--json-schema" && strings.HasPrefix(s.Value, "@") {
			s.Value, s.File = s.Value[1:], true
		}
	}
	unrecorded := slices.Contains(p.Values("--chat-recording"), "false")
	p = p.WithoutOff()
	s := base.YargsSigns(c, p, in)
	s.OptsOut = unrecorded
	if slices.ContainsFunc(p.Values("--input-format"), func(f string) bool { return f != "text" }) {
		s.Unmanaged = "--input-format"
	}
	s.Bad = s.Bad || p.Has(grammar.StreamOnly) && c.Format != rewrite.StreamJSON
	s.Last = base.When(prompt.IsSlashCommand(c.Prompt), reason.SlashCommand)
	q.Complete(&c, p, in, s)
	return c
}

var settingsHome = base.Home("QWEN_HOME", "/.qwen", "")

// home returns the directory of qwen's sessions. A setting that names another one is
// not read: the session is then not found, and the next call is fresh.
func home(env func(string) string) string {
	return cmp.Or(env("QWEN_RUNTIME_DIR"), settingsHome(env))
}

// qwen reads the nearest .env, which can contain the key. An update is a version below updates,
// named in active.json.
var reads = base.Reads{
	Home:     "~/.qwen",
	Dir:      settingsHome,
	Settings: []string{"{~,.qwen}/settings.json", "~/oauth_creds.json"},
	Hooks:    []string{"~/extensions/*/{qwen-extension,hooks/hooks,.qwen-extension-install}.json"},
	Watched: base.Watched{
		{reason.InstructionsChanged, []string{"~/{QWEN,AGENTS}.md", ".qwen/system.md",
			"{^,--include-directories}/{QWEN,AGENTS,QWEN.local}.md"}},
		{"", []string{"{~,.qwen}/agents/*.md", "~/extensions/*/qwen-extension.json"}},
		{reason.RuntimeChanged, []string{"~/updates/npm/*/active.json"}},
		{reason.AuthChanged, []string{"{~,^/.qwen,^}/.env"}},
	},
}

// ResolveWithEnv reads the settings. 0.23.4 is the oldest version tried that copies a session;
// older ones are passed through.
func (qwen) ResolveWithEnv(c rewrite.CommandLine, s rewrite.HostEnv) rewrite.CommandLine {
	for _, f := range s.Settings {
		if !strings.HasSuffix(f.Path, "/oauth_creds.json") {
			c.Settings = append(c.Settings, settings(f.Path, f.Text)...)
		} else if account := jsonline.Member(f.Text, "resource_url"); account != "" {
			c.Settings = append(c.Settings, rewrite.Setting{Name: "~/.qwen/oauth_creds.json",
				Value: account, Guard: reason.AuthChanged})
		}
	}
	c.ReadHooks(descriptor.Hooks, s, nil)
	c.Own = base.InProject(c.Home, s.Dirs, "/chats") // without the name
	c.Copies = s.Version != "" && base.AtLeast(s.Version, 0, 23, 4)
	if !base.AtLeast(s.Version, 0, 23, 4) {
		// with stream-json 0.15.10 ends well where the API has refused
		c.Mode, c.Reason = rewrite.Passthrough, reason.NoResume
	}
	return c
}

// settings returns the settings of a file. The version of the form does not count: qwen adds it
// the first time that it reads the file.
func settings(path, text string) []rewrite.Setting {
	text = jsonline.Compact(jsonline.RemoveKey(text, "$version"))
	if text == "" {
		return nil
	}
	return rewrite.JSONSettings(path, text)
}

// EffectivePrompt puts stdin first, then an empty line, then the prompt
// (recordings/qwen/stdin-and-arg). qwen adds that line to stdin alone as well; it is left out here,
// so that a resume adds it again. It returns "" if qwen would not send all of it.
func (qwen) EffectivePrompt(c rewrite.CommandLine, stdin string) string {
	return base.YargsPrompt(c, stdin, prompt.IsSlashCommand)
}

// Plan leaves every format as it is. In text, which does not name the session, the shim chooses the
// ID. A copy's ID is qwen's own: it takes --session-id with neither --resume nor --fork-session.
func (qwen) Plan(c rewrite.CommandLine, t rewrite.Target) rewrite.Plan {
	plan := t.Plan(c)
	resume := []string{"--resume=" + plan.Resume}
	if plan.Copy {
		resume = append(resume, "--fork-session")
	}
	base.PlanYargs(&plan, c, t.NewID, resume...)
	if c.Format == rewrite.Text {
		chat := base.Own[rewrite.Follow](c)
		if chat.Name = plan.ID() + ".jsonl"; plan.ID() == "" { // any of the directory
			chat.Name, chat.Root = "????????-????-????-????-????????????.jsonl", ""
		}
		plan.Follow = []rewrite.Follow{chat}
	}
	return plan
}

// refusals lists the messages of qwen when it does not continue a session: on stderr if it does not
// know the session, in an API error if the history is too long or broken.
var refusals = base.Causes{
	{"No saved session found with ID", reason.RefusedUnknown},
	{"Unknown argument: resume", reason.RefusedNoResume},
	{"maximum context length", reason.RefusedContext},
	{"must be followed by tool messages", reason.RefusedBroken},
}

// failures begin an error of the API.
var failures = base.WithStatus("[API Error: %d ",
	base.Causes{{"[API Error: Connection error.", reason.Unreachable}})
