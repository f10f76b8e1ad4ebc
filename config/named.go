package config

import "slices"

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

// RuleNames returns the names of all rules, the user's first.
func (c Config) RuleNames() (names []string) {
	for _, r := range slices.Concat(c.Rules, builtIn(c.Policy)) {
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return names
}
