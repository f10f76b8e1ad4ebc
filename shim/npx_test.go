package shim

import (
	"strings"
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
