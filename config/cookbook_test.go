package config

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Each rule of docs/how-to/orchestrators.md holds for a call as its caller makes it, and for no
// other.
func TestCookbook(t *testing.T) {
	env := func(pairs ...string) func(string) string { return lookup(pairs) }
	type recipe struct {
		call             Subject
		task, role, rule string
		strict           bool
	}
	recipes := map[string]recipe{
		"open-design": {call: Subject{Tool: "codex", Env: env(), Cwd: "/h/open-design/projects/p1",
			Prompt: "hello"},
			task: "p1", strict: true},
		"ralph-orchestrator": {call: Subject{Tool: "gemini", Env: env("RALPH_WORKSPACE_ROOT=/w")},
			task: "/w", rule: "ralph"},
	}
	text, err := os.ReadFile("../docs/how-to/orchestrators.md")
	if err != nil {
		t.Fatal(err)
	}
	rule := regexp.MustCompile("(?s)```toml\n(.*?)```")
	found := 0
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		name, _, _ := strings.Cut(section, "\n")
		blocks := rule.FindAllStringSubmatch(section, -1)
		r, ok := recipes[name]
		if !ok {
			if len(blocks) > 0 {
				t.Errorf("%s: its rule is not tried", name)
			}
			continue
		}
		found++
		if len(blocks) != 1 {
			t.Errorf("%s has %d rules", name, len(blocks))
			continue
		}
		config, err := Parse(name, "presets_off = \"all\"\n"+blocks[0][1], "/h")
		if err != nil {
			t.Error(err)
			continue
		}
		m := config.Match(r.call)
		if r.rule == "" {
			r.rule = name
		}
		if m.Name != r.rule || m.Task != r.task || m.Role != r.role || m.Never ||
			m.Strict != r.strict {
			t.Errorf("%s: got rule %q, task %q, role %q, never %v, strict %v", name, m.Name, m.Task,
				m.Role, m.Never, m.Strict)
		}
		other := Subject{Tool: "claude", Cwd: "/elsewhere", Env: env(), Prompt: "Tidy up.",
			Args: []string{"-p"}}
		if config.Match(other).Name != "" {
			t.Errorf("%s matches somebody else's call", name)
		}
	}
	if found != len(recipes) {
		t.Errorf("the page has %d of %d recipes", found, len(recipes))
	}
}
