package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/ctl/app"
	"reprise/shim/binary"
)

// A start file hides claude's shim, or leads to it.
func TestHidingChecks(t *testing.T) {
	home := t.TempDir()
	a := &app.App{Environ: []string{"HOME=" + home}}
	for text, want := range map[string]string{
		"alias claude=~/.claude/local/claude":                           "an alias (~/.bashrc:1)",
		"# x\nalias -g claude='/opt/claude --model opus'":               "an alias (~/.bashrc:2)",
		"if true; then alias claude=happy; fi":                          "an alias (~/.bashrc:1)",
		"claude() { /opt/claude \"$@\"; }":                              "a function (~/.bashrc:1)",
		"function claude {\n  cd /x\n  \"$HOME/bin/claude\" \"$@\"\n}":  "a function (~/.bashrc:1)",
		"function claude --wraps x\n    /opt/claude $argv\nend":         "a function (~/.bashrc:1)",
		"claude() {\n  other\n}\ncommand claude":                        "a function (~/.bashrc:1)",
		"alias claude='claude --model opus'":                            "",
		"alias claude=\"KEY=x command claude\"":                         "",
		"alias claude='" + home + "/shims/claude --x'":                  "",
		"claude() { KEY=x command claude \"$@\"; }":                     "",
		"claude () {\n  env -u KEY true; exec claude\n}\n/opt/claude x": "",
		"function claude\n    command claude --x $argv\nend":            "",
		"#alias claude=/opt/claude\n  # claude() { /opt/claude; }":      "",
		"alias claudette=/opt/claude; alias c=/opt/claude":              "",
	} {
		write(t, home+"/shims/claude", "")
		write(t, home+"/.bashrc", text)
		var checks Checks
		checks.Hiding(a, home+"/shims", binary.Place{Name: "claude"})
		if (len(checks) == 1) != (want != "") ||
			want != "" && !strings.HasPrefix(checks[0].Finds, want+" hides the shim") {
			t.Errorf("%q: %v, want %q", text, checks, want)
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
