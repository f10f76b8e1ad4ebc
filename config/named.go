package config

import (
	"slices"
)

// MatchSent matches a rule's conditions on the tool, the directory and the prompt, as if those on
// variables and options matched.
func (r *Rule) MatchSent(s Subject) (Match, bool) {
	sent := *r
	sent.env, sent.argv = nil, nil
	s.Env = func(string) string { return "" }
	m, ok := sent.match(s)
	m.Rule = r
	return m, ok
}

// NamesTask reports whether a rule gives a task, captures one or makes each run a job.
func (r *Rule) NamesTask() bool { return r.task != "" || r.job != "" || r.captures("task") }

// captures reports whether a pattern of the rule has a group of that name.
func (r *Rule) captures(group string) bool {
	patterns := slices.Concat(r.argv, r.prompt)
	if r.cwd != nil {
		patterns = append(patterns, r.cwd)
	}
	for _, v := range r.env {
		patterns = append(patterns, v.pattern)
	}
	return slices.ContainsFunc(patterns, func(p *pattern) bool {
		return slices.Contains(p.compiled().SubexpNames(), group)
	})
}

// RuleNames returns the names of all rules, the user's first.
func (c Config) RuleNames() (names []string) {
	for _, r := range slices.Concat(c.Rules, builtIn(c.Policy)) {
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return names
}

// ParseRules reads a text that contains only rules. Errors in it are returned as Mistakes.
func ParseRules(file, text, home string) ([]Rule, error) {
	c, err := Parse(file, text, home)
	if err != nil {
		return nil, err
	}
	d, err := decode(file, text)
	if err != nil {
		return nil, err
	}
	for _, key := range d.md.Keys() {
		if key[0] != ruleKey {
			return nil, Mistakes{d.place(key, &mistake{"is not part of a rule",
				"write only [[rule]] tables"})}
		}
	}
	if len(c.Rules) == 0 {
		return nil, Mistakes{{File: file, Problem: "has no rule",
			Hint: "write [[rule]] on a line of its own, and the rule's keys below it"}}
	}
	return c.Rules, nil
}
