// Package opencode is OpenCode, or Kilo, which is made from it: both have the same command line,
// output and database under other names. Facts here were measured with opencode 1.18.33 and kilo
// 7.7.9 unless they name another version; docs/internals/opencode.md lists them all.
//
// A call runs in the caller's format. In text nothing names the session, so the call is made to log
// to stderr as well, and those lines are taken out again. A session is continued in place: a copy
// of one (--fork) lacks the permissions, gets more tools and so loses the cached prefix.
package opencode

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
	"reprise/rewrite/tool/grammar"
)

type opencode struct {
	base.Base
	variable string   // how the names of the variables begin
	oldest   []int    // the oldest version that was measured
	newest   []int    // the version, not measured, before which all are managed
	configs  []string // its configuration files, without the extension
	dirs     []string // its directories in home and project
}

func init() {
	// OPENCODE is set for all that it starts.
	tool := newTool("opencode", "opencode-ai", "OPENCODE_", "OPENCODE")
	tool.About.CannotWrite = 1
	tool.oldest, tool.newest = []int{1, 17, 0}, []int{2}
	tool.configs, tool.dirs = []string{"opencode"}, []string{".opencode"}
	rewrite.Register(tool)
	// kilo 7.7.9 reads opencode's files and the directories of its own former name as well.
	tool = newTool("kilo", "@kilocode/cli", "KILO_", "KILO_PID")
	tool.oldest, tool.newest = []int{7, 7, 9}, []int{8}
	tool.configs, tool.dirs = []string{"opencode", "kilo"}, []string{".kilo", ".kilocode"}
	rewrite.Register(tool)
}

// newTool returns a tool. Its shell tool sets nested.
func newTool(name, npm, variable, nested string) opencode {
	d := &rewrite.Descriptor{
		Name:         name,
		Packages:     []string{npm},
		Unattended:   []string{name, "run", "--auto"},
		Managed:      []string{"run"},
		Servers:      []string{"serve", "web", "acp"},
		Alone:        []string{"--help", "-h", "--version", "-v"},
		AwaitsStdin:  true,
		Nested:       []string{nested},
		Hooks:        hooks,
		Home:         base.Home("XDG_DATA_HOME", "/.local/share", "/"+name),
		Paths:        []string{name + ".db"},
		SessionQuery: session,
		AsksVersion:  true,
		Variables:    variables(variable),
	}
	return opencode{variable: variable, Base: base.Base{About: d, Yargs: true,
		// The API's message about a session is on stdout, or in the log.
		Refusals: base.Causes{{errorPrefix + "Session not found\n", reason.RefusedUnknown}},
		Help:     []string{"--format", "--session"},
		Formats:  map[string]rewrite.Format{"default": rewrite.Text, "json": rewrite.StreamJSON}}}
}

// hooks: plugins are code. The tools have no other hooks.
var hooks = rewrite.Hooks{Code: []string{"plugin"}}

// session returns the columns that change with each turn. The tokens are totals of the session; the
// tokens of the hidden request for the title are not among them. row reads the JSON array.
const session = `SELECT json_array(time_updated, directory, revert IS NOT NULL, version, json_extract(model, '$.id'),
	cost, tokens_input, tokens_output + tokens_reasoning, tokens_cache_read, tokens_cache_write,
	(SELECT count(*) FROM message WHERE session_id = session.id),
	(SELECT max(id) FROM message WHERE session_id = session.id),
	(SELECT json_extract(data, '$.tokens.total') FROM message WHERE session_id = session.id AND json_extract(data, '$.role') = 'assistant'
		ORDER BY time_created DESC, id DESC LIMIT 1),
	(SELECT count(*) FROM message WHERE session_id = session.id AND json_extract(data, '$.summary') = 1))
	FROM session WHERE id = ?`

// options lists every option of opencode run and kilo run, the hidden ones included. A list
// takes all words up to the next option.
var options = grammar.Options{
	{grammar.Setting, rewrite.NoValue, `--auto --dangerously-skip-permissions --pure --yolo`},
	{grammar.Setting, rewrite.OneValue, `--agent --variant`},
	{grammar.Setting, rewrite.OptionalValue, `--title`},
	{grammar.Model, rewrite.OneValue, `--model|-m`},
	{grammar.Format, rewrite.OneValue, `--format`},
	{grammar.Neutral, rewrite.NoValue, `--print-logs --thinking`},
	{grammar.Neutral, rewrite.OneValue, `--dir --log-level`},
	{grammar.CallerOwned, rewrite.NoValue, `--cloud-fork --continue|-c --fork`},
	{grammar.CallerOwned, rewrite.OneValue, `--session|-s`},
	{grammar.Unmanaged, rewrite.NoValue, `--demo --interactive|-i --mini --replay --share`},
	{grammar.Unmanaged, rewrite.OneValue,
		`--attach --command --password|-p --port --replay-limit --username|-u`},
	{grammar.Unmanaged, rewrite.ManyValues, `--file|-f`},
	{grammar.Admin, rewrite.NoValue, `--help|-h --version|-v`},
}

// variables returns the variables with the tool's prefix. Some of kilo's are still opencode's.
func variables(prefix string) rewrite.Variables {
	named := func(names ...string) (all []string) {
		for _, name := range names {
			all = append(all, prefix+name)
		}
		return all
	}
	return rewrite.Variables{
		Settings: named("*"),
		Account:  named("API_KEY", "AUTH_CONTENT", "CONSOLE_TOKEN", "API_URL", "ORG_ID"),
		Neutral: named("PID", "CLIENT", "PRINT_LOGS", "LOG_LEVEL", "DISABLE_TERMINAL_TITLE",
			"DISABLE_MOUSE", "DISABLE_AUTOUPDATE",
			"ALWAYS_NOTIFY_UPDATE", "EDITOR_SSE_PORT", "SHOW_TTFD", "DIRECT_TRACE",
			"AUTO_HEAP_SNAPSHOT", "RUN_ID", "PROCESS_ROLE", "TELEMETRY_LEVEL"),
	}
}

func (o opencode) Parse(in rewrite.Input) rewrite.CommandLine {
	end := len(in.Args)
	if i := slices.Index(in.Args, "--"); i >= 0 {
		end = i
	}
	p := grammar.Yargs(in.Args[:end], options.With(in.Learned))
	for i := end + 1; i < len(in.Args); i++ {
		p.Operands = append(p.Operands, rewrite.Span{i, 1})
	}
	call, first := o.Read(p, in), "" // the command
	call.SessionID = p.Value("--session", "")
	call.Dir = workingDir(in.Env("PWD"), p.Value("--dir", ""))
	// the caller itself wants the log on stderr
	call.Own = in.Env(o.variable+"PRINT_LOGS") != ""
	if p.Names("--print-logs") {
		call.Own = p.Value("--print-logs", "") == "true"
	}
	if len(p.Operands) > 0 {
		first = in.Args[p.Operands[0].At]
		call.AddAt, call.PromptArgs = p.Operands[0].At+1, p.Operands[1:]
		call.Prompt = joined(in.Args, call.PromptArgs)
		call.Stdin = base.Stdin(in, call.Prompt != "", rewrite.StdinAppended)
	}
	signs := base.Signs{
		Command:     first != "run" && first != "",
		Interactive: first == "",
		Bad:         p.Repeated() || call.Prompt == "" && in.StdinTTY,
	}
	switch level := p.Value("--log-level", in.Env(o.variable+"LOG_LEVEL")); {
	case in.Env(o.variable+"DB") != "":
		signs.Unmanaged = o.variable + "DB"
	case call.Format == rewrite.Text && level != "" && level != "INFO" && level != "DEBUG":
		signs.Unmanaged = "--log-level" // the log would not name the session
	}
	o.Complete(&call, p.WithoutOff(), in, signs)
	if call.Mode == rewrite.Fresh {
		reads := reads
		reads.Home = "~/.config/" + o.About.Name
		reads.Dir = base.Home("XDG_CONFIG_HOME", "/.config", "/"+o.About.Name)
		reads.Into(&call, in.Env, o.places(call.Dir, in.Env))
		if p.Names("--pure") { // without plugins
			call.HookFiles = nil
		} else {
			call.ReadHooksIn(hooks, in.Env(o.variable+"CONFIG_CONTENT"))
			call.ReadHooksIn(hooks, in.Env(o.variable+"AUTH_CONTENT"))
		}
	}
	return call
}

// joined returns words as one prompt. opencode puts words that contain spaces in quotes, which
// are left out here: the closing one would separate a prompt from the same text with more behind
// it.
func joined(args []string, words []rewrite.Span) string {
	var texts []string
	for _, word := range words {
		texts = append(texts, args[word.At])
	}
	return strings.Join(texts, " ")
}

// workingDir returns the directory that opencode works in: the directory of --dir, or else of PWD,
// even if it is not the process's own. A session can only be resumed there: anywhere else opencode
// hangs once the model has answered.
func workingDir(pwd, dir string) string {
	switch {
	case strings.HasPrefix(dir, "/") || !strings.HasPrefix(pwd, "/"):
		return dir
	case dir == "":
		return pwd
	}
	return pwd + "/" + dir
}

// reads are the configuration of user, project and administrator, the logins, plugins, agents and
// tools. places has the lists.
var reads = base.Reads{
	Settings: []string{"~/config.json", "{--data}/auth.json", "{--config}",
		"~/{--configs}.json{,c}", "{--dirs,--project}/{--configs}.json{,c}"},
	Hooks: []string{"{~,--dirs,--own}/plugin{,s}/*.{js,ts}",
		"{/etc,/Library/Application Support}/{--name}/{--configs}.json{,c}"},
	Watched: base.Watched{
		{reason.InstructionsChanged, []string{"~/AGENTS.md", "{--user}/.claude/CLAUDE.md",
			"^/{AGENTS,CLAUDE,CONTEXT}.md"}},
		{"", []string{"{~,--own}/{agent,agents,mode,modes}/*.md",
			"{~,--own}/{plugin,plugins,tool,tools}/*"}},
	},
}

// places returns the lists in reads, which stand there in place of options.
func (o opencode) places(dir string, env func(string) string) func(list string) []string {
	lists := map[string][]string{"--name": {o.About.Name}, "--user": {env("HOME")},
		"--configs": o.configs, "--data": {o.About.Home(env)}}
	for list, variable := range map[string]string{"--config": "CONFIG", "--dirs": "CONFIG_DIR"} {
		if path := env(o.variable + variable); path != "" {
			lists[list] = []string{path}
		}
	}
	for _, own := range o.dirs {
		lists["--dirs"] = append(lists["--dirs"], env("HOME")+"/"+own)
		lists["--own"] = append(lists["--own"], "^/"+own)
	}
	if !strings.HasPrefix(dir, "/") { // the call's own
		dir = "."
	}
	for range levels {
		lists["--project"] = append(lists["--project"], dir)
		for _, own := range o.dirs {
			lists["--project"] = append(lists["--project"], dir+"/"+own)
		}
		dir += "/.."
	}
	return func(list string) []string { return lists[list] }
}

// levels is how many directories a project's configuration is looked for in: the directory that the
// tool works in, and those above. opencode goes up to the repository's.
const levels = 12

// ResolveWithEnv passes through a version that was not measured, and an unknown one: 1.15.13
// resumes without any output, and older logs look different.
func (o opencode) ResolveWithEnv(c rewrite.CommandLine, s rewrite.HostEnv) rewrite.CommandLine {
	if s.Version == "" || !base.AtLeast(s.Version, o.oldest...) ||
		base.AtLeast(s.Version, o.newest...) {
		c.Mode, c.Reason = rewrite.Passthrough, reason.NoResume
		return c
	}
	if !slices.ContainsFunc(c.Settings, func(s rewrite.Setting) bool {
		return s.Name == "--pure"
	}) {
		c.ReadHooks(hooks, s, nil)
	}
	for _, f := range s.Settings {
		if strings.HasSuffix(f.Path, "/auth.json") {
			c.Settings = append(c.Settings, accounts(f.Text)...)
		} else {
			c.Settings = append(c.Settings, settings(f.Path, f.Text)...)
		}
	}
	return c
}

// schema matches the line that opencode itself adds to a configuration file without it, in the
// first run.
var schema = grammar.Compiled(`\s*"\$schema"\s*:\s*"[^"]*"\s*,?`)

// settings returns the settings of a configuration file, without the tool's own entries:
// the schema's address, and the permission that kilo adds once for existing users.
func settings(path, text string) []rewrite.Setting {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &members) != nil || len(members) > rewrite.MaxMembers {
		text = strings.Join(strings.Fields(schema().ReplaceAllString(text, "")), " ")
		return []rewrite.Setting{{Name: path, Value: text}}
	}
	var settings []rewrite.Setting
	for _, key := range slices.Sorted(maps.Keys(members)) {
		value := jsonline.Compact(string(members[key]))
		if key == "$schema" || key == "permission" && value == `{"bash":"allow"}` &&
			strings.Contains(path, "kilo.json") {
			continue
		}
		settings = append(settings, rewrite.Setting{Name: path + " " + key, Value: value})
	}
	return settings
}

// accounts returns the entries that identify the accounts in auth.json. The tokens of an OAuth
// login there change every hour.
func accounts(text string) (accounts []rewrite.Setting) {
	var logins map[string]struct{ Type, Key, AccountID, EnterpriseURL string }
	if json.Unmarshal([]byte(text), &logins) != nil {
		return []rewrite.Setting{{Name: "auth.json", Value: text, Guard: reason.AuthChanged}}
	}
	for _, provider := range slices.Sorted(maps.Keys(logins)) {
		l := logins[provider]
		accounts = append(accounts, rewrite.Setting{Name: "auth.json " + provider,
			Value: strings.Join([]string{l.Type, l.Key, l.AccountID, l.EnterpriseURL}, "\x00"),
			Guard: reason.AuthChanged})
	}
	return accounts
}

// ActsOn returns false: opencode run sends file mentions and slash commands as they stand.
func (opencode) ActsOn(string) bool { return false }

// Plan adds options right behind run.
func (o opencode) Plan(c rewrite.CommandLine, t rewrite.Target) rewrite.Plan {
	plan := t.Plan(c)
	var added []string
	if c.Format == rewrite.Text {
		plan.ReadStderr, plan.OneStream = true, true
		if !base.Own[bool](c) {
			added = append(added, "--print-logs=true")
		}
	}
	if plan.Resume != "" {
		added = append(added, "--session="+plan.Resume)
	}
	base.Add(&plan, c, "", added...)
	return plan
}

// ValidID accepts ses_, twelve hexadecimal digits and fourteen letters or digits.
func (opencode) ValidID(id string) bool {
	rest, ok := strings.CutPrefix(id, "ses_")
	return ok && len(rest) == 26 && strings.Trim(rest[:12], "0123456789abcdef") == "" &&
		!strings.ContainsFunc(rest, func(r rune) bool {
			return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		})
}
