package config

import (
	"errors"
	"slices"
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
	m, ok := rules[0].MatchPlace("codex", "/home/u/shop-7")
	if !ok || m.Name != "all" || m.Task != "7" || m.Role != "coder" || m.TTL.Minutes() != 5 || m.Fresh {
		t.Errorf("%v %+v", ok, m)
	}
	for _, place := range [][2]string{{"claude", "/home/u/shop-7"}, {"codex", "/home/u/shop"}} {
		if m, ok := rules[0].MatchPlace(place[0], place[1]); ok {
			t.Errorf("%s matches: %+v", place, m)
		}
	}
	sent := Subject{Tool: "codex", Cwd: "/home/u/shop-7", Prompt: "Do this for long.", Digest: func(string) string { return "digest" }}
	if m, ok := rules[0].MatchSent(sent); !ok || m.Task != "7" || m.Role != "coder #digest" {
		t.Errorf("%v %+v", ok, m)
	}
	sent.Prompt = "Do that."
	if m, ok := rules[0].MatchSent(sent); ok {
		t.Errorf("matches another prompt: %+v", m)
	}
	if got := rules[0].ReadsUnkept(); !slices.Equal(got, []string{"env.A", "env.B", "argv", "reset_when.answer"}) || !rules[0].ReadsPrompt() {
		t.Errorf("reads %q", got)
	}
	if got := rules[1].ReadsUnkept(); got != nil || rules[1].ReadsPrompt() {
		t.Errorf("reads %q", got)
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
		"[[rule]]\nname = \"a\"\n[prune]\nauto = true": "f.toml:3: prune: is not part of a rule",
		"[[rule": "",
	} {
		_, err := ParseRules("f.toml", text, "")
		var mistakes Mistakes
		if !errors.As(err, &mistakes) || want != "" && err.Error() != want {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestRulesNamed(t *testing.T) {
	c := Default()
	c.Rules = []Rule{{Name: "mine"}, {Name: "ralph"}, {Name: "mine"}}
	c.Presets = false
	if n := len(c.RulesNamed("mine")); n != 2 {
		t.Errorf("%d rules of mine", n)
	}
	if n := len(c.RulesNamed("steroids")); n != 2 {
		t.Errorf("%d rules of a preset that is switched off", n)
	}
	if own := c.RulesNamed("ralph"); len(own) != 1 || own[0].Never {
		t.Errorf("the user's own is not preferred: %+v", own)
	}
	if c.RulesNamed("none") != nil || len(c.Rules) != 3 {
		t.Error("rules of no name, or changed ones")
	}
	if names := c.RuleNames(); !slices.Equal(names[:3], []string{"mine", "ralph", "steroids"}) || slices.Contains(names[2:], "ralph") {
		t.Errorf("%q", names)
	}
}
