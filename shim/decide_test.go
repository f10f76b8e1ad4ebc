package shim

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/config"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// message is an entry of one of claude's transcripts.
func message(n int, more string) string {
	return fmt.Sprintf(`{"type":"assistant","uuid":"00000000-0000-4000-8000-%012d","more":%q}`+"\n", n, more)
}

func TestForkPoint(t *testing.T) {
	one, two := message(1, ""), message(2, "")
	long := strings.Repeat("x", maxTail)
	tests := map[string]struct {
		text    string
		size    int
		message int // 0 for none
		why     reason.Code
	}{
		"all of the file":                     {one, len(one), 1, ""},
		"what somebody writes behind":         {one + two, len(one), 1, ""},
		"half a line behind":                  {one + two[:20], len(one), 1, ""},
		"it ended within a line":              {one + two, len(one) + 20, 0, reason.SessionMoved},
		"it is shorter":                       {one, len(one) + 1, 0, reason.SessionMoved},
		"it was empty":                        {one, 0, 0, reason.SessionMoved},
		"no message":                          {"{}\n", 3, 0, reason.NoForkPoint},
		"far more before":                     {message(3, long) + one, len(message(3, long)) + len(one), 1, ""},
		"a last message that is far too long": {one + message(3, long) + two, len(one) + len(message(3, long)), 0, reason.NoForkPoint},
	}
	dir := t.TempDir()
	tool, _ := rewrite.Lookup("claude")
	c := &call{tool: tool}
	for name, tt := range tests {
		path := filepath.Join(dir, "session.jsonl")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		want := ""
		if tt.message > 0 {
			want = fmt.Sprintf("00000000-0000-4000-8000-%012d", tt.message)
		}
		if got, why := c.forkPoint(path, decide.Stamp(fmt.Sprint(tt.size))); got != want || why != tt.why {
			t.Errorf("%s: %q (%s), want %q (%s)", name, got, why, want, tt.why)
		}
	}
	if got, why := c.forkPoint(filepath.Join(dir, "session.jsonl"), "[1]"); got != "" || why != reason.NoForkPoint {
		t.Errorf("a row: %q (%s)", got, why)
	}
	for name, path := range map[string]string{"no path": "", "no file": filepath.Join(dir, "gone"), "a directory": dir} {
		if got, why := c.forkPoint(path, "1"); got != "" || why != reason.SessionGone {
			t.Errorf("%s: %q (%s)", name, got, why)
		}
	}
}

// What a rule sets holds for its calls, and nothing else does.
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
	plain := decide.Limits{TTL: 7_200_000, MaxAge: 180_000, WholePrompt: true, HoldOut: 0.25, ResumeDearer: true, ErrorLimit: 3, ContextShare: 0.8,
		MinBase: LeastIdentical, MinEvident: minEvident, Unnamed: decide.UnnamedOff, UnknownWindow: UnknownWindow}
	ruled := plain
	ruled.TTL, ruled.ResumeSame = 60_000, true
	for tool, want := range map[string]decide.Limits{"claude": plain, "codex": ruled, "gemini": plain, "qwen": plain, "vibe": plain} {
		r := &ledger.Call{Record: ledger.Record{Tool: tool}, Prompt: prompt.New("Begin anew.", nil)}
		apply(cfg.Match(config.Subject{Tool: tool, Env: func(string) string { return "" }, Prompt: r.Prompt.Text}), cfg, r)
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
		if got := argsForRules(rewrite.Call{Args: tt.args, Prompt: "do it"}); !slices.Equal(got, tt.want) {
			t.Errorf("%q leaves %q", tt.args, got)
		}
	}
	if got := argsForRules(rewrite.Call{Args: []string{"-p", ""}}); len(got) != 2 {
		t.Errorf("no prompt leaves %q", got)
	}
}
