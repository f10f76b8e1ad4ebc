package rewrite

import (
	"strings"
	"testing"
)

func TestKeptBlocksAreRepeated(t *testing.T) {
	const before = "You are the coder.\n\n## Contract\n\nOne line.\n\n### Form\n\nPlain text.\n\n## Rules\n\nMind the gap.\n\n"
	long := before + strings.Repeat("- Keep it small.\n", 200) + "\n## Notes\n\nfirst"
	p := NewPrompt(long+"\n\nsecond", testKey)
	p.Keep = func(block string) bool { return block == "## Contract" || strings.HasPrefix(block, "Mind") }
	text, whole := ToResume("id", p, Compare(sentTo(long), p), false).Prompt()
	want := "You are the coder.\n\n" + continuation + "\n\n## Contract\n\nOne line.\n\n### Form\n\nPlain text.\n\n" +
		"## Rules\n\nMind the gap.\n\n## Notes\n\nsecond\n"
	if whole || text != want {
		t.Errorf("whole %v, %q\nwant %q", whole, text, want)
	}
}

func TestKeptBlocksOfATranscript(t *testing.T) {
	const answer = "There is a main function, and nothing else in it."
	before := "You answer in one line.\n\nUser: What is in main.c?"
	after := before + "\n\nAssistant: " + answer + "\n\nUser: And in util.c?"
	sent := sentTo(before)
	sent.Answers = []Answer{NewAnswer(answer, nil, testKey)}
	p := NewPrompt(after, testKey)
	p.Keep = func(block string) bool { return strings.Contains(block, "in one line") }
	text, whole := ToResume("id", p, Compare(sent, p), false).Prompt()
	if want := "You answer in one line.\n\nAnd in util.c?"; whole || text != want {
		t.Errorf("whole %v, %q, want %q", whole, text, want)
	}
}
