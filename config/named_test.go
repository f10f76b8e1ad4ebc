package config

import "testing"

func TestRulesOnPastCalls(t *testing.T) {
	c, err := Parse("f.toml", `
[[rule]]
name = "all"
tool = "codex"
cwd = "~/shop-{task}"
role = "Coder"
ttl = "5m"
env.A = 'x'
env.B = ['y', 'z']
argv = '--fast'
starts = "Do"
prompt = 'this'
role_text = 'long'
fresh_when = 'anew'
reset_when.answer = 'RESET'
`, "/home/u")
	if err != nil || len(c.Rules) != 1 {
		t.Fatal(c.Rules, err)
	}
	sent := Subject{Tool: "codex", Cwd: "/home/u/shop-7", Prompt: "Do this for long.",
		Digest: func(string) string { return "digest" }}
	if m, ok := c.Rules[0].MatchSent(sent); !ok || m.Task != "7" || m.Role != "coder #digest" {
		t.Errorf("%v %+v", ok, m)
	}
	sent.Prompt = "Do that."
	if m, ok := c.Rules[0].MatchSent(sent); ok {
		t.Errorf("matches another prompt: %+v", m)
	}
}
