package config

import (
	"maps"
	"slices"

	"github.com/BurntSushi/toml"
)

const ruleKey = "rule"

// rules reads the [[rule]] tables. policy applies unless they say otherwise.
func (d document) rules(policy Policy, home string) (rules []Rule, mistakes Mistakes) {
	list, ok := d.tree[ruleKey].([]map[string]any)
	if !ok {
		return nil, Mistakes{d.place(toml.Key{ruleKey},
			&mistake{"must be a list of tables", "write [[rule]] on a line of its own"})}
	}
	rules = make([]Rule, len(list))
	for i := range rules {
		rules[i].Policy = policy
		d.tree, d.under, d.rule = list[i], toml.Key{ruleKey}, i
		env, _ := d.tree["env"].(map[string]any)
		known := ruleSettings(&rules[i], home, slices.Sorted(maps.Keys(env)))
		mistakes = append(mistakes, applyAll(d, tableKeys(d.tree, nil), known)...)
		if d.tree["name"] == nil {
			mistakes = append(mistakes, d.place(nil,
				&mistake{"has no name", `write name = "..." in it`}))
		}
	}
	return rules, mistakes
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
