package config

import (
	_ "embed"
	"fmt"
	"slices"
	"time"
)

//go:embed presets.toml
var presetsFile string

// presets gives the rules that are built in and not switched off.
func (c Config) presets() ([]Rule, error) {
	if !c.Presets {
		return nil, nil
	}
	rules, err := readPresets(c.Policy)
	off := func(r Rule) bool { return slices.Contains(c.PresetsOff, r.Name) }
	return slices.DeleteFunc(rules, off), err
}

func readPresets(policy Policy) ([]Rule, error) {
	d, err := decode("presets.toml", presetsFile)
	if err != nil {
		return nil, fmt.Errorf("read presets: %w", err)
	}
	return d.rules(policy, "")
}

// presetName checks that there is a preset of that name.
func presetName(name string) error {
	rules, err := readPresets(Policy{})
	if err != nil {
		return err
	}
	var all []string
	for _, r := range rules {
		if r.Name == name {
			return nil
		}
		all = append(all, r.Name)
	}
	return &mistake{fmt.Sprintf("there is no preset %q", name), nearest(name, all)}
}

// Longest gives the longest TTL and MaxAge that hold for any call.
func (c Config) Longest() (ttl, maxAge time.Duration, err error) {
	presets, err := c.presets()
	if err != nil {
		return 0, 0, err
	}
	ttl, maxAge = c.TTL, c.MaxAge
	for _, r := range slices.Concat(c.Rules, presets) {
		ttl, maxAge = max(ttl, r.TTL), max(maxAge, r.MaxAge)
	}
	return ttl, maxAge, nil
}
