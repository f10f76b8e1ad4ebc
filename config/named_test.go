package config

import (
	"errors"
	"testing"
)

func TestRulesOnPastCalls(t *testing.T) {
	rules, err := ParseRules("f.toml", `
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

[[rule]]
name = "place"
cwd = "/work/*"

[[rule]]
name = "by a variable"
env.JOB = '(?P<task>.+)'
`, "/home/u")
	if err != nil || len(rules) != 3 {
		t.Fatal(rules, err)
	}
	sent := Subject{Tool: "codex", Cwd: "/home/u/shop-7", Prompt: "Do this for long.",
		Digest: func(string) string { return "digest" }}
	if m, ok := rules[0].MatchSent(sent); !ok || m.Task != "7" || m.Role != "coder #digest" {
		t.Errorf("%v %+v", ok, m)
	}
	sent.Prompt = "Do that."
	if m, ok := rules[0].MatchSent(sent); ok {
		t.Errorf("matches another prompt: %+v", m)
	}
	for i, want := range []bool{true, false, true} {
		if rules[i].NamesTask() != want {
			t.Errorf("rule %q names a task: %v", rules[i].Name, !want)
		}
	}
}

func TestParseRulesTakesRulesOnly(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "f.toml: has no rule",
		"[[rule]]\nname = \"a\"\ntask = 1": "f.toml:3: rule.task: must be text, not a number",
		"[[rule]]\nname = \"a\"\n[prune]\nauto = \"all\"": "f.toml:3: prune: is not part of a rule",
		"[[rule": "",
	} {
		_, err := ParseRules("f.toml", text, "")
		var mistakes Mistakes
		if !errors.As(err, &mistakes) || want != "" && err.Error() != want {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
