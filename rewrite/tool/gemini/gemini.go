// Package gemini is Gemini CLI as the shim knows it: command line, output, session files. Facts
// here were measured with 0.61.0 unless they name another version; docs/internals/gemini.md lists
// them all.
package gemini

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
	"reprise/rewrite/tool/grammar"
)

type gemini struct{ base.Base }

func init() { rewrite.Register(tool) }

var tool = gemini{base.Base{About: &descriptor, Reads: reads, Refusals: refusals,
	Help: []string{"--prompt", "--resume"}, Yargs: true}}

var named = []string{"{project}/tool-outputs/session-{id}", "{project}/{id}"}

var descriptor = rewrite.Descriptor{
	Name:       "gemini",
	Packages:   []string{"@google/gemini-cli"},
	Unattended: []string{"gemini", "--yolo", "-p"},
	Subcommands: []string{"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook",
		"gemma"},
	Alone:  []string{"--help", "-h", "--version", "-v", "--list-sessions"},
	Nested: []string{"GEMINI_CLI"}, // set by the shell tool
	Home:   base.Home("GEMINI_CLI_HOME", "", "/.gemini"),
	// A project's directory is named after the working directory, with a suffix if several projects
	// share that name. The file is named after the first minute and the first characters of the ID.
	// The files are those that gemini itself deletes with a session (0.61.0).
	Paths: []string{"tmp/{name}/chats/session-*-{short}.jsonl",
		"tmp/*/chats/session-*-{short}.jsonl"},
	Files: rewrite.SessionFiles{
		Paths: append([]string{"{file}", "{project}/chats/{id}",
			"{project}/logs/session-{id}.jsonl"}, named...),
		Named: named},
	// The text of a start hook comes first in the prompt, which a resumed session then lacks.
	Hooks: rewrite.Hooks{
		Prompt: []string{"BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel",
			"BeforeToolSelection"}, Start: []string{"SessionStart"},
	},
	CacheByText: true, // implicit caching of the Gemini API
	Travels:     true,
	// The variables of Google's cloud count for every tool.
	Variables: rewrite.Variables{
		Settings: []string{"GEMINI_*", "SEATBELT_PROFILE", "SANDBOX", "BUILD_SANDBOX"},
		Account: []string{"GEMINI_API_KEY", "GEMINI_API_KEY_*", "GEMINI_CLI_USE_COMPUTE_ADC",
			"CLOUD_SHELL", "CODE_ASSIST_*"},
		Model: []string{"GEMINI_MODEL"},
		Neutral: []string{
			"GEMINI_CLI_HOME", "GEMINI_TELEMETRY_*", "GEMINI_CLI_NO_RELAUNCH", "GEMINI_CLI_IDE_*",
			"GEMINI_CLI_SURFACE", "GEMINI_DEBUG_LOG_FILE", "GOOGLE_CLOUD_SHELL",
		},
	},
}

// options lists every option of gemini 0.61.0, the hidden ones included. ManyValues are yargs
// arrays, with one value per occurrence.
var options = grammar.Options{
	{grammar.Setting, rewrite.NoValue, `--accept-raw-output-risk --raw-output --sandbox|-s
		--screen-reader --skip-trust --yolo|-y`},
	{grammar.Setting, rewrite.OneValue, `--approval-mode`},
	{grammar.Setting, rewrite.ManyValues, `--allowed-mcp-server-names --allowed-tools
		--extensions|-e --include-directories`},
	{grammar.FileSetting, rewrite.ManyValues, `--admin-policy --policy`},
	{grammar.Model, rewrite.OneValue, `--model|-m`},
	{grammar.Format, rewrite.OneValue, `--output-format|-o`},
	{grammar.Neutral, rewrite.NoValue, `--debug|-d`},
	{grammar.Neutral, rewrite.OneValue, `--prompt|-p`},
	{grammar.CallerOwned, rewrite.OneValue, `--session-file --session-id`},
	{grammar.CallerOwned, rewrite.OptionalValue, `--resume|-r`},
	{grammar.Unmanaged, rewrite.OptionalValue, `--fake-responses --fake-responses-non-strict
		--record-responses --worktree|-w`},
	{grammar.Server, rewrite.NoValue, `--acp --experimental-acp`},
	{grammar.Admin, rewrite.NoValue, `--help|-h --list-extensions|-l --list-sessions --version|-v`},
	{grammar.Admin, rewrite.OneValue, `--prompt-interactive|-i`},
	{grammar.Admin, rewrite.OptionalValue, `--delete-session`},
}

func (g gemini) Parse(in rewrite.Input) rewrite.CommandLine {
	p := grammar.Yargs(in.Args, options.With(in.Learned))
	c := g.ReadYargs(p, in, "GEMINI_CLI",
		"/etc/gemini-cli", "/Library/Application Support/GeminiCli")
	p = p.WithoutOff()
	s := base.YargsSigns(c, p, in)
	s.Last = base.When(forgets(c.Prompt), reason.SlashCommand)
	if c.Format == rewrite.Text &&
		(p.Names("--raw-output") || p.Names("--accept-raw-output-risk")) {
		// raw text would be indistinguishable from its escape sequences
		s.Unmanaged = "--raw-output"
	}
	g.Complete(&c, p, in, s)
	return c
}

// gemini reads the nearest .env, which can contain the key.
var reads = base.Reads{
	Home:     "~/.gemini",
	Settings: []string{"{~,.gemini}/settings.json", "~/{google_accounts,oauth_creds}.json"},
	Hooks: []string{"{~,.gemini}/extensions/*/hooks/hooks.json",
		"~/extensions/*/.gemini-extension-install.json"},
	Watched: base.Watched{
		{reason.InstructionsChanged, []string{"~/GEMINI.md", ".gemini/system.md",
			"{^,--include-directories}/{GEMINI,AGENTS}.md"}},
		{"", []string{"{~,.gemini}/policies/*.toml",
			"{~,.gemini}/extensions/*/gemini-extension.json"}},
		{reason.AuthChanged, []string{"{~,^/.gemini,^}/.env"}},
	},
}

// logins are the values that identify the account in gemini's login files. The access token there
// changes every hour.
var logins = map[string]string{"google_accounts.json": "active",
	"oauth_creds.json": "refresh_token"}

// forgets reports whether gemini takes a prompt for one of its commands or for context that
// it added itself. It can still send it to the model, but leaves it out of the history of a resumed
// session (isIgnoredUserContent in 0.61.0).
func forgets(text string) bool {
	text = strings.TrimSpace(text)
	return prompt.StartsLikeCommand(text) || strings.HasPrefix(text, "<session_context>") ||
		strings.HasPrefix(text, "<hook_context>")
}

// ResolveWithEnv passes a call through if a settings file can change the format of a call that
// names none. --session-id exists since 0.41.
func (gemini) ResolveWithEnv(c rewrite.CommandLine, s rewrite.HostEnv) rewrite.CommandLine {
	leave := func(why reason.Code) { c.Mode, c.Reason = rewrite.Passthrough, why }
	for _, f := range s.Settings {
		name := path.Base(f.Path)
		if account := logins[name]; account != "" {
			if id := jsonline.Member(f.Text, account); id != "" {
				c.Settings = append(c.Settings, rewrite.Setting{Name: "~/.gemini/" + name,
					Value: id, Guard: reason.AuthChanged})
			}
			continue
		}
		c.Settings = append(c.Settings, rewrite.JSONSettings(f.Path, f.Text)...)
		if c.FormatArg.N == 0 && strings.Contains(f.Text, `"output"`) &&
			strings.Contains(f.Text, `"format"`) {
			leave(reason.VerboseSetting)
		}
	}
	c.ReadHooks(descriptor.Hooks, s, nil)
	if !base.AtLeast(s.Version, 0, 41, 0) {
		leave(reason.NoResume)
	}
	c.Copies = true
	return c
}

// EffectivePrompt puts stdin first, then an empty line, then the prompt
// (recordings/gemini/stdin-and-arg). It returns "" if gemini would not send or not store all of it.
func (gemini) EffectivePrompt(c rewrite.CommandLine, stdin string) string {
	return base.YargsPrompt(c, stdin, forgets)
}

// Plan leaves every format as it is. In text, which does not name the session, the shim chooses the
// ID; so it does for a copy, which it writes itself.
func (g gemini) Plan(c rewrite.CommandLine, t rewrite.Target) rewrite.Plan {
	plan := t.Plan(c)
	if plan.Copy {
		plan.NewID, plan.WriteCopy = t.NewID, true
	}
	base.PlanYargs(&plan, c, t.NewID, "--resume="+plan.ID())
	if c.Format == rewrite.Text {
		plan.Follow = []rewrite.Follow{{Dir: c.Home + "/tmp",
			Name: path.Base(rewrite.SessionPaths(g, "", "", plan.ID())[0]), Lines: true}}
	}
	return plan
}

// IsOrphanFile reports whether the file is the orphan that a resume leaves if it takes place in a
// later minute than the session began: a header, and the context of a session that is then not
// continued (recordings/gemini/retention). When another session of the project starts, gemini takes
// that file for a broken session and deletes all files of that ID. A file with any other content is
// not an orphan.
func (gemini) IsOrphanFile(_ string, data []byte) bool {
	lines := 0
	for line := range strings.Lines(string(data)) {
		var record struct {
			ID, Type  string
			SessionID string                       `json:"sessionId"`
			Set       struct{ Messages []message } `json:"$set"`
			Rewind    string                       `json:"$rewindTo"`
		}
		if json.Unmarshal([]byte(line), &record) != nil || record.ID != "" || record.Type != "" ||
			record.Rewind != "" {
			return false
		}
		if messages := record.Set.Messages; record.SessionID == "" && len(messages) == 0 ||
			slices.ContainsFunc(messages, message.isContent) {
			return false
		}
		lines++
	}
	return lines > 0
}

type message struct {
	Type    string
	Content []struct{ Text string }
}

// isContent reports whether the message is more than the context that gemini itself sends first.
func (m message) isContent() bool {
	return m.Type != "user" || len(m.Content) != 1 ||
		!strings.HasPrefix(m.Content[0].Text, "<session_context>")
}

// refusals lists the messages of gemini when it does not continue a session: on stderr if it does
// not know the session, in an API error if the history is too long or broken.
var refusals = base.Causes{
	{"Error resuming session: Invalid session identifier", reason.RefusedUnknown},
	{"Error resuming session: No previous sessions found", reason.RefusedUnknown},
	{"Unknown argument: resume", reason.RefusedNoResume},
	{"Error resuming session: ", reason.RefusedBroken},
	{"exceeds the maximum number of tokens allowed", reason.RefusedContext},
	{"function response parts is equal to the number of function call parts", reason.RefusedBroken},
	{"ensure that function call turn comes immediately after", reason.RefusedBroken},
}
