package config

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// presets returns the built-in rules that are not switched off.
func (c Config) presets() []Rule {
	if !c.Presets {
		return nil
	}
	return slices.DeleteFunc(builtIn(c.Policy), func(r Rule) bool { return slices.Contains(c.PresetsOff, r.Name) })
}

// presetName checks that there is a preset of that name.
func presetName(name string) error {
	var all []string
	for _, r := range builtIn(Policy{}) {
		if r.Name == name {
			return nil
		}
		all = append(all, r.Name)
	}
	return &mistake{"there is no preset " + strconv.Quote(name), nearest(name, all, "they are "+strings.Join(all, ", "))}
}

// Longest returns the longest TTL and MaxAge of any call.
func (c Config) Longest() (ttl, maxAge time.Duration) {
	ttl, maxAge = c.TTL, c.MaxAge
	for _, r := range slices.Concat(c.Rules, c.presets()) {
		ttl, maxAge = max(ttl, r.TTL), max(maxAge, r.MaxAge)
	}
	return ttl, maxAge
}
