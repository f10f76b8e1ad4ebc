package tool

import (
	"testing"

	"reprise/rewrite"
)

func TestActsOn(t *testing.T) {
	for _, tt := range []struct {
		tool rewrite.Tool
		text string
		want bool
	}{
		{the("claude"), "see @0001-fix.patch", true}, {the("claude"), "@_notes.md", true},
		{the("claude"), "see\n@./x", true}, {the("claude"), "@\"a b\"", true},
		{the("claude"), "mail a@b.example", false}, {the("claude"), "@ 5 o'clock", false},
		{the("claude"), "meet me @", false}, {the("claude"), "please Ultrathink", true},
		{the("claude"), "plain", false},
		{the("gemini"), "mail a@b.example", true}, {the("gemini"), `mail a\@b.example`, false},
		{the("gemini"), "(@x)", true}, {the("gemini"), "at @ home", false},
		{the("codex"), "use $skill-creator", true}, {the("codex"), "costs 5$", false},
		{the("codex"), "see @x", true}, {the("codex"), "plain", false},
		{the("vibe"), "see @x", true}, {the("vibe"), "use $x", true}, {the("vibe"), "plain", false},
	} {
		if got := tt.tool.ActsOn(tt.text); got != tt.want {
			t.Errorf("%s acts on %q: %v", tt.tool.Descriptor().Name, tt.text, got)
		}
	}
}
