package config

import (
	"slices"
)

// MatchPlace matches a rule's conditions on the tool and the directory, as if the others matched. The match has the
// names that the directory gives, or the rule itself.
func (r *Rule) MatchPlace(tool, cwd string) (Match, bool) {
	place := Rule{Name: r.Name, Policy: r.Policy, Never: r.Never, Strict: r.Strict, tools: r.tools, cwd: r.cwd, task: r.task, role: r.role}
	return place.match(Subject{Tool: tool, Cwd: cwd, Env: func(string) string { return "" }})
}

// MatchSent matches a rule's conditions on the tool, the directory and the prompt, as if those on variables and options
// matched.
func (r *Rule) MatchSent(s Subject) (Match, bool) {
	sent := *r
	sent.env, sent.argv = nil, nil
	s.Env = func(string) string { return "" }
	m, ok := sent.match(s)
	m.Rule = r
	return m, ok
}

// ReadsPrompt reports whether a rule reads the prompt.
func (r *Rule) ReadsPrompt() bool {
	return len(r.starts)+len(r.prompt)+len(r.roleText)+len(r.freshWhen)+len(r.reset.prompt) > 0
}

// ReadsUnkept returns the keys of a rule that read what is kept nowhere: a call's variables, its command line and its answer.
func (r *Rule) ReadsUnkept() (keys []string) {
	for _, v := range r.env {
		if key := "env." + v.name; !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if len(r.argv) > 0 {
		keys = append(keys, "argv")
	}
	if len(r.reset.answer) > 0 {
		keys = append(keys, "reset_when.answer")
	}
	return keys
}

// NamesTask reports whether a rule gives a task, or captures one.
func (r *Rule) NamesTask() bool { return r.task != "" || r.captures("task") }

// NamesRole reports whether a rule gives a role, or captures one.
func (r *Rule) NamesRole() bool { return r.role != "" || r.captures("role") }

// captures reports whether a pattern of the rule has a group of that name.
func (r *Rule) captures(group string) bool {
	patterns := slices.Concat(r.argv, r.prompt)
	if r.cwd != nil {
		patterns = append(patterns, r.cwd)
	}
	for _, v := range r.env {
		patterns = append(patterns, v.pattern)
	}
	return slices.ContainsFunc(patterns, func(p *pattern) bool { return slices.Contains(p.compiled().SubexpNames(), group) })
}

// RulesNamed returns the rules with a name: the user's, or otherwise the built-in ones, also those that are switched off.
func (c Config) RulesNamed(name string) []Rule {
	for _, rules := range [][]Rule{slices.Clone(c.Rules), builtIn(c.Policy)} {
		if named := slices.DeleteFunc(rules, func(r Rule) bool { return r.Name != name }); len(named) > 0 {
			return named
		}
	}
	return nil
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

// ParseRules reads a text that contains only rules. What is wrong in it is returned as Mistakes.
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
			return nil, Mistakes{d.place(key, &mistake{"is not part of a rule", "write only [[rule]] tables"})}
		}
	}
	if len(c.Rules) == 0 {
		return nil, Mistakes{{File: file, Problem: "has no rule", Hint: "write [[rule]] on a line of its own, and the rule's keys below it"}}
	}
	return c.Rules, nil
}
