// Package copilot is GitHub Copilot CLI as the shim knows it: command line, output, session files.
// Facts here were measured with 1.0.102 unless they name another version; docs/internals/copilot.md
// lists them all.
//
// A call runs in the caller's format, text included: text shows tools at work in a form that json
// does not have. Facts that the output lacks are read from a file that copilot writes for
// --usage-output-file, from the file of the session that is resumed, and for silent text from a
// file of --share.
package copilot

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
	"reprise/rewrite/tool/grammar"
)

type copilot struct{ base.Base }

func init() { rewrite.Register(tool) }

// A version can resume only if it can also write the figures to a file. 1.0.80 cannot.
var tool = copilot{base.Base{About: &descriptor, Reads: reads, Refusals: refusals,
	// json is a stream of lines
	Formats: map[string]rewrite.Format{"text": rewrite.Text, "json": rewrite.JSON},
	Help:    []string{"--prompt", "--resume", "--usage-output-file"}}}

var descriptor = rewrite.Descriptor{
	Name:       "copilot",
	Packages:   []string{"@github/copilot"},
	Unattended: []string{"copilot", "--allow-all", "-p"},
	Subcommands: []string{
		"app", "login", "help", "init", "config", "update", "version", "workflow", "sessions",
		"memories", "plugin", "mcp", "skill", "instruction", "lsp", "sandbox", "completion",
	},
	Alone:       []string{"--help", "-h", "--version", "-v"},
	AwaitsStdin: true,
	Nested:      []string{"COPILOT_CLI"}, // set for the commands of the shell tool
	Home:        base.Home("COPILOT_HOME", "/.copilot", ""),
	// A process that has a session open holds a lock on a file that is named after the process.
	Paths: []string{"session-state/{id}/" + events},
	Files: rewrite.SessionFiles{Paths: []string{"session-state/{id}"},
		Lock: "session-state/{id}/inuse.*.hold"},
	Variables: rewrite.Variables{
		Settings: []string{"COPILOT_*", "USE_BUILTIN_RIPGREP"},
		Account: []string{"COPILOT_PROVIDER_*", "COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN",
			"GH_HOST", "COPILOT_GH_HOST"},
		Model: []string{"COPILOT_MODEL"},
		Neutral: []string{
			"COPILOT_HOME", "COPILOT_CACHE_HOME", "COPILOT_EDITOR", "COPILOT_MULTIPLEXER",
			"COPILOT_OTEL_*",
		},
	},
	// A start hook is given the prompt too (initialPrompt, 1.0.102).
	Hooks: rewrite.Hooks{
		Prompt: []string{"userPromptSubmitted", "UserPromptSubmit", "userPromptTransformed",
			"UserPromptTransformed", "sessionStart", "SessionStart"},
		Start:   []string{"sessionStart", "SessionStart"},
		Sources: []string{"startup", "new", "resume"},
		Plugins: "enabledPlugins",
	},
}

// options lists every option of copilot 1.0.102.
var options = grammar.Options{
	{grammar.Setting, rewrite.NoValue, `--allow-all|--yolo --allow-all-mcp-server-instructions
		--allow-all-paths --allow-all-tools --allow-all-urls --assisted-approval --autopilot
		--disable-builtin-mcps --disallow-temp-dir --enable-all-github-mcp-tools --enable-memory
		--experimental --fleet --no-ask-user --no-auto-update --no-bash-env --no-custom-instructions
		--no-experimental --no-remote --no-remote-export --plan --trust-folder`},
	{grammar.Setting, rewrite.OneValue, `--add-dir --add-github-mcp-tool --add-github-mcp-toolset
		--agent --auto-tier --context --disable-mcp-server --dynamic-retrieval --enable-mcp-server
		--extension-sdk-path --mcp-github-auth --mode --plugin-dir --reasoning-effort|--effort`},
	{grammar.Setting, rewrite.OptionalValue, `--bash-env`},
	{grammar.Setting, rewrite.ManyValues, `--allow-tool --allow-url --available-tools --deny-tool
		--deny-url --excluded-tools --secret-env-vars`},
	{grammar.FileSetting, rewrite.OneValue, `--additional-mcp-config`},
	{grammar.Model, rewrite.OneValue, `--model`},
	{grammar.Format, rewrite.OneValue, `--output-format`},
	{grammar.Neutral, rewrite.NoValue, `--banner --disable-client-telemetry --no-color
		--no-eager-powershell-resolution --no-mouse --plain-diff --screen-reader --silent|-s`},
	{grammar.Neutral, rewrite.OneValue,
		`-C --log-dir --log-level --max-autopilot-continues --prompt|-p --stream`},
	{grammar.Neutral, rewrite.OptionalValue, `--mouse`},
	{grammar.CallerOwned, rewrite.NoValue, `--continue`},
	{grammar.CallerOwned, rewrite.OneValue, `--session-id`},
	{grammar.CallerOwned, rewrite.OptionalValue, `--resume|-r`},
	{grammar.Unmanaged, rewrite.NoValue, `--remote --remote-export --share-gist`},
	// --max-ai-credits: of a session, not of a call.
	// --name: of a new session.
	// --usage-output-file: the whole session's figures.
	{grammar.Unmanaged, rewrite.OneValue, `--attachment --environment-compute-id --environment-host
		--max-ai-credits --name|-n --usage-output-file`},
	// --share: the whole session.
	{grammar.Unmanaged, rewrite.OptionalValue, `--connect --share`},
	{grammar.Server, rewrite.NoValue, `--acp`},
	{grammar.Admin, rewrite.NoValue, `--help|-h --version|-v`},
	{grammar.Admin, rewrite.OneValue, `--interactive|-i`},
}

type details struct {
	silent  bool          // text without figures
	secrets []string      // texts that it blanks in json
	learned rewrite.Probe // the grammar that Args was parsed with
}

// Parse reads a command line. If an option occurs twice, the last counts.
func (t copilot) Parse(in rewrite.Input) rewrite.CommandLine {
	p, _ := grammar.Clap(in.Args, 0, options.With(in.Learned), func(string) bool { return false })
	c := t.Read(p, in)
	for i := range c.Settings {
		s := &c.Settings[i]
		if s.Value = strings.ReplaceAll(s.Value, "\x00", ","); s.File {
			s.Value, s.File = strings.CutPrefix(s.Value, "@")
		}
	}
	c.Prompt, c.PromptArgs = p.Value("--prompt", ""), p.Spans("--prompt")
	c.Dir = p.Value("-C", "")
	own := details{learned: in.Learned, silent: p.Names("--silent")}
	hidden := []string{"COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN",
		"COPILOT_GITHUB_TOKEN", "GITHUB_TOKEN"}
	for _, names := range p.Values("--secret-env-vars") {
		hidden = append(hidden, strings.Split(names, ",")...)
	}
	for _, name := range hidden {
		if value := in.Env(name); value != "" {
			own.secrets = append(own.secrets, value)
		}
	}
	c.Own = own
	// Data beside a prompt in argv are not read (recordings/copilot/stdin-and-arg).
	c.Stdin = base.Stdin(in, p.Names("--prompt"), rewrite.StdinUnused)
	t.Complete(&c, p, in, base.Signs{
		Interactive: in.StdinTTY && (in.StdoutTTY || p.Unknown == "" && !p.Bad &&
			!p.Names("--prompt")) && c.Prompt == "",
		Bad:  len(p.Operands) > 0 || c.Stdin == rewrite.StdinUnused && c.Prompt == "",
		Last: base.When(prompt.IsSlashCommand(c.Prompt), reason.SlashCommand),
	})
	return c
}

// state is the file of copilot's own state. Earlier versions kept the user's settings there, and
// copilot rewrites them.
const state = "/config.json"

const plugins = "{~/installed-plugins/*/*,--plugin-dir}/"

// Extensions are code.
var reads = base.Reads{
	Home:     "~/.copilot",
	Settings: []string{"~" + state, "~/settings.json", ".github/copilot/settings{,.local}.json"},
	Hooks: []string{"/etc/github-copilot/policy.d/*.json", "~/hooks/**/*.json",
		"{~,^/.github}/extensions/*/extension.mjs", "{^,--add-dir}/.github/hooks/**/*.json",
		"{^,--add-dir}/{.github/copilot,.claude}/settings{,.local}.json",
		plugins + "{,hooks/,com.github.copilot/hooks/}hooks.json",
		plugins + "{,.plugin/,.github/plugin/,.claude-plugin/}plugin.json"},
	Watched: base.Watched{
		{reason.InstructionsChanged, []string{"~/copilot-instructions.md",
			".github/instructions/**/*.instructions.md", "^/.github/copilot-instructions.md",
			"^/{AGENTS,CLAUDE,GEMINI}.md"}},
		{"", []string{"~/mcp-config.json", "{~,.github}/agents/*.md", "{~,.github}/hooks/**/*.json",
			".github/mcp.json", ".mcp.json", ".vscode/mcp.json", "{--plugin-dir}/**/*.{md,json}"}},
	},
}

// ResolveWithEnv adds the settings of user and project. It passes through versions that reject
// --usage-output-file, as 1.0.80 does, and unknown ones unless their help lists it.
func (copilot) ResolveWithEnv(c rewrite.CommandLine, s rewrite.HostEnv) rewrite.CommandLine {
	learned := base.Own[details](c).learned
	if s.Version == "" && !learned.Known || !base.AtLeast(s.Version, 1, 0, 83) ||
		learned.Known && !learned.Resume {
		c.Mode, c.Reason = rewrite.Passthrough, reason.NoResume
		return c
	}
	for _, f := range s.Settings {
		c.Settings = append(c.Settings, settings(f.Path, f.Text)...)
	}
	c.ReadHooks(descriptor.Hooks, s, nil)
	return c
}

// account are the members of copilot's state that name the login.
var account = []string{"lastLoggedInUser", "loggedInUsers"}

// settings returns the settings of a file. Comments, formatting, the time of the first start, and
// the older spelling of keys do not count: copilot itself adds or changes them at the start
// (recordings/copilot/migrated).
func settings(path, text string) []rewrite.Setting {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "//") {
			lines = append(lines, line)
		}
	}
	var members map[string]json.RawMessage
	text = strings.Join(lines, "")
	if json.Unmarshal([]byte(text), &members) != nil {
		return []rewrite.Setting{{Name: path, Value: text}}
	}
	renamed := map[string]json.RawMessage{}
	// the older spelling comes last, and does not count beside the newer one
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(members))) {
		renamed[camelCase(key)] = members[key]
	}
	var settings []rewrite.Setting
	if strings.HasSuffix(path, state) {
		delete(renamed, "firstLaunchAt")
		for _, name := range account {
			if value := renamed[name]; value != nil {
				settings = append(settings, rewrite.Setting{Name: path + " " + name,
					Value: jsonline.Compact(string(value)), Guard: reason.AuthChanged})
			}
			delete(renamed, name)
		}
	}
	if len(renamed) == 0 {
		return settings
	}
	plain, _ := json.Marshal(renamed) // it came from JSON
	return append(settings, rewrite.JSONSettings(path, string(plain))...)
}

func camelCase(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// ActsOn returns false: a file mention in a headless prompt is sent as it is
// (recordings/copilot/mention).
func (copilot) ActsOn(string) bool { return false }

// EffectivePrompt returns the prompt as copilot stores it. The model is sent it without the white
// space at the end.
func (t copilot) EffectivePrompt(c rewrite.CommandLine, stdin string) string {
	text := t.Base.EffectivePrompt(c, stdin)
	if strings.TrimSpace(text) == "" || prompt.IsSlashCommand(text) {
		return ""
	}
	return text
}

// Files that a run writes for the shim.
const (
	usageFile = "usage.json"
	shareFile = "session.md"
	events    = "events.jsonl"
)

// Plan adds a private --usage-output-file. Silent text names the session nowhere else than in a
// file of --share. A resume gets the new prompt in place of the caller's.
func (copilot) Plan(c rewrite.CommandLine, t rewrite.Target) rewrite.Plan {
	plan := t.Plan(c)
	plan.ReexecsSelf, plan.Follow = true, []rewrite.Follow{{Dir: rewrite.Scratch, Name: usageFile}}
	silent := base.Own[details](c).silent
	shows := c.Format == rewrite.Text && !silent
	plan.ReadStderr, plan.OneStream = shows, shows
	added := []string{"--usage-output-file=" + rewrite.Scratch + "/" + usageFile}
	if plan.Resume != "" {
		added = append(added, "--resume="+plan.Resume)
		plan.Follow = append(plan.Follow, rewrite.Follow{Dir: c.Home + "/session-state/" +
			plan.Resume, Name: events, Lines: true})
	} else if silent && c.Format == rewrite.Text {
		added = append(added, "--share="+rewrite.Scratch+"/"+shareFile)
		plan.Follow = append(plan.Follow, rewrite.Follow{Dir: rewrite.Scratch, Name: shareFile})
	}
	if !plan.Whole {
		// A delta ends as the prompt ends: the model is sent neither's white space there, so the
		// two differ in length by the omission.
		plan.Prompt = trimEnd(plan.Prompt) + plan.Asked[len(trimEnd(plan.Asked)):]
	}
	base.Add(&plan, c, "--prompt", added...)
	return plan
}

// refusals lists copilot's messages if it does not continue a session: on stderr if it cannot
// load it, in an API error if the history is too long or broken.
var refusals = base.Causes{
	{"Error: No session, task, or name matched '", reason.RefusedUnknown},
	{"was found but could not be loaded.", reason.RefusedBroken},
	{"error: unexpected argument '--resume", reason.RefusedNoResume},
	{"maximum context length", reason.RefusedContext},
	{"prompt is too long", reason.RefusedContext},
	{"context_length_exceeded", reason.RefusedContext},
	{"exceeds the context window", reason.RefusedContext},
	{"Not the same number of function calls and responses", reason.RefusedBroken},
	{"ids were found without `tool_result` blocks", reason.RefusedBroken},
	{"must be followed by tool messages", reason.RefusedBroken},
	{"No tool output found for function call", reason.RefusedBroken},
}
