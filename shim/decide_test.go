package shim

import (
	"slices"
	"testing"

	"reprise/config"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A rule's settings hold for the rule's calls, and no others do.
func TestRulesSetLimits(t *testing.T) {
	cfg, err := config.Parse("c.toml", `
ttl = "2h"
max_age = "3m"
delta = "off"
dearer = "resume"
rollout = 0.75
unnamed = "off"

[[rule]]
name = "r"
tool = "codex"
ttl = "1m"
identical = "resume"
fresh_when = 'anew'
`, "/h")
	if err != nil {
		t.Fatal(err)
	}
	plain := decide.Limits{TTL: 7_200_000, MaxAge: 180_000, WholePrompt: true, HoldOut: 0.25,
		ResumeDearer: true, ContextShare: 0.8,
		MinBase: LeastIdentical, MinEvident: minEvident, Unnamed: rewrite.UnnamedOff}
	ruled := plain
	ruled.TTL, ruled.ResumeSame = 60_000, true
	for tool, want := range map[string]decide.Limits{"claude": plain, "codex": ruled,
		"gemini": plain, "qwen": plain, "vibe": plain} {
		r := &ledger.Call{Record: ledger.Record{Tool: tool}, Prompt: prompt.New("Begin anew.", nil)}
		apply(cfg.Match(config.Subject{Tool: tool,
			Env: func(string) string { return "" }, Prompt: r.Prompt.Text}), cfg, r)
		if r.Limits != want {
			t.Errorf("%s: %+v, want %+v", tool, r.Limits, want)
		}
		if (r.Fresh == reason.ContextReset) != (tool == "codex") || r.Attempt != rewrite.NoAttempt {
			t.Errorf("%s: fresh %q, attempt %d", tool, r.Fresh, r.Attempt)
		}
	}
}

func TestWithoutPrompt(t *testing.T) {
	for _, tt := range []struct{ args, want []string }{
		{[]string{"-p", "do it", "--verbose"}, []string{"-p", "--verbose"}},
		{[]string{"--prompt=do it", "-y"}, []string{"-y"}},
		{[]string{"-p", "do it well"}, []string{"-p", "do it well"}},
	} {
		if got := argsForRules(rewrite.CommandLine{Args: tt.args,
			Prompt: "do it"}); !slices.Equal(got, tt.want) {
			t.Errorf("%q leaves %q", tt.args, got)
		}
	}
	if got := argsForRules(rewrite.CommandLine{Args: []string{"-p", ""}}); len(got) != 2 {
		t.Errorf("no prompt leaves %q", got)
	}
}
