package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

const ruleKey = "rule"

// rules reads the [[rule]] tables. policy applies unless they say otherwise.
func (d document) rules(policy Policy, home string) (rules []Rule, mistakes Mistakes) {
	list, ok := d.value(toml.Key{ruleKey}).([]map[string]any)
	if !ok {
		return nil, Mistakes{d.place(toml.Key{ruleKey},
			&mistake{"must be a list of tables", "write [[rule]] on a line of its own"})}
	}
	rules = make([]Rule, len(list))
	for i := range rules {
		rules[i].Policy = policy
		if wrong := d.rule(&rules[i], i, home); wrong != nil {
			// Read the rule again in a document that knows the place of the keys.
			mistakes = append(mistakes, d.through(i).rule(&Rule{}, i, home)...)
		}
	}
	return rules, mistakes
}

func (d document) rule(r *Rule, index int, home string) Mistakes {
	within, variables := d.ruleAt(index)
	mistakes := applyAll(within, tableKeys(within.tree, nil), ruleSettings(r, home, variables))
	if within.value(toml.Key{"name"}) == nil {
		mistakes = append(mistakes, d.place(toml.Key{ruleKey},
			&mistake{"has no name", `write name = "..." in it`}))
	}
	return mistakes
}

// ruleAt returns the rule at index, and the variables that it names.
func (d document) ruleAt(index int) (rule document, variables []string) {
	var all []toml.Primitive
	list, _ := d.find(toml.Key{ruleKey})
	if err := d.md.PrimitiveDecode(list, &all); err != nil {
		return d, nil // it is a list, as was checked before
	}
	d.tree = d.value(toml.Key{ruleKey}).([]map[string]any)[index]
	d.root, d.under = all[index], toml.Key{ruleKey}
	if env, ok := d.value(toml.Key{"env"}).(map[string]any); ok {
		variables = slices.Sorted(maps.Keys(env))
	}
	return d, variables
}

// tableKeys returns the keys of a table and of those in it.
func tableKeys(tree any, under toml.Key) []toml.Key {
	table, _ := tree.(map[string]any)
	var keys []toml.Key
	for _, name := range slices.Sorted(maps.Keys(table)) {
		key := slices.Concat(under, toml.Key{name})
		keys = append(append(keys, key), tableKeys(table[name], key)...)
	}
	return keys
}

// through returns the file up to the end of the rule at index. The library keeps one place for each
// key; for a key of rules, that is the place in the last rule that has it. In the cut file this is
// the wanted rule. A line that looks like a header but is within a string or a list is none: the
// text before it cannot be decoded.
func (d document) through(index int) document {
	last := d
	if d.countRules() == index+1 {
		return last
	}
	lines := strings.SplitAfter(d.text, "\n")
	for _, at := range headerLines(lines) {
		before, err := decode(d.file, strings.Join(lines[:at], ""))
		if err == nil && before.countRules() == index+1 {
			last = before
		}
	}
	return last
}

func (d document) countRules() int {
	list, _ := d.value(toml.Key{ruleKey}).([]map[string]any)
	return len(list)
}
