package binary

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// npx reads its own options up to the first argument that is none; all others are the command's.
func TestRunsTool(t *testing.T) {
	for args, want := range map[string]bool{
		"@anthropic-ai/claude-code":                   true,
		"-y @anthropic-ai/claude-code@2.1.330 -p x":   true,
		"--yes --offline @openai/codex@latest exec x": true,
		"copilot -p x":                                   true,
		"-p @google/gemini-cli gemini -p x":              true,
		"--package=@google/gemini-cli@0.61.0 -- gemini":  true,
		"-p @google/gemini-cli -c gemini":                true,
		"-p=opencode-ai -- opencode run":                 true,
		"--loglevel silent -- @qwen-code/qwen-code -p x": true,
		"-p cowsay -p @kilocode/cli kilo run":            true,
		"-p cowsay cowsay @openai/codex":                 false,
		"cowsay claude":                                  false,
		"-y cowsay -p @openai/codex":                     false,
		"-- cowsay @openai/codex":                        false,
		"--new-option value @openai/codex":               false,
		"@openai/codex-sdk":                              false,
		"@openai":                                        false,
		"claude-code":                                    false,
		"github:anthropics/claude-code":                  false,
		"./claude":                                       false,
		"-p @openai/codex":                               false,
		"--package=@openai/codex --":                     false,
		"--package":                                      false,
		"--":                                             false,
		"-c claude":                                      false,
		"":                                               false,
		"--call claude --package @anthropic-ai/claude-code": true,
	} {
		if got := runsTool(strings.Fields(args)); got != want {
			t.Errorf("npx %s: %v", args, got)
		}
	}
}

// npm reads the project's configuration only, and no FIFO is waited for.
func TestNpmConfiguration(t *testing.T) {
	top := t.TempDir()
	project, below := filepath.Join(top, "project"), filepath.Join(top, "project/a/b")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &Search{Name: Npx, Environ: []string{"HOME=" + t.TempDir(), "PATH=" + t.TempDir()}}
	t.Chdir(below)
	put(filepath.Join(top, ".npmrc"), "script-shell=/bin/zsh\n")
	if c.hasShell() {
		t.Error("a file above is read, though there is no project")
	}
	put(filepath.Join(project, "package.json"), "{}")
	if c.hasShell() {
		t.Error("a file above the project is read")
	}
	put(filepath.Join(project, ".npmrc"), "script-shell=/bin/zsh\n")
	if !c.hasShell() {
		t.Error("the project's file is not read")
	}
	if err := os.Remove(filepath.Join(project, ".npmrc")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(project, ".npmrc"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c.hasShell() {
		t.Error("a FIFO has a shell")
	}
}
