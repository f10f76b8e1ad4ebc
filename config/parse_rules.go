package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

const ruleKey = "rule"

// rules reads the [[rule]] tables; policy holds where they say nothing else.
func (d document) rules(policy Policy, home string) (rules []Rule, mistakes Mistakes) {
	list, ok := d.value(toml.Key{ruleKey}).([]map[string]any)
	if !ok {
		return nil, Mistakes{d.place(toml.Key{ruleKey}, &mistake{"must be a list of tables", "write [[rule]] on a line of its own"})}
	}
	rules = make([]Rule, len(list))
	for i := range rules {
		rules[i].Policy = policy
		if wrong := d.rule(&rules[i], i, home); wrong != nil {
			// Again, where the place of its keys is known.
			mistakes = append(mistakes, d.through(i).rule(&Rule{}, i, home)...)
		}
	}
	return rules, mistakes
}

// rule reads the rule of that index.
func (d document) rule(r *Rule, index int, home string) Mistakes {
	within, variables := d.ruleAt(index)
	mistakes := applyAll(within, r, keysOf(within.tree, nil), ruleSettings(home, variables))
	if within.value(toml.Key{"name"}) == nil {
		mistakes = append(mistakes, d.place(toml.Key{ruleKey}, &mistake{"has no name", `write name = "..." in it`}))
	}
	return mistakes
}

// ruleAt returns the rule of that index, and the variables that it names.
func (d document) ruleAt(index int) (rule document, variables []string) {
	var all []toml.Primitive
	list, _ := d.find(toml.Key{ruleKey})
	if err := d.md.PrimitiveDecode(list, &all); err != nil {
		return d, nil // it is a list: that has been looked at
	}
	d.tree = d.value(toml.Key{ruleKey}).([]map[string]any)[index]
	d.root, d.under = all[index], toml.Key{ruleKey}
	if env, ok := d.value(toml.Key{"env"}).(map[string]any); ok {
		variables = slices.Sorted(maps.Keys(env))
	}
	return d, variables
}

// keysOf lists the keys of a table and of those in it.
func keysOf(tree any, under toml.Key) []toml.Key {
	table, _ := tree.(map[string]any)
	var keys []toml.Key
	for _, name := range slices.Sorted(maps.Keys(table)) {
		key := slices.Concat(under, toml.Key{name})
		keys = append(append(keys, key), keysOf(table[name], key)...)
	}
	return keys
}

// through is the file up to the end of the rule of that index. The library keeps one place for each key, which
// for a key of rules is that of the last rule that has it: here, the one that is asked for. A line that looks
// like a header but stands in a text or a list is none: what comes before it cannot be decoded.
func (d document) through(index int) document {
	last := d
	if d.countRules() == index+1 {
		return last
	}
	for at := 0; at < len(d.text); at += strings.IndexByte(d.text[at:]+"\n", '\n') + 1 {
		if !strings.HasPrefix(strings.TrimLeft(d.text[at:], " \t"), "[[") {
			continue
		}
		before, err := decode(d.file, d.text[:at])
		if err != nil {
			continue
		}
		if before.countRules() == index+1 {
			last = before
		}
	}
	return last
}

func (d document) countRules() int {
	list, _ := d.value(toml.Key{ruleKey}).([]map[string]any)
	return len(list)
}
