package harness

import "cmp"

// A Notice is a call that makes a tool complain: about settings, the model or work that it refuses.
// The output and the exit status can depend on the output format.
type Notice struct {
	Prompt      string // "" for any
	Options     []string
	Env         []string
	Files, Home files // as in a Call
}

type files = map[string]string

// Call returns the call with the command line that ask makes of a prompt.
func (n Notice) Call(ask func(prompt string) []string) Call {
	return Call{Args: ask(cmp.Or(n.Prompt, "hi")), Env: n.Env, Files: n.Files, Home: n.Home}
}

const (
	writes   = "RUN<<touch made.txt>>"
	connects = "RUN<<curl -s http://127.0.0.1:9/>>" // to a port where nothing listens
	unknown  = "glm-5.1"
	cutJSON  = `{"model":`
	cutTOML  = "model = \n"
)

// Notices are the tools' notices by tool and name. Where a tool has no permission rules, "wrong
// rule" is its nearest equivalent.
//
// Notices that depend on the format and are not here: claude's of limits of models, memory,
// plugins, agents and the sandbox, and of a restricted resume (the stand-in's home has none of
// these); opencode's of subtasks. These cannot be provoked: notices that need an account (claude's
// code-mode-opt-in, remote workers, peers, --cloud), qwen's missing authentication (the home has a
// key), and claude's exit status on a full disk, which is 1 unless the format is stream-json.
var Notices = map[string]map[string]Notice{
	"claude": {
		"broken settings": {Files: files{".claude/settings.json": cutJSON}},
		"wrong rule": {Files: files{
			".claude/settings.json": `{"permissions":{"allow":["Bash(foo:*bar"]}}`}},
		"wrong rule as an option":   {Options: []string{"--allowedTools", "Bash(git log:*,Read"}},
		"unknown model":             {Options: []string{"--model", unknown}},
		"unknown model by variable": {Env: []string{"ANTHROPIC_MODEL=" + unknown}},
		"refused work": {Prompt: connects,
			Options: []string{"--permission-mode", "auto"}},
		"refused work by settings": {Prompt: connects,
			Home: files{".claude/settings.json": `{"permissions":{"defaultMode":"auto"}}`}},
	},
	"codex": {
		"broken settings": {Home: files{".codex/config.toml": cutTOML}},
		"unknown setting": {Options: []string{"-c", "nosuch=1"}},
		"wrong rule": {
			Home: files{".codex/rules/default.rules": "prefix_rule(pattern = \n"}},
		"wrong rule as an option": {Options: []string{"-c", "approval_policy=sometimes"}},
		"unknown model":           {Options: []string{"-m", unknown}},
		"refused work":            {Prompt: writes, Options: []string{"-s", "read-only"}},
		"refused work by rule": {Prompt: writes, Home: files{
			".codex/rules/default.rules": `prefix_rule(pattern=["touch"], decision="forbidden")` + "\n"}},
	},
	"copilot": {
		"broken settings": {Home: files{".copilot/settings.json": cutJSON}},
		"wrong rule":      {Options: []string{"--allow-tool", "shell(git:*"}},
		"unknown model":   {Options: []string{"--model", unknown}},
		"refused work":    {Prompt: writes},
	},
	"gemini": {
		"broken settings": {Files: files{".gemini/settings.json": cutJSON}},
		"unknown setting": {Files: files{
			".gemini/settings.json": `{"tools":{"allowed":"run"},"nosuch":1}`}},
		"wrong rule": {Options: []string{"--policy", "p.toml"},
			Files: files{"p.toml": "[[rule]]\ndecision = \"sometimes\"\n"}},
		"wrong rule as an option": {Options: []string{"--allowed-tools", "run_shell_command(git"}},
		"unknown model":           {Options: []string{"-m", unknown}},
		"refused work":            {Prompt: writes},
		"refused work by plan":    {Prompt: writes, Options: []string{"--approval-mode", "plan"}},
		"raw output":              {Options: []string{"--raw-output"}},
	},
	"opencode": {
		"broken settings": {Files: files{"opencode.json": cutJSON}},
		"wrong rule":      {Files: files{"opencode.json": `{"permission":{"bash":"sometimes"}}`}},
		"unknown model":   {Options: []string{"-m", "standin/" + unknown}},
		"refused work": {Prompt: writes,
			Files: files{"opencode.json": `{"permission":{"bash":"ask"}}`}},
		"refused work by rule": {Prompt: writes,
			Files: files{"opencode.json": `{"permission":{"bash":{"touch*":"deny"}}}`}},
	},
	"qwen": {
		"broken settings": {Files: files{".qwen/settings.json": cutJSON}},
		"wrong rule": {Files: files{
			".qwen/settings.json": `{"permissions":{"allow":["Bash(foo:*bar"]}}`}},
		"unknown model":        {Options: []string{"-m", unknown}},
		"refused work":         {Prompt: writes},
		"refused work by plan": {Prompt: writes, Options: []string{"--approval-mode", "plan"}},
	},
	"droid": {
		"broken settings": {Files: files{".factory/settings.json": cutJSON}},
		"wrong rule": {
			Files: files{".factory/settings.json": `{"commandDenylist":"touch"}`}},
		"wrong rule as an option": {Options: []string{"--add-tools", "nosuch"}},
		"unknown model":           {Options: []string{"-m", unknown}},
		"refused work":            {Prompt: writes},
	},
	"vibe": {
		"broken settings": {Options: []string{"--trust"},
			Files: files{".vibe/config.toml": cutTOML}},
		"untrusted settings": {Files: files{".vibe/config.toml": cutTOML}},
		"broken agent":       {Home: files{".vibe/agents/mine.toml": cutTOML}},
		"wrong rule": {
			Env: []string{`VIBE_TOOLS={"bash":{"permission":"sometimes"}}`}},
		"wrong rule as an option": {Options: []string{"--enabled-tools", "re:("}},
		"unknown model":           {Env: []string{"VIBE_ACTIVE_MODEL=" + unknown}},
		"refused work":            {Prompt: writes, Options: []string{"--agent", "ask"}},
	},
}
