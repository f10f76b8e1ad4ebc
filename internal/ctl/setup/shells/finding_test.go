package shells

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCommandOf(t *testing.T) {
	local := "/home/u/.claude/local/claude"
	type command struct {
		path          string
		byPath, plain bool
	}
	for text, want := range map[string]command{
		"/home/u/.claude/local/claude":                                {path: local, plain: true},
		"~/.claude/local/claude":                                      {path: local, plain: true},
		`"$HOME/.claude/local/claude"`:                                {path: local, plain: true},
		"'/home/u/.claude/local/claude'":                              {path: local, plain: true},
		"command ${HOME}/.claude/local/claude":                        {path: local, plain: true},
		"nocorrect ~/.claude/local/claude":                            {path: local, plain: true},
		"~/.claude/local/claude --model opus":                         {path: local},
		"KEY=secret ~/.claude/local/claude":                           {path: local},
		"env KEY=secret ~/.claude/local/claude":                       {path: local},
		"claude --model opus":                                         {byPath: true},
		"command claude":                                              {byPath: true, plain: true},
		"npx claude":                                                  {},
		"":                                                            {},
		"cd /tmp && ~/.claude/local/claude":                           {path: local},
		"docker run --rm claude":                                      {},
		"claude () \n{ \n    ~/.claude/local/claude \"$@\"\n}":        {path: local, plain: true},
		"claude () \n{ \n    command claude \"$@\"\n}":                {byPath: true, plain: true},
		"claude () \n{ \n    title claude;\n    command claude -x\n}": {byPath: true},
		"claude () \n{ \n    a=1;\n    \\claude -x\n}":                {byPath: true},
		"claude () \n{ \n    docker run claude\n    echo\n}":          {},
		"\t" + local + " \"$@\"":                                      {path: local, plain: true},
		"builtin autoload -XU":                                        {},
		"# Defined in /x @ line 1\nfunction claude --wraps=/x --description 'alias claude=/x'\n  /x/claude $argv\n        \nend": {path: "/x/claude", plain: true},
		"# Defined in /x @ line 1\nfunction claude\n\techo hi\n\t/x/claude $argv\nend":                                           {path: "/x/claude"},
		"function claude\n\tcommand claude --x $argv\nend":                                                                       {byPath: true},
	} {
		var got command
		got.path, got.byPath, got.plain = commandOf(text, "claude", "/home/u")
		if !want.byPath && got != want || want.byPath && (!got.byPath || got.path != "") {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestJudge(t *testing.T) {
	home := t.TempDir()
	w := World{Home: home, Shims: filepath.Join(home, "shims")}
	for _, name := range []string{"shims/claude", "other/claude"} {
		if err := os.MkdirAll(filepath.Join(home, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	shim, other := filepath.Join(home, "shims/claude"), filepath.Join(home, "other/claude")
	if err := os.Symlink(shim, filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		found answer
		kind  Kind
		path  string
	}{
		{answer{"file", shim}, Shim, shim},
		{answer{"file", filepath.Join(home, "link")}, Shim, filepath.Join(home, "link")},
		{answer{"file", other}, File, other},
		{answer{"file", ""}, Nothing, ""},
		{answer{}, Nothing, ""},
		{answer{"alias", "~/other/claude"}, Alias, other},
		{answer{"alias", "~/shims/claude"}, Shim, shim},
		{answer{"alias", "claude --model opus"}, Shim, shim},
		{answer{"function", "docker run claude"}, Function, ""},
	} {
		if f := w.judge("claude", c.found); f.Kind != c.kind || f.Path != c.path {
			t.Errorf("%+v: %+v", c.found, f)
		}
	}
}

func TestParse(t *testing.T) {
	rec := func(fields string) string { return "\x1e" + fields + "\x1e" }
	out := "motd\n" + rec(token+"\x1fpath\x1f/a:/b\x1f") + "noise \x1e\x1f\x1e" + rec("other\x1fclaude\x1falias\x1fx") +
		rec(token+"\x1fclaude\x1ffunction\x1fclaude ()\n{\n}")
	got := parse(out)
	if len(got) != 2 || got["path"].kind != "/a:/b" || got["claude"] != (answer{"function", "claude ()\n{\n}"}) {
		t.Errorf("%+v", got)
	}
	if got := parse("bash: no job control\n"); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}
