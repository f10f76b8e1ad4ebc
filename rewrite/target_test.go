package rewrite

import (
	"strings"
	"testing"

	"reprise/rewrite/prompt"
)

var toolKey = prompt.Key("a key for tests")

// namedSent returns what is stored of a session that a caller who names its task sent a prompt.
func namedSent(text string) prompt.Sent {
	return prompt.Sent{Base: prompt.New(text, toolKey).Footprint(), Named: true}
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

func TestForks(t *testing.T) {
	p := prompt.New("a", toolKey)
	target := ToFork("id", "message", p, prompt.Continuity{}, true)
	if target.Session() != "id" || target.ForkAt() != "message" || !target.copied {
		t.Errorf("%+v", target)
	}
	if target = ToFork("id", "", p, prompt.Continuity{}, true); target.Session() != "" || target.copied {
		t.Errorf("without a message: %+v", target)
	}
}

// A fresh session, and a resume for which that was asked, are sent the whole prompt, and no reason for it is given.
func TestSentWhole(t *testing.T) {
	text := "You are the coder.\n\n" + strings.Repeat("- Keep it small.\n", 200)
	p := prompt.New(text+"\n\nThe last note.", toolKey)
	c := prompt.Compare(namedSent(text), p)
	for name, target := range map[string]Target{"fresh": ToFresh(p.Text), "asked for": ToResume("id", p, c, true)} {
		if sent, whole := target.Prompt(); !whole || sent != p.Text || target.Why() != "" || target.Asked() != "" {
			t.Errorf("%s: whole %v, %q", name, whole, target.Why())
		}
	}
	if sent, whole := ToResume("id", p, c, false).Prompt(); whole || !strings.Contains(sent, "The last note.") {
		t.Errorf("a resume: whole %v, %q", whole, sent)
	}
}
