package rewrite

import "testing"

func TestActsOn(t *testing.T) {
	for _, tt := range []struct {
		tool Tool
		text string
		want bool
	}{
		{claude{}, "see @0001-fix.patch", true}, {claude{}, "@_notes.md", true}, {claude{}, "see\n@./x", true}, {claude{}, "@\"a b\"", true},
		{claude{}, "mail a@b.example", false}, {claude{}, "@ 5 o'clock", false}, {claude{}, "meet me @", false}, {claude{}, "please Ultrathink", true}, {claude{}, "plain", false},
		{gemini{}, "mail a@b.example", true}, {gemini{}, `mail a\@b.example`, false}, {gemini{}, "(@x)", true}, {gemini{}, "at @ home", false},
		{codex{}, "use $skill-creator", true}, {codex{}, "costs 5$", false}, {codex{}, "see @x", true}, {codex{}, "plain", false},
		{vibe{}, "see @x", true}, {vibe{}, "use $x", true}, {vibe{}, "plain", false},
	} {
		if got := tt.tool.ActsOn(tt.text); got != tt.want {
			t.Errorf("%s acts on %q: %v", tt.tool.Descriptor().Name, tt.text, got)
		}
	}
}
