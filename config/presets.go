package config

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// presets returns the built-in rules that are not switched off.
func (c Config) presets() []Rule {
	return slices.DeleteFunc(builtIn(c.Policy), func(r Rule) bool {
		return slices.Contains(c.PresetsOff, r.Name) || slices.Contains(c.PresetsOff, allPresets)
	})
}

// allPresets switches all presets off.
const allPresets = "all"

func presetName(name string) error {
	all := append([]string{allPresets}, Config{}.RuleNames()...)
	if slices.Contains(all, name) {
		return nil
	}
	return &mistake{"there is no preset " + strconv.Quote(name),
		nearest(name, all, "they are "+strings.Join(all, ", "))}
}

// Longest returns the longest TTL and MaxAge of any call.
func (c Config) Longest() (ttl, maxAge time.Duration) {
	ttl = c.TTL
	for _, r := range c.Rules {
		ttl = max(ttl, r.TTL)
	}
	return ttl, c.MaxAge
}
