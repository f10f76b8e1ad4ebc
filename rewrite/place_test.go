package rewrite

import "testing"

func TestMistakable(t *testing.T) {
	tests := []struct {
		part, prompt string
		want         bool
	}{
		{"Go on.", "You are the coder.", false},
		{"/clear", "You are the coder.", true},
		{" ? what", "? what", true},
		{"!ls", "You are the coder.", true},
		{"\n# remember this", "You are the coder.", true},
		{"# Role\n\nGo on.", "# Role\n\nYou are the coder.", false},
		{"# Role", "", true},
		{"", "You are the coder.", false},
	}
	for _, tt := range tests {
		if got := mistakable(tt.part, tt.prompt); got != tt.want {
			t.Errorf("%q of %q: %v", tt.part, tt.prompt, got)
		}
	}
}

// Codex drops data on stdin where a resume has its prompt in argv: all of it goes by
// stdin.
func TestCodexResumesByStdin(t *testing.T) {
	for _, line := range []string{"exec OLD", "exec", "exec -"} {
		p := codex{}.Plan(parseCodex(line), Target{id: "ID", prompt: "resume\x00", asked: "OLD"})
		if p.Args[len(p.Args)-1] != "-" || p.Stdin != "resume\x00" || !p.HasStdin {
			t.Errorf("%q: %q with stdin %q", line, p.Args, p.Stdin)
		}
	}
}
