package rewrite

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"reprise/rewrite/reason"
)

// opencode is OpenCode, or Kilo, which is made from it: both have the same command line, output and
// database under other names. Facts in this file were measured with opencode 1.18.33 and kilo 7.7.9
// unless they name another version; docs/internals/opencode.md lists them all.
//
// A call runs in the caller's format. In text nothing names the session, so the call is made to log
// to stderr as well, and those lines are taken out again. A session is continued in place: a copy of
// one (--fork) lacks its permissions, gets more tools and so loses the cached prefix.
type opencode struct {
	base
	descriptor *Descriptor
	variable   string // how the names of its variables begin
	oldest     []int  // the oldest version that was measured
	newest     []int  // the version, not measured, before which all are managed
}

func init() {
	Register(opencode{base{}, &opencodeDescriptor, "OPENCODE_", []int{1, 17, 0}, []int{2}})
	Register(opencode{base{}, &kiloDescriptor, "KILO_", []int{7, 7, 9}, []int{8}})
}

var opencodeDescriptor = Descriptor{
	Name:       "opencode",
	Headless:   []string{"opencode", "run"},
	Unattended: []string{"opencode", "run", "--auto"},
	Managed:    []string{"run"},
	Servers:    []string{"serve", "web", "acp"},
	Alone:      []string{"--help", "-h", "--version", "-v"},
	Nested:     []string{"OPENCODE"}, // set by opencode for all that it starts
	LoginKeys:  []string{"OPENCODE_API_KEY"},
	Provider:   "opencode",

	CannotWrite: 1,

	Home:         func(env func(string) string) string { return dataHome(env) + "/opencode" },
	Database:     "opencode.db",
	SessionQuery: opencodeSession,
	AsksVersion:  true,
	StandIn: StandIn{
		// The registry is where it looks for a package of its plugins, in the background.
		Env:    []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "npm_config_registry=URL"},
		Config: ".config/opencode/opencode.json",
		Text:   opencodeStandIn,
	},
}

var kiloDescriptor = Descriptor{
	Name:         "kilo",
	Headless:     []string{"kilo", "run"},
	Unattended:   []string{"kilo", "run", "--auto"},
	Managed:      []string{"run"},
	Servers:      []string{"serve", "web", "acp"},
	Alone:        []string{"--help", "-h", "--version", "-v"},
	Nested:       []string{"KILO_PID"},
	LoginKeys:    []string{"KILO_API_KEY"},
	Provider:     "kilo",
	Home:         func(env func(string) string) string { return dataHome(env) + "/kilo" },
	Database:     "kilo.db",
	SessionQuery: opencodeSession,
	AsksVersion:  true,
	StandIn: StandIn{
		Env: []string{
			"KILO_DISABLE_MODELS_FETCH=1", "KILO_DISABLE_AUTOUPDATE=1", "KILO_TELEMETRY_LEVEL=off", "KILO_DISABLE_SESSION_INGEST=1",
			"KILO_DISABLE_PRESENCE=1", "KILO_DISABLE_CODEBASE_INDEXING=1", "KILO_DISABLE_SHARE=1", "KILO_DISABLE_DEFAULT_PLUGINS=1",
			"KILO_NO_DAEMON=1", "npm_config_registry=URL",
		},
		Config: ".config/kilo/kilo.json",
		Text:   opencodeStandIn,
	},
}

const opencodeStandIn = `{
  "autoupdate": false,
  "model": "standin/stand-in",
  "provider": {
    "standin": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "Stand-in",
      "api": "URL/v1",
      "options": {"apiKey": "stand-in"},
      "models": {
        "stand-in": {
          "name": "stand-in",
          "limit": {"context": 200000, "output": 8000},
          "cost": {"input": 1.5, "output": 7.5, "cache_read": 0.15}
        }
      }
    }
  }
}
`

// opencodeSession returns what changes with each turn. The tokens are totals of the session; those of
// the hidden request for its title are not among them. opencodeRow reads it.
const opencodeSession = `SELECT time_updated, directory, revert IS NOT NULL, version, json_extract(model, '$.id'),
	cost, tokens_input, tokens_output + tokens_reasoning, tokens_cache_read, tokens_cache_write,
	(SELECT count(*) FROM message WHERE session_id = session.id),
	(SELECT max(id) FROM message WHERE session_id = session.id),
	(SELECT json_extract(data, '$.tokens.total') FROM message WHERE session_id = session.id AND json_extract(data, '$.role') = 'assistant'
		ORDER BY time_created DESC, id DESC LIMIT 1),
	(SELECT count(*) FROM message WHERE session_id = session.id AND json_extract(data, '$.summary') = 1)
	FROM session WHERE id = ?`

func (o opencode) Descriptor() *Descriptor { return o.descriptor }

// dataHome returns the directory below which programs keep their data.
func dataHome(env func(string) string) string {
	if dir := env("XDG_DATA_HOME"); dir != "" {
		return dir
	}
	return env("HOME") + "/.local/share"
}

// opencodeOptions lists every option of opencode run and kilo run, the hidden ones included. A list
// takes all words up to the next option.
var opencodeOptions = optionTable{
	{[]string{"--agent"}, OneValue, setting},
	{[]string{"--attach"}, OneValue, unmanaged},
	{[]string{"--auto"}, NoValue, setting},
	{[]string{"--cloud-fork"}, NoValue, callerOwned},
	{[]string{"--command"}, OneValue, unmanaged},
	{[]string{"--continue", "-c"}, NoValue, callerOwned},
	{[]string{"--dangerously-skip-permissions"}, NoValue, setting},
	{[]string{"--demo"}, NoValue, unmanaged},
	{[]string{"--dir"}, OneValue, neutral},
	{[]string{"--file", "-f"}, ManyValues, unmanaged},
	{[]string{"--fork"}, NoValue, callerOwned},
	{[]string{"--format"}, OneValue, format},
	{[]string{"--help", "-h"}, NoValue, admin},
	{[]string{"--interactive", "-i"}, NoValue, unmanaged},
	{[]string{"--log-level"}, OneValue, neutral},
	{[]string{"--mini"}, NoValue, unmanaged},
	{[]string{"--model", "-m"}, OneValue, model},
	{[]string{"--password", "-p"}, OneValue, unmanaged},
	{[]string{"--port"}, OneValue, unmanaged},
	{[]string{"--print-logs"}, NoValue, neutral},
	{[]string{"--pure"}, NoValue, setting},
	{[]string{"--replay"}, NoValue, unmanaged},
	{[]string{"--replay-limit"}, OneValue, unmanaged},
	{[]string{"--session", "-s"}, OneValue, callerOwned},
	{[]string{"--share"}, NoValue, unmanaged},
	{[]string{"--thinking"}, NoValue, neutral},
	{[]string{"--title"}, OptionalValue, setting},
	{[]string{"--username", "-u"}, OneValue, unmanaged},
	{[]string{"--variant"}, OneValue, setting},
	{[]string{"--version", "-v"}, NoValue, admin},
	{[]string{"--yolo"}, NoValue, setting},
}

// Variables returns the variables with the tool's prefix. Some of kilo's are still opencode's.
func (o opencode) Variables() Variables {
	named := func(names ...string) (all []string) {
		for _, name := range names {
			all = append(all, o.variable+name)
		}
		return all
	}
	return Variables{
		Settings: named("*"),
		Account:  named("API_KEY", "AUTH_CONTENT", "CONSOLE_TOKEN", "API_URL", "ORG_ID"),
		Neutral: named("PID", "CLIENT", "PRINT_LOGS", "LOG_LEVEL", "DISABLE_TERMINAL_TITLE", "DISABLE_MOUSE", "DISABLE_AUTOUPDATE",
			"ALWAYS_NOTIFY_UPDATE", "EDITOR_SSE_PORT", "SHOW_TTFD", "DIRECT_TRACE", "AUTO_HEAP_SNAPSHOT", "RUN_ID", "PROCESS_ROLE", "TELEMETRY_LEVEL"),
	}
}

// opencodeOwn is what opencode's calls have of their own.
type opencodeOwn struct {
	runAt    int    // place of run in Args
	ownLogs  bool   // the caller itself wants the log on stderr
	logLevel string // the least level that is logged
}

func opencodeOwnOf(c Call) opencodeOwn {
	own, _ := c.Own.(opencodeOwn)
	return own
}

func (o opencode) Parse(in Invocation) Call {
	call := o.descriptor.newCall(in)
	end := len(in.Args)
	if i := slices.Index(in.Args, "--"); i >= 0 {
		end = i
	}
	p := parseYargs(in.Args[:end], opencodeOptions.with(in.Learned))
	for i := end + 1; i < len(in.Args); i++ {
		p.operands = append(p.operands, argSpan{i, 1})
	}
	call.readOpencode(o, p, in)
	call.Reason = o.reason(&call, p, in)
	switch call.Reason {
	case "":
		call.Mode = Fresh
		call.SettingsFiles = o.settingsFiles(call.Dir, in.Env)
		call.Watched = o.watched(in.Env)
	case reason.CallerSession:
		if call.Format == StreamJSON {
			call.Mode = Observe // each line contains the session's ID
		}
	}
	return call
}

// opencodeFormats are the values of --format.
var opencodeFormats = map[string]Format{"default": Text, "json": StreamJSON}

// readOpencode copies into the call every option that does not decide whether it is managed.
func (c *Call) readOpencode(o opencode, p parsedArgs, in Invocation) {
	c.Unknown, c.Home = p.unknown, o.descriptor.Home(in.Env)
	own := opencodeOwn{ownLogs: in.Env(o.variable+"PRINT_LOGS") != "", logLevel: in.Env(o.variable + "LOG_LEVEL")}
	dir := ""
	for _, option := range p.options {
		value := strings.Join(option.values, "")
		switch option.Kind {
		case model:
			c.Model = value
		case format:
			c.Format = opencodeFormats[value]
		case setting:
			c.Settings = append(c.Settings, Setting{Name: option.Names[0], Value: value})
		}
		switch option.Names[0] {
		case "--session":
			c.SessionID = value
		case "--dir":
			dir = value
		case "--log-level":
			own.logLevel = value
		case "--print-logs":
			own.ownLogs = value == "true"
		}
	}
	slices.SortStableFunc(c.Settings, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	c.Dir = opencodeDir(in.Env("PWD"), dir)
	c.Own = own
	if len(p.operands) == 0 {
		return
	}
	own.runAt, c.promptArgs = p.operands[0].at, p.operands[1:]
	c.Own = own
	words := make([]string, len(c.promptArgs))
	for i, word := range c.promptArgs {
		words[i] = in.Args[word.at]
	}
	c.Prompt = strings.Join(words, " ")
	switch {
	case in.StdinTTY:
	case c.Prompt == "":
		c.Stdin, c.Silence = StdinPrompt, SilenceAwaited
	default:
		c.Stdin, c.Silence = StdinAppended, SilenceAwaited
	}
}

// opencodeDir returns the directory that opencode works in: that of --dir, or else the one that PWD
// names, even if it is not the process's own. A session can only be resumed there: anywhere else
// opencode hangs once the model has answered.
func opencodeDir(pwd, dir string) string {
	switch {
	case strings.HasPrefix(dir, "/") || !strings.HasPrefix(pwd, "/"):
		return dir
	case dir == "":
		return pwd
	}
	return pwd + "/" + dir
}

// settingsFiles returns the configuration of the user and the project, and the logins.
func (o opencode) settingsFiles(dir string, env func(string) string) []string {
	name, config := o.descriptor.Name, o.configHome(env)
	files := []string{config + "/config.json", o.descriptor.Home(env) + "/auth.json", env(o.variable + "CONFIG")}
	for _, folder := range []string{config, env(o.variable + "CONFIG_DIR"), env("HOME") + "/." + name} {
		for _, file := range opencodeConfigs(name) {
			files = append(files, folder+"/"+file)
		}
	}
	if dir == "" {
		dir = "."
	}
	for range opencodeLevels {
		for _, file := range opencodeConfigs(name) {
			files = append(files, dir+"/"+file, dir+"/."+name+"/"+file)
		}
		dir += "/.."
	}
	return slices.DeleteFunc(files, func(path string) bool { return path == "" })
}

// opencodeLevels is how many directories a project's configuration is looked for in: the one that the
// tool works in, and those above.
const opencodeLevels = 4

// opencodeConfigs returns the names of the configuration files. kilo reads opencode's as well.
func opencodeConfigs(name string) []string {
	names := []string{"opencode.json", "opencode.jsonc"}
	if name != "opencode" {
		names = append(names, name+".json", name+".jsonc")
	}
	return names
}

func (o opencode) configHome(env func(string) string) string {
	config := env("XDG_CONFIG_HOME")
	if config == "" {
		config = env("HOME") + "/.config"
	}
	return config + "/" + o.descriptor.Name
}

// watched returns the files that the tool reads on its own at the start of a session.
func (o opencode) watched(env func(string) string) []Watch {
	name, config := o.descriptor.Name, o.configHome(env)
	shown := "~/.config/" + name
	watched := []Watch{
		{Path: config + "/AGENTS.md", Name: shown + "/AGENTS.md", Guard: reason.InstructionsChanged},
		{Path: env("HOME") + "/.claude/CLAUDE.md", Name: "~/.claude/CLAUDE.md", Guard: reason.InstructionsChanged},
	}
	for _, file := range []string{"AGENTS.md", "CLAUDE.md", "CONTEXT.md"} {
		watched = append(watched, Watch{Path: file, Above: true, Guard: reason.InstructionsChanged})
	}
	for _, files := range []string{"agent/*.md", "agents/*.md", "mode/*.md", "modes/*.md", "plugin/*", "plugins/*", "tool/*", "tools/*"} {
		folder, _, _ := strings.Cut(files, "/")
		watched = append(watched, Watch{Path: config + "/" + files, Name: shown + "/" + folder},
			Watch{Path: "." + name + "/" + files, Name: "." + name + "/" + folder, Above: true})
	}
	return watched
}

// reason returns why the call is not managed, or "".
func (o opencode) reason(c *Call, p parsedArgs, in Invocation) reason.Code {
	first := ""
	if len(p.operands) > 0 {
		first = in.Args[p.operands[0].at]
	}
	if slices.Contains(o.descriptor.Servers, first) {
		return reason.AppServer
	}
	p = p.withoutOff()
	level := opencodeOwnOf(*c).logLevel
	switch why := c.why(o.descriptor, p, in, signs{
		command:     first != "run" && first != "",
		interactive: first == "",
		bad:         p.repeated() || c.Format == "",
	}); {
	case why != "":
		return why
	case in.Env(o.variable+"DB") != "":
		c.Unmanaged = o.variable + "DB"
		return reason.UnmanagedOption
	case c.Format == Text && level != "" && level != "INFO" && level != "DEBUG":
		c.Unmanaged = "--log-level"
		return reason.UnmanagedOption // the log would not name the session
	case c.Prompt == "" && in.StdinTTY:
		return reason.BadUsage
	}
	return ""
}

// ResolveWithEnv passes through a version that was not measured, and one that is not known: 1.15.13
// resumes without any output, and older logs look different.
func (o opencode) ResolveWithEnv(c Call, s HostEnv) Call {
	if s.Version == "" || !atLeast(s.Version, o.oldest...) || atLeast(s.Version, o.newest...) {
		c.Mode, c.Reason, c.NoResume = Passthrough, reason.NoResume, true
		return c
	}
	for _, path := range c.SettingsFiles {
		text, found := s.Settings[path]
		switch {
		case !found:
		case strings.HasSuffix(path, "/auth.json"):
			c.Settings = append(c.Settings, opencodeAccounts(text)...)
		default:
			c.Settings = append(c.Settings, opencodeSettings(path, text)...)
		}
	}
	return c
}

// opencodeSchema matches what opencode itself adds to a configuration file that lacks it, in its first
// run.
var opencodeSchema = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\s*"\$schema"\s*:\s*"[^"]*"\s*,?`)
})

// opencodeSettings returns the settings of a configuration file, without what the tool writes there
// itself: the schema's address, and the permission that kilo adds once for existing users.
func opencodeSettings(path, text string) []Setting {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &members) != nil || len(members) > maxMembers {
		text = strings.Join(strings.Fields(opencodeSchema().ReplaceAllString(text, "")), " ")
		return []Setting{{Name: path, Value: text}}
	}
	var settings []Setting
	for _, key := range slices.Sorted(maps.Keys(members)) {
		value := jsonCompact(string(members[key]))
		if key == "$schema" || key == "permission" && value == `{"bash":"allow"}` && strings.Contains(path, "kilo.json") {
			continue
		}
		settings = append(settings, Setting{Name: path + " " + key, Value: value})
	}
	return settings
}

// opencodeAccounts returns what identifies the accounts in auth.json. The tokens of an OAuth login
// there change every hour.
func opencodeAccounts(text string) (accounts []Setting) {
	var logins map[string]struct{ Type, Key, AccountID, EnterpriseURL string }
	if json.Unmarshal([]byte(text), &logins) != nil {
		return []Setting{{Name: "auth.json", Value: text, Guard: reason.AuthChanged}}
	}
	for _, provider := range slices.Sorted(maps.Keys(logins)) {
		l := logins[provider]
		accounts = append(accounts, Setting{Name: "auth.json " + provider, Value: strings.Join([]string{l.Type, l.Key, l.AccountID, l.EnterpriseURL}, "\x00"), Guard: reason.AuthChanged})
	}
	return accounts
}

// ActsOn returns false: opencode run sends file mentions and slash commands as they stand.
func (opencode) ActsOn(string) bool { return false }

func (opencode) HelpArgs() []string { return []string{"run", "--help"} }

func (opencode) Options(help string) Probe { return yargsProbe(help, "--format", "--session") }

// EffectivePrompt joins the words and then stdin. opencode puts words that contain spaces in quotes,
// which are left out here: the closing one would separate a prompt from the same text with more
// behind it.
func (opencode) EffectivePrompt(c Call, stdin string) string {
	switch {
	case c.Prompt == "":
		return stdin
	case stdin != "":
		return c.Prompt + "\n" + stdin
	}
	return c.Prompt
}

// Plan adds options right behind run. A resume that sends only a part of the prompt sends it the way
// that the caller's came.
func (o opencode) Plan(c Call, t Target) Plan {
	prompt, whole := t.Prompt()
	own := opencodeOwnOf(c)
	plan := Plan{Resume: t.Session(), Prompt: prompt, Whole: whole, Asked: t.Asked()}
	var added []string
	if c.Format == Text {
		plan.ReadStderr, plan.OneStream = true, true
		if !own.ownLogs {
			added = append(added, "--print-logs=true")
		}
	}
	args := slices.Clone(c.Args)
	if plan.Resume != "" {
		added = append(added, "--session="+plan.Resume)
	}
	if plan.Resume != "" && !whole {
		args = removePrompt(args, c.promptArgs)
		args = slices.DeleteFunc(args, func(arg string) bool { return arg == "--" })
		if t.fromArgv(c) && len(prompt) <= longestArg {
			args = append(args, "--", prompt)
			plan.HasStdin = c.Stdin != StdinUnused // it was empty
		} else {
			plan.Stdin, plan.HasStdin = prompt, true
		}
	}
	plan.Args = slices.Insert(args, own.runAt+1, added...)
	return plan
}

// ValidID accepts ses_, twelve hexadecimal digits and fourteen letters or digits.
func (opencode) ValidID(id string) bool {
	rest, ok := strings.CutPrefix(id, "ses_")
	return ok && len(rest) == 26 && strings.Trim(rest[:12], "0123456789abcdef") == "" && !strings.ContainsFunc(rest, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// SessionPaths returns the database.
func (o opencode) SessionPaths(home, _, _ string) []string {
	return []string{Literal(home) + "/" + o.descriptor.Database}
}

// SessionFiles returns false: a session is no file.
func (opencode) SessionFiles(string, string, string) (SessionFiles, bool) {
	return SessionFiles{}, false
}

// Refused reads the message about a session that is not there. What the API says about a session is
// on stdout, or in the log.
func (opencode) Refused(stderr string, exit int) reason.Code {
	if exit != 0 && strings.Contains(stderr, opencodeError+"Session not found\n") {
		return reason.RefusedUnknown
	}
	return ""
}
