package rewrite_test

import (
	"reflect"
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
		plan := func(t rewrite.Target) rewrite.Plan { return t.Plan(rewrite.CommandLine{}) }
		resume := plan(rewrite.ToResume(tooltest.SomeID, p, c, always))
		if resume.Copy || resume.Resume != tooltest.SomeID || resume.Whole != (always != "") {
			t.Errorf("%+v", resume)
		}
		resume.Copy = true
		fork := rewrite.ToFork(tooltest.SomeID, "last", p, c, always)
		copied := rewrite.ToCopy(tooltest.SomeID, p, c, always)
		if got := plan(copied); !reflect.DeepEqual(got, resume) || copied.ForkAt != "" {
			t.Errorf("a copy that ends at %q: %+v, want %+v", copied.ForkAt, got, resume)
		}
		if got := plan(fork); !reflect.DeepEqual(got, resume) || fork.ForkAt != "last" {
			t.Errorf("a fork that ends at %q: %+v, want %+v", fork.ForkAt, got, resume)
		}
		fork = rewrite.ToFork(tooltest.SomeID, "", p, c, always)
		if got := plan(fork); got.Prompt != p.Text || !got.Whole || got.Resume != "" || got.Copy {
			t.Errorf("without a message to end with: %+v", got)
		}
	}
}

// A fresh session, and a resume for which there is a reason, are sent the whole prompt.
func TestSentWhole(t *testing.T) {
	text := "You are the coder.\n\n" + strings.Repeat("- Keep it small.\n", 200)
	p := prompt.New(text+"\n\nThe last note.", tooltest.Key)
	c := prompt.Compare(tooltest.NamedSent(text), p)
	for why, target := range map[reason.Code]rewrite.Target{"": rewrite.ToFresh(p.Text),
		reason.Compacted: rewrite.ToResume("id", p, c, reason.Compacted)} {
		if plan := target.Plan(rewrite.CommandLine{}); !plan.Whole || plan.Prompt != p.Text ||
			plan.WholeReason != why || plan.Asked != "" {
			t.Errorf("%s: %+v", why, plan)
		}
	}
	plan := rewrite.ToResume("id", p, c, "").Plan(rewrite.CommandLine{})
	if plan.Whole || !strings.Contains(plan.Prompt, "The last note.") || plan.Asked != p.Text {
		t.Errorf("a resume: %+v", plan)
	}
}
