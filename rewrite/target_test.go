package rewrite_test

import (
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/test/tooltest"
)

func TestForkIsSentWhatAResumeIs(t *testing.T) {
	long := "You are the coder.\n\n" + strings.Repeat("Keep functions small. ", 200)
	p := prompt.New(long+"\n\nThe contract.\n\nA note.", tooltest.Key)
	c := prompt.Compare(tooltest.NamedSent(long+"\n\nThe contract."), p)
	for _, always := range []reason.Code{"", reason.DeltaOff} {
		resume, fork, copied := rewrite.ToResume(tooltest.SomeID, p, c, always),
			rewrite.ToFork(tooltest.SomeID, tooltest.SomeID, p, c, always),
			rewrite.ToCopy(tooltest.SomeID, p, c, always)
		text, whole := resume.Prompt()
		if got, all := copied.Prompt(); got != text || all != whole ||
			copied.Session() != tooltest.SomeID || !copied.Copied() || copied.ForkAt() != "" {
			t.Errorf("%q (%v) to a copy of %q, want %q", got, all, copied.Session(), text)
		}
		if got, all := fork.Prompt(); got != text || all != whole || whole != (always != "") ||
			fork.Session() != tooltest.SomeID || fork.ForkAt() != tooltest.SomeID {
			t.Errorf("%q (%v) to session %q at %q, want %q", got, all, fork.Session(),
				fork.ForkAt(), text)
		}
		if resume.ForkAt() != "" || resume.Copied() || !fork.Copied() {
			t.Errorf("a resume ends at %q, in a copy: %v, a fork: %v", resume.ForkAt(),
				resume.Copied(), fork.Copied())
		}
	}
	fork := rewrite.ToFork(tooltest.SomeID, "", p, c, "")
	if text, whole := fork.Prompt(); text != p.Text || !whole || fork.Session() != "" {
		t.Errorf("without a message to end with: %q to session %q", text, fork.Session())
	}
}

func TestForks(t *testing.T) {
	p := prompt.New("a", tooltest.Key)
	target := rewrite.ToFork("id", "message", p, prompt.Continuity{}, reason.DeltaOff)
	if target.Session() != "id" || target.ForkAt() != "message" || !target.Copied() {
		t.Errorf("%+v", target)
	}
	if target = rewrite.ToFork("id", "", p, prompt.Continuity{},
		reason.DeltaOff); target.Session() != "" || target.Copied() {
		t.Errorf("without a message: %+v", target)
	}
}

// A fresh session, and a resume for which there is a reason, are sent the whole prompt.
func TestSentWhole(t *testing.T) {
	text := "You are the coder.\n\n" + strings.Repeat("- Keep it small.\n", 200)
	p := prompt.New(text+"\n\nThe last note.", tooltest.Key)
	c := prompt.Compare(tooltest.NamedSent(text), p)
	for why, target := range map[reason.Code]rewrite.Target{"": rewrite.ToFresh(p.Text),
		reason.Compacted: rewrite.ToResume("id", p, c, reason.Compacted)} {
		if sent, whole := target.Prompt(); !whole || sent != p.Text || target.Why() != why ||
			target.Plan(rewrite.CommandLine{}).Asked != "" {
			t.Errorf("%s: whole %v, %q", why, whole, target.Why())
		}
	}
	if sent, whole := rewrite.ToResume("id", p, c, "").Prompt(); whole ||
		!strings.Contains(sent, "The last note.") {
		t.Errorf("a resume: whole %v, %q", whole, sent)
	}
}
