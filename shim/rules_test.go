package shim

import (
	"slices"
	"testing"

	"reprise/config"
	"reprise/ledger"
	"reprise/rewrite"
)

// What a rule sets holds for its calls, and nothing else does.
func TestRulesSetLimits(t *testing.T) {
	cfg, err := config.Parse("c.toml", `
ttl = "2h"
error_limit = 5

[[rule]]
name = "r"
tool = "codex"
ttl = "1m"
max_age = "3m"
identical = "resume"
delta = "off"
dearer = "resume"
rollout = 0.75
unnamed = "off"
fresh_when = 'anew'
`, "/h")
	if err != nil {
		t.Fatal(err)
	}
	plain := ledger.Limits{TTL: 7_200_000, MaxAge: 86_400_000, ErrorLimit: 5, ContextShare: 0.8,
		MinBase: minBase, MinEvident: minEvident, Unnamed: ledger.UnnamedEvidence, UnknownWindow: UnknownWindow}
	ruled := plain
	ruled.TTL, ruled.MaxAge, ruled.ResumeSame, ruled.WholePrompt, ruled.HoldOut, ruled.ResumeDearer = 60_000, 180_000, true, true, 0.25, true
	ruled.Unnamed = ledger.UnnamedOff
	for tool, want := range map[string]ledger.Limits{"claude": plain, "codex": ruled} {
		r := &ledger.Call{Prompt: rewrite.NewPrompt("Begin anew.", nil)}
		apply(cfg.Match(config.Subject{Tool: tool, Env: func(string) string { return "" }, Prompt: r.Prompt.Text}), cfg, r)
		if r.Limits != want {
			t.Errorf("%s: %+v, want %+v", tool, r.Limits, want)
		}
		if (r.Fresh == rewrite.ContextReset) != (tool == "codex") || r.Attempt != rewrite.NoAttempt {
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
		if got := withoutPrompt(rewrite.Call{Args: tt.args, Prompt: "do it"}); !slices.Equal(got, tt.want) {
			t.Errorf("%q leaves %q", tt.args, got)
		}
	}
	if got := withoutPrompt(rewrite.Call{Args: []string{"-p", ""}}); len(got) != 2 {
		t.Errorf("no prompt leaves %q", got)
	}
}
