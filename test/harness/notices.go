package harness

// A Notice is a call that makes a tool complain: about settings, the model or work that it refuses.
// The output and the exit status can depend on the output format.
type Notice struct {
	Prompt      string
	Options     []string
	Env         []string
	Files, Home map[string]string // as in a Call
}

// Call returns the call with these arguments.
func (n Notice) Call(args []string) Call {
	return Call{Args: args, Env: n.Env, Files: n.Files, Home: n.Home}
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
		"broken settings": {Prompt: "hi",
			Files: map[string]string{".claude/settings.json": cutJSON}},
		"wrong rule": {Prompt: "hi",
			Files: map[string]string{
				".claude/settings.json": `{"permissions":{"allow":["Bash(foo:*bar"]}}`}},
		"wrong rule as an option": {Prompt: "hi",
			Options: []string{"--allowedTools", "Bash(git log:*,Read"}},
		"unknown model":             {Prompt: "hi", Options: []string{"--model", unknown}},
		"unknown model by variable": {Prompt: "hi", Env: []string{"ANTHROPIC_MODEL=" + unknown}},
		"refused work": {Prompt: connects,
			Options: []string{"--permission-mode", "auto"}},
		"refused work by settings": {Prompt: connects,
			Home: map[string]string{
				".claude/settings.json": `{"permissions":{"defaultMode":"auto"}}`}},
	},
	"codex": {
		"broken settings": {Prompt: "hi",
			Home: map[string]string{".codex/config.toml": cutTOML}},
		"unknown setting": {Prompt: "hi", Options: []string{"-c", "nosuch=1"}},
		"wrong rule": {Prompt: "hi",
			Home: map[string]string{".codex/rules/default.rules": "prefix_rule(pattern = \n"}},
		"wrong rule as an option": {Prompt: "hi",
			Options: []string{"-c", "approval_policy=sometimes"}},
		"unknown model": {Prompt: "hi", Options: []string{"-m", unknown}},
		"refused work":  {Prompt: writes, Options: []string{"-s", "read-only"}},
		"refused work by rule": {Prompt: writes,
			Home: map[string]string{
				".codex/rules/default.rules": `prefix_rule(pattern=["touch"], decision="forbidden")` + "\n"}},
	},
	"copilot": {
		"broken settings": {Prompt: "hi", Home: map[string]string{
			".copilot/settings.json": cutJSON}},
		"wrong rule":    {Prompt: "hi", Options: []string{"--allow-tool", "shell(git:*"}},
		"unknown model": {Prompt: "hi", Options: []string{"--model", unknown}},
		"refused work":  {Prompt: writes},
	},
	"gemini": {
		"broken settings": {Prompt: "hi",
			Files: map[string]string{".gemini/settings.json": cutJSON}},
		"unknown setting": {Prompt: "hi",
			Files: map[string]string{
				".gemini/settings.json": `{"tools":{"allowed":"run"},"nosuch":1}`}},
		"wrong rule": {Prompt: "hi", Options: []string{"--policy", "p.toml"},
			Files: map[string]string{"p.toml": "[[rule]]\ndecision = \"sometimes\"\n"}},
		"wrong rule as an option": {Prompt: "hi",
			Options: []string{"--allowed-tools", "run_shell_command(git"}},
		"unknown model":        {Prompt: "hi", Options: []string{"-m", unknown}},
		"refused work":         {Prompt: writes},
		"refused work by plan": {Prompt: writes, Options: []string{"--approval-mode", "plan"}},
		"raw output":           {Prompt: "hi", Options: []string{"--raw-output"}},
	},
	"opencode": {
		"broken settings": {Prompt: "hi", Files: map[string]string{"opencode.json": cutJSON}},
		"wrong rule": {Prompt: "hi",
			Files: map[string]string{"opencode.json": `{"permission":{"bash":"sometimes"}}`}},
		"unknown model": {Prompt: "hi", Options: []string{"-m", "standin/" + unknown}},
		"refused work": {Prompt: writes,
			Files: map[string]string{"opencode.json": `{"permission":{"bash":"ask"}}`}},
		"refused work by rule": {Prompt: writes,
			Files: map[string]string{"opencode.json": `{"permission":{"bash":{"touch*":"deny"}}}`}},
	},
	"qwen": {
		"broken settings": {Prompt: "hi",
			Files: map[string]string{".qwen/settings.json": cutJSON}},
		"wrong rule": {Prompt: "hi",
			Files: map[string]string{
				".qwen/settings.json": `{"permissions":{"allow":["Bash(foo:*bar"]}}`}},
		"unknown model":        {Prompt: "hi", Options: []string{"-m", unknown}},
		"refused work":         {Prompt: writes},
		"refused work by plan": {Prompt: writes, Options: []string{"--approval-mode", "plan"}},
	},
	"droid": {
		"broken settings": {Prompt: "hi",
			Files: map[string]string{".factory/settings.json": cutJSON}},
		"wrong rule": {Prompt: "hi",
			Files: map[string]string{".factory/settings.json": `{"commandDenylist":"touch"}`}},
		"wrong rule as an option": {Prompt: "hi", Options: []string{"--add-tools", "nosuch"}},
		"unknown model":           {Prompt: "hi", Options: []string{"-m", unknown}},
		"refused work":            {Prompt: writes},
	},
	"vibe": {
		"broken settings": {Prompt: "hi", Options: []string{"--trust"},
			Files: map[string]string{".vibe/config.toml": cutTOML}},
		"untrusted settings": {Prompt: "hi",
			Files: map[string]string{".vibe/config.toml": cutTOML}},
		"broken agent": {Prompt: "hi",
			Home: map[string]string{".vibe/agents/mine.toml": cutTOML}},
		"wrong rule": {Prompt: "hi",
			Env: []string{`VIBE_TOOLS={"bash":{"permission":"sometimes"}}`}},
		"wrong rule as an option": {Prompt: "hi", Options: []string{"--enabled-tools", "re:("}},
		"unknown model":           {Prompt: "hi", Env: []string{"VIBE_ACTIVE_MODEL=" + unknown}},
		"refused work":            {Prompt: writes, Options: []string{"--agent", "ask"}},
	},
}
