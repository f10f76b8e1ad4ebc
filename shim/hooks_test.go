package shim

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"reprise/rewrite"
	"reprise/shim/binary"
	"reprise/shim/disk"
	"reprise/test/toolbox"
)

// The requests of a call's hooks.
const (
	wholePrompt = "whole"       // the prompt is sent whole
	fresh       = "fresh"       // a session begins
	anyHook     = "whole fresh" // also for hooks that cannot be read
)

// hook returns settings with a hook, in JSON.
func hook(event, matcher string) string {
	return `{"hooks": {"` + event + `": [{` + matcher +
		`"hooks": [{"type": "command", "command": "true"}]}]}}`
}

func matcher(text string) string { return `"matcher": "` + text + `", ` }

// Hooks are found wherever the tools read them. In files and arguments, HOME is the home directory,
// and a path without it is below the working directory, HOME/repo/sub.
func TestHooks(t *testing.T) {
	prompt, start := hook("UserPromptSubmit", ""), hook("SessionStart", matcher("startup"))
	const enabled = `{"enabledPlugins": {"guard@acme": true}}`
	cache := "HOME/.claude/plugins/cache/acme/guard/1.0.0/"
	tests := []struct {
		name, call, version string
		files               map[string]string
		environ             []string
		want                string
	}{
		{name: "no hook", call: "claude -p",
			files: map[string]string{"HOME/.claude/settings.json": hook("PreToolUse", "")}},
		{name: "user", call: "claude -p",
			files: map[string]string{"HOME/.claude/settings.json": prompt}, want: wholePrompt},
		{name: "user, elsewhere", call: "claude -p", environ: []string{"CLAUDE_CONFIG_DIR=HOME/c"},
			files: map[string]string{"HOME/c/settings.json": start}, want: fresh},
		{name: "project", call: "claude -p",
			files: map[string]string{".claude/settings.json": prompt}, want: wholePrompt},
		{name: "local", call: "claude -p",
			files: map[string]string{".claude/settings.local.json": start}, want: fresh},
		{name: "local, of the git.Repository", call: "claude -p",
			files: map[string]string{"HOME/repo/.claude/settings.local.json": start}, want: fresh},
		{name: "of the service", call: "claude -p",
			files: map[string]string{"HOME/.claude/remote-settings.json": start}, want: fresh},
		{name: "inline", call: "claude -p --settings " +
			strings.ReplaceAll(prompt, " ", ""), want: wholePrompt},
		{name: "--settings", call: "claude -p --settings=s.json",
			files: map[string]string{"s.json": start}, want: fresh},
		{name: "another source", call: "claude -p --setting-sources project",
			files: map[string]string{"HOME/.claude/settings.json": start}},
		{name: "no source", call: "claude -p --setting-sources=",
			files: map[string]string{".claude/settings.json": start,
				".claude/settings.local.json": prompt}},
		{name: "this source", call: "claude -p --setting-sources project,local",
			files: map[string]string{".claude/settings.json": start}, want: fresh},
		{name: "off", call: "claude -p",
			files: map[string]string{"HOME/.claude/settings.json": start,
				".claude/settings.json": `{"disableAllHooks": true}`}},
		{name: "off and on", call: "claude -p",
			files: map[string]string{"HOME/.claude/settings.json": `{"disableAllHooks": true}`,
				".claude/settings.json": `{"disableAllHooks": false, ` + start[1:]}, want: fresh},
		{name: "managed, although off", call: "claude -p",
			files: map[string]string{"HOME/.claude/remote-settings.json": start,
				".claude/settings.json": `{"disableAllHooks": true}`}, want: fresh},
		{name: "with comments", call: "claude -p",
			files: map[string]string{".claude/settings.json": "// mine\n" + prompt}, want: anyHook},
		{name: "broken, without hooks", call: "claude -p",
			files: map[string]string{".claude/settings.json": "{"}},
		{name: "escaped", call: "claude -p",
			files: map[string]string{".claude/settings.json": strings.Replace(start, "Start",
				`\u0053tart`, 1)}, want: fresh},

		{name: "all", call: "claude -p",
			files: map[string]string{".claude/settings.json": hook("SessionStart", "")}},
		{name: "matcher empty", call: "claude -p",
			files: map[string]string{".claude/settings.json": hook("SessionStart", matcher(""))}},
		{name: "matcher *", call: "claude -p",
			files: map[string]string{".claude/settings.json": hook("SessionStart", matcher("*"))}},
		{name: "matcher .*", call: "claude -p",
			files: map[string]string{".claude/settings.json": hook("SessionStart", matcher(".*"))}},
		{name: "matcher of all", call: "claude -p",
			files: map[string]string{".claude/settings.json": hook("SessionStart",
				matcher("startup|resume|clear|compact|fork"))}},
		{name: "matcher of all, anchored", call: "claude -p",
			files: map[string]string{".claude/settings.json": hook("SessionStart",
				matcher("^(startup|resume|fork)$"))}},
		{name: "matcher without a fork", call: "claude -p",
			files: map[string]string{".claude/settings.json": hook("SessionStart",
				matcher("startup|resume|clear"))}, want: fresh},
		{name: "an older claude has no fork", call: "claude -p", version: "2.1.197",
			files: map[string]string{".claude/settings.json": hook("SessionStart",
				matcher("startup|resume|clear"))}},
		{name: "matcher of resumes", call: "claude -p",
			files: map[string]string{".claude/settings.json": hook("SessionStart",
				matcher("resume"))}, want: fresh},
		{name: "matcher of neither", call: "claude -p",
			files: map[string]string{".claude/settings.json": hook("SessionStart",
				matcher("clear|compact"))}},
		{name: "matcher of a part", call: "claude -p",
			files: map[string]string{".claude/settings.json": hook("SessionStart",
				matcher("start"))}, want: fresh},
		{name: "a regular expression", call: "claude -p",
			files: map[string]string{".claude/settings.json": hook("SessionStart",
				matcher("(?!clear).*"))}, want: fresh},
		{name: "Setup", call: "claude -p",
			files: map[string]string{".claude/settings.json": hook("Setup", matcher("init"))}},

		{name: "a plugin", call: "claude -p",
			files: map[string]string{"HOME/.claude/settings.json": enabled, cache +
				"hooks/hooks.json": start}, want: fresh},
		{name: "a plugin's manifest", call: "claude -p",
			files: map[string]string{".claude/settings.json": enabled, cache +
				".claude-plugin/plugin.json": `{"name": "guard", ` + prompt[1:]},
			want: wholePrompt},
		{name: "a plugin without hooks", call: "claude -p",
			files: map[string]string{".claude/settings.json": enabled, cache +
				".claude-plugin/plugin.json": `{"name": "guard"}`}},
		{name: "a plugin's other file", call: "claude -p",
			files: map[string]string{".claude/settings.json": enabled, cache +
				".claude-plugin/plugin.json": `{"hooks": "./more.json"}`}, want: anyHook},
		{name: "a plugin's module", call: "claude -p",
			files: map[string]string{".claude/settings.json": enabled, cache +
				"hooks/hooks.json": `{"modules": ["./a.ts"]}`}, want: anyHook},
		{name: "a plugin that is not there", call: "claude -p",
			files: map[string]string{".claude/settings.json": enabled}, want: anyHook},
		{name: "a plugin that is off", call: "claude -p",
			files: map[string]string{".claude/settings.json": `{"enabledPlugins": {"guard@acme": false}}`, cache + "hooks/hooks.json": start}},
		{name: "a marketplace's hooks", call: "claude -p",
			files: map[string]string{".claude/settings.json": enabled, cache +
				".claude-plugin/plugin.json": "{}",
				"HOME/.claude/plugins/marketplaces/acme/.claude-plugin/marketplace.json": `{"plugins": [{"name": "guard", ` + start[1:] + `]}`}, want: fresh},
		{name: "another plugin of the marketplace", call: "claude -p",
			files: map[string]string{".claude/settings.json": enabled, cache +
				".claude-plugin/plugin.json": "{}",
				"HOME/.claude/plugins/marketplaces/acme/.claude-plugin/marketplace.json": `{"plugins": [{"name": "other", ` + start[1:] + `]}`}},
		{name: "--plugin-dir", call: "claude -p --plugin-dir ./p",
			files: map[string]string{"p/hooks/hooks.json": prompt}, want: wholePrompt},
		{name: "--plugin-dir of several", call: "claude -p --plugin-dir HOME/all",
			files: map[string]string{"HOME/all/a/hooks/hooks.json": start}, want: fresh},
		{name: "--plugin-dir that is empty", call: "claude -p --plugin-dir nowhere", want: anyHook},
		{name: "--plugin-url",
			call: "claude -p --plugin-url http://127.0.0.1/p.zip", want: anyHook},
		{name: "plugins of a variable", call: "claude -p",
			environ: []string{"CLAUDE_CODE_PLUGIN_DIRS=HOME/p"}, want: anyHook},
		{name: "plugins of a variable in the settings", call: "claude -p",
			files: map[string]string{".claude/settings.json": `{"env": {"CLAUDE_CODE_PLUGIN_DIRS": "/p"}}`}, want: anyHook},
		{name: "an empty variable", call: "claude -p",
			environ: []string{"CLAUDE_CODE_PLUGIN_DIRS="}},
		{name: "a skill that is a plugin", call: "claude -p",
			files: map[string]string{"HOME/.claude/skills/s/hooks/hooks.json": start}, want: fresh},
		{name: "an agent", call: "claude -p --agent a",
			files: map[string]string{".claude/agents/a.md": "---\nhooks:\n  SessionStart:\n    - " +
				"matcher: startup\n---\n"}, want: fresh},
		{name: "an agent that is not used", call: "claude -p",
			files: map[string]string{".claude/agents/a.md": "---\nhooks:\n  SessionStart: " +
				"[]\n---\n"}},
		{name: "--agents",
			call: `claude -p --agents {"a":{"hooks":{"UserPromptSubmit":[{"hooks":[]}]}}}`,
			want: wholePrompt},

		{name: "codex, user", call: "codex exec",
			files: map[string]string{"HOME/.codex/hooks.json": prompt}, want: wholePrompt},
		{name: "codex, elsewhere", call: "codex exec", environ: []string{"CODEX_HOME=HOME/c"},
			files: map[string]string{"HOME/c/hooks.json": start}, want: fresh},
		{name: "codex, project", call: "codex exec",
			files: map[string]string{".codex/hooks.json": start}, want: fresh},
		{name: "codex, the git.Repository's", call: "codex exec",
			files: map[string]string{"HOME/repo/.codex/hooks.json": prompt}, want: wholePrompt},
		{name: "codex, a table", call: "codex exec",
			files: map[string]string{"HOME/.codex/config.toml": "[[hooks.SessionStart]]\nmatcher " +
				"= \"startup\"\n[[hooks.SessionStart.hooks]]\ntype = \"command\"\n"}, want: fresh},
		{name: "codex, a table for all", call: "codex exec",
			files: map[string]string{"HOME/.codex/config.toml": "[[hooks.SessionStart]]\nmatcher " +
				"= \"startup|resume\"\n"}},
		{name: "codex, a profile", call: "codex exec -p x",
			files: map[string]string{"HOME/.codex/x.config.toml": "[[hooks.UserPromptSubmit]]\n"},
			want:  wholePrompt},
		{name: "codex, states of hooks", call: "codex exec",
			files: map[string]string{"HOME/.codex/config.toml": "[hooks.state.\"a:session_start:0:0\"]\ntrusted_hash = \"x\"\n"}},
		{name: "codex, -c", call: "codex exec -c hooks.SessionStart=[]", want: anyHook},
		{name: "codex, a plugin", call: "codex exec",
			files: map[string]string{"HOME/.codex/config.toml": "[plugins.\"guard@acme\"]\nenabled = true\n",
				"HOME/.codex/plugins/cache/acme/guard/1/hooks/hooks.json": start}, want: fresh},
		{name: "codex, a plugin that is off", call: "codex exec",
			files: map[string]string{"HOME/.codex/config.toml": "[plugins.\"guard@acme\"]\nenabled = false\n",
				"HOME/.codex/plugins/cache/acme/guard/1/hooks/hooks.json": start}},
		{name: "codex, a broken file", call: "codex exec",
			files: map[string]string{".codex/config.toml": "[hooks\n"}, want: anyHook},

		{name: "gemini, a prompt", call: "gemini -p",
			files: map[string]string{".gemini/settings.json": hook("BeforeAgent", "")},
			want:  wholePrompt},
		{name: "gemini, a model", call: "gemini -p",
			files: map[string]string{"HOME/.gemini/settings.json": hook("BeforeModel", "")},
			want:  wholePrompt},
		{name: "gemini, any start", call: "gemini -p",
			files: map[string]string{"HOME/.gemini/settings.json": hook("SessionStart",
				matcher("*"))}, want: fresh},
		{name: "gemini, the defaults", call: "gemini -p",
			environ: []string{"GEMINI_CLI_SYSTEM_DEFAULTS_PATH=HOME/d.json"},
			files:   map[string]string{"HOME/d.json": hook("BeforeAgent", "")},
			want:    wholePrompt},
		{name: "gemini, the defaults beside other settings", call: "gemini -p",
			environ: []string{"GEMINI_CLI_SYSTEM_SETTINGS_PATH=HOME/s/settings.json"},
			files:   map[string]string{"HOME/s/system-defaults.json": hook("BeforeAgent", "")},
			want:    wholePrompt},
		{name: "gemini, an extension", call: "gemini -p",
			files: map[string]string{"HOME/.gemini/extensions/e/hooks/hooks.json": hook("SessionStart", "")}, want: fresh},
		{name: "gemini, a linked extension", call: "gemini -p",
			files: map[string]string{"HOME/.gemini/extensions/e/.gemini-extension-install.json": `{"source": "/e", "type": "link"}`}, want: anyHook},

		{name: "qwen, a prompt", call: "qwen -p",
			files: map[string]string{".qwen/settings.json": prompt}, want: wholePrompt},
		{name: "qwen, a start", call: "qwen -p",
			files: map[string]string{"HOME/.qwen/settings.json": start}, want: fresh},
		{name: "qwen, all starts", call: "qwen -p",
			files: map[string]string{"HOME/.qwen/settings.json": hook("SessionStart", "")}},
		{name: "qwen, a system's settings", call: "qwen -p",
			environ: []string{"QWEN_CODE_SYSTEM_SETTINGS_PATH=HOME/s/settings.json"},
			files:   map[string]string{"HOME/s/settings.json": start}, want: fresh},
		{name: "qwen, the defaults beside them", call: "qwen -p",
			environ: []string{"QWEN_CODE_SYSTEM_SETTINGS_PATH=HOME/s/settings.json"},
			files:   map[string]string{"HOME/s/system-defaults.json": prompt}, want: wholePrompt},
		{name: "qwen, an extension", call: "qwen -p",
			files: map[string]string{"HOME/.qwen/extensions/e/qwen-extension.json": `{"name": "e", ` + prompt[1:]}, want: wholePrompt},

		{name: "copilot, a prompt", call: "copilot -p",
			files: map[string]string{".github/hooks/a.json": `{"version": 1, "hooks": {"userPromptSubmitted": [{"bash": "true"}]}}`}, want: wholePrompt},
		{name: "copilot, the git.Repository's", call: "copilot -p",
			files: map[string]string{"HOME/repo/.github/hooks/a.json": `{"hooks": {"userPromptSubmitted": [{"bash": "true"}]}}`}, want: wholePrompt},
		{name: "copilot, a start", call: "copilot -p",
			files: map[string]string{"HOME/.copilot/hooks/a.json": `{"hooks": {"sessionStart": [{"bash": "true"}]}}`}, want: wholePrompt},
		{name: "copilot, no start", call: "copilot -p",
			files: map[string]string{"HOME/.copilot/hooks/a.json": `{"hooks": {"sessionStart": []}}`}},
		{name: "copilot, a matcher", call: "copilot -p",
			files: map[string]string{"HOME/.copilot/settings.json": hook("SessionStart",
				matcher("startup"))}, want: anyHook},
		{name: "copilot, claude's settings", call: "copilot -p",
			files: map[string]string{".claude/settings.json": prompt}, want: wholePrompt},
		{name: "copilot, a plugin", call: "copilot -p",
			files: map[string]string{"HOME/.copilot/installed-plugins/m/p/hooks.json": prompt},
			want:  wholePrompt},
		{name: "copilot, a directory of hooks", call: "copilot -p",
			files: map[string]string{"HOME/.copilot/hooks/team/a.json": prompt}, want: wholePrompt},
		{name: "copilot, a directory of the repository's hooks", call: "copilot -p",
			files: map[string]string{"HOME/repo/.github/hooks/a/b/c.json": prompt},
			want:  wholePrompt},
		{name: "copilot, a directory far below", call: "copilot -p",
			files: map[string]string{".github/hooks/a/b/c/d/e.json": prompt}, want: wholePrompt},
		{name: "copilot, a directory too deep", call: "copilot -p",
			files: map[string]string{".github/hooks/a/b/c/d/e/f/g/h/i/j.json": "{}"},
			want:  anyHook},
		{name: "copilot, a plugin that is off", call: "copilot -p",
			files: map[string]string{"HOME/.copilot/settings.json": `{"enabledPlugins": {"p@m": false}}`, "HOME/.copilot/installed-plugins/m/p/hooks.json": prompt}},
		{name: "copilot, a plugin that is on", call: "copilot -p",
			files: map[string]string{".github/copilot/settings.json": `{"enabledPlugins": {"p@m": true}}`, "HOME/.copilot/installed-plugins/m/p/plugin.json": "{}"}},
		{name: "copilot, a plugin where its marketplace is", call: "copilot -p",
			files: map[string]string{".github/copilot/settings.json": `{"enabledPlugins": {"p@m": true}}`, "m/p/hooks.json": prompt}, want: anyHook},
		{name: "copilot, an agent plugin", call: "copilot --plugin-dir HOME/p -p",
			files: map[string]string{"HOME/p/com.github.copilot/hooks/hooks.json": prompt},
			want:  wholePrompt},
		{name: "copilot, an agent plugin's manifest", call: "copilot --plugin-dir=p -p",
			files: map[string]string{"p/.plugin/plugin.json": prompt}, want: wholePrompt},
		{name: "copilot, another directory", call: "copilot --add-dir HOME/other -p",
			files: map[string]string{"HOME/other/.github/hooks/a/b.json": prompt},
			want:  wholePrompt},
		{name: "copilot, another directory's settings", call: "copilot --add-dir=other -p",
			files: map[string]string{"other/.github/copilot/settings.local.json": hook("sessionStart", matcher("new"))}, want: anyHook},
		{name: "copilot, an extension", call: "copilot -p",
			files: map[string]string{".github/extensions/e/extension.mjs": "//"}, want: anyHook},

		{name: "droid, user", call: "droid exec",
			files: map[string]string{"HOME/.factory/hooks.json": `{"UserPromptSubmit": [{"hooks": []}]}`}, want: wholePrompt},
		{name: "droid, the older place", call: "droid exec",
			files: map[string]string{".factory/hooks/hooks.json": start}, want: fresh},
		{name: "droid, settings", call: "droid exec",
			files: map[string]string{".factory/settings.local.json": start}, want: fresh},
		{name: "droid, a plugin", call: "droid exec",
			files: map[string]string{"HOME/.factory/settings.json": enabled,
				"HOME/.factory/plugins/cache/acme/guard/1/hooks/hooks.json": prompt},
			want: wholePrompt},

		{name: "droid, a plugin's own directory", call: "droid exec",
			files: map[string]string{"HOME/.factory/settings.json": enabled,
				"HOME/.factory/plugins/cache/acme/guard/1/.factory-plugin/plugin.json": "{}",
				"HOME/.factory/plugins/cache/acme/guard/1/hooks.json":                  start},
			want: fresh},
		{name: "droid, an organization", call: "droid exec",
			files: map[string]string{"HOME/.factory/cache/org-managed-settings.json": start},
			want:  fresh},
		{name: "droid, an organization's other file", call: "droid exec",
			environ: []string{"FACTORY_ORG_MANAGED_SETTINGS_LOCAL_PATH=HOME/o.json"},
			files:   map[string]string{"HOME/o.json": prompt}, want: wholePrompt},

		{name: "opencode, code", call: "opencode run",
			files: map[string]string{".opencode/plugin/a.ts": ""}, want: anyHook},
		{name: "opencode, the user's", call: "opencode run",
			files: map[string]string{"HOME/.config/opencode/plugins/a.js": ""}, want: anyHook},
		{name: "opencode, a package", call: "opencode run",
			files: map[string]string{"opencode.json": `{"plugin": ["a"]}`}, want: anyHook},
		{name: "opencode, none", call: "opencode run",
			files: map[string]string{"opencode.json": `{"plugin": []}`}},
		{name: "opencode, without plugins", call: "opencode run --pure",
			files: map[string]string{".opencode/plugin/a.ts": ""}},
		{name: "opencode, far above", call: "opencode run --dir a/b/c/d/e/f/g",
			files: map[string]string{"a/b/c/d/e/f/g/x": "", "opencode.json": `{"plugin": ["a"]}`},
			want:  anyHook},
		{name: "opencode, a server's configuration", call: "opencode run",
			files: map[string]string{"HOME/.local/share/opencode/auth.json": `{"https://a.example": {"type": "wellknown", "key": "K", "token": "t"}}`}, want: anyHook},
		{name: "opencode, a server's configuration by a variable", call: "opencode run",
			environ: []string{`OPENCODE_AUTH_CONTENT={"https://a.example": {"type": "wellknown"}}`},
			want:    anyHook},
		{name: "opencode, a login", call: "opencode run",
			files: map[string]string{"HOME/.local/share/opencode/auth.json": `{"a": {"type": "api", "key": "k"}}`}},
		{name: "opencode, a variable", call: "opencode run",
			environ: []string{`OPENCODE_CONFIG_CONTENT={"plugin": ["a"]}`}, want: anyHook},
		{name: "kilo, a directory of the former name", call: "kilo run",
			files: map[string]string{"HOME/repo/.kilocode/plugin/a.ts": ""}, want: anyHook},
		{name: "kilo, the user's of the former name", call: "kilo run",
			files: map[string]string{"HOME/.kilocode/plugins/a.js": ""}, want: anyHook},
		{name: "kilo, a package", call: "kilo run",
			files: map[string]string{".kilocode/kilo.json": `{"plugin": ["a"]}`}, want: anyHook},
		{name: "kilo, code", call: "kilo run",
			files: map[string]string{".kilo/plugins/a.js": ""}, want: anyHook},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			home := t.TempDir()
			cwd := filepath.Join(home, "repo", "sub")
			in := func(text string) string { return strings.ReplaceAll(text, "HOME/", home+"/") }
			for name, text := range test.files {
				if name = in(name); !filepath.IsAbs(name) {
					name = filepath.Join(cwd, name)
				}
				toolbox.Write(t, name, text)
			}
			toolbox.Write(t, filepath.Join(cwd, "README.md"), "")
			c := hookCall(t, cwd, home, test.version, in(test.call),
				in(strings.Join(test.environ, "\x00")))
			if got := wants(c); got != test.want {
				t.Errorf("%q, want %q (%s %s)", got, test.want, c.line.Mode, c.line.Reason)
			}
		})
	}
}

// hookCall is a call with a known environment.
func hookCall(t *testing.T, cwd, home, version, line, environ string) *found {
	t.Helper()
	t.Chdir(cwd)
	args := append(strings.Fields(line), "hi")
	c := &found{asked: &asked{env: Env{Args: args,
		Environ: append([]string{"HOME=" + home}, strings.Split(environ, "\x00")...)}}, cwd: cwd}
	c.tool, _ = rewrite.Lookup(args[0])
	c.line = c.tool.Parse(rewrite.Input{Args: args[1:], Env: c.env.Get})
	info, err := os.Stat(cwd)
	if err != nil {
		t.Fatal(err)
	}
	if version == "" {
		version = map[string]string{"claude": "2.1.330", "codex": "0.169.0", "gemini": "0.61.0",
			"qwen": "0.24.4", "copilot": "1.0.102", "droid": "0.225.2", "opencode": "1.18.33",
			"kilo": "7.7.9"}[args[0]]
	}
	c.real = binary.Program{Path: "/claude/" + version, Real: "/claude/" + version, Info: info}
	s := c.hostEnv()
	s.Version = version
	c.line = c.tool.ResolveWithEnv(c.line, s)
	if c.line.Mode != rewrite.Fresh {
		t.Fatalf("%s: %s %s", line, c.line.Mode, c.line.Reason)
	}
	return c
}

func wants(c *found) string {
	var words []string
	if c.line.KeepPrompt {
		words = append(words, wholePrompt)
	}
	if c.line.HookSet {
		words = append(words, fresh)
	}
	return strings.Join(words, " ")
}

// A file that a repository puts in the way is not read: the call can have any hook.
func TestHooksOfFilesInTheWay(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"a FIFO":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"a large file": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat(" ", disk.MaxSettings+1)), 0o600)
		},
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		home := t.TempDir()
		cwd := filepath.Join(home, "repo")
		toolbox.Write(t, filepath.Join(cwd, ".codex", "README.md"), "")
		if err := make(filepath.Join(cwd, ".codex", "hooks.json")); err != nil {
			t.Fatal(err)
		}
		if got := wants(hookCall(t, cwd, home, "", "codex exec", "")); got != anyHook {
			t.Errorf("%s: %q, want %q", name, got, anyHook)
		}
	}
}
