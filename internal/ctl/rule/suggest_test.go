package rule

import (
	"testing"

	"reprise/config"
)

// Whatever the directory and the prompts hold: what is printed can be read as
// configuration, and matches the calls that it was made from.
func TestSuggestedRulesParse(t *testing.T) {
	noEnv := func(string) string { return "" }
	for _, dir := range []string{"/work/shop", "/", "/it's/a \"dir\"", `/back\slash's`, "/a*b/{task}/c?", "/new\nline", "/ünï/cöde", "/bad\xff", "/#x"} {
		for prompt, pattern := range map[string]string{
			"Any.": "", "Ticket: it's 7": linePattern("Ticket: it's 7", "Ticket: it's 8"), `Path c:\x`: linePattern(`Path c:\x`, `Path c:\y`),
		} {
			s := suggestion{Tool: "codex", Directory: dir, Pattern: pattern}
			c, err := config.Parse("c.toml", s.rule(1), "")
			if err != nil {
				t.Errorf("%q, %q: %v\n%s", dir, pattern, err, s.rule(1))
				continue
			}
			m := c.Match(config.Subject{Tool: "codex", Cwd: dir, Env: noEnv, Prompt: prompt})
			if m.Name != "suggested-1" || (m.Task != "") != (pattern != "") {
				t.Errorf("%q, %q: rule %q, task %q\n%s", dir, prompt, m.Name, m.Task, s.rule(1))
			}
			if m := c.Match(config.Subject{Tool: "codex", Cwd: dir + "/elsewhere", Env: noEnv, Prompt: prompt}); m.Name != "" {
				t.Errorf("%q: matches another directory\n%s", dir, s.rule(1))
			}
		}
	}
}

func TestLinePattern(t *testing.T) {
	for _, tt := range []struct{ a, b, taskA, taskB string }{
		{"Ticket: SHOP-17", "Ticket: SHOP-18", "SHOP-17", "SHOP-18"},
		{"Ticket: SHOP-17 (urgent)", "Ticket: SHOP-7 (urgent)", "SHOP-17", "SHOP-7"},
		{"# TASK: 0bad - Say hello", "# TASK: 0add - Wave", "0bad - Say hello", "0add - Wave"},
		{"Same.\n  Issue: 1\r\nmore", "Same.\n  Issue: 2\r\nmuch more", "1", "2"},
		{"Work in /repo/a now.", "Work in /repo/b now.", "/repo/a", "/repo/b"},
		{"Größe: klein", "Größe: groß", "klein", "groß"},
		{"one", "two", "", ""},                   // no start in common
		{"- 17 of them", "- 18 of them", "", ""}, // a start that any line may have
		{"Ticket: 1", "Ticket: 1\nmore", "", ""},
		{"Task:", "Task: x", "", ""}, // one of them has no name
	} {
		var got [2]string
		if pattern := linePattern(tt.a, tt.b); pattern != "" {
			got = [2]string{taskBy(pattern, tt.a), taskBy(pattern, tt.b)}
		}
		if got[0] != tt.taskA && tt.taskA != "" || got[1] != tt.taskB && tt.taskB != "" ||
			tt.taskA == "" && got[0] != "" && got[1] != "" {
			t.Errorf("%q and %q: %q by %s", tt.a, tt.b, got, linePattern(tt.a, tt.b))
		}
	}
}
