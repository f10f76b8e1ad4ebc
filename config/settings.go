package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"reprise/rewrite"
)

// setting is one key that a T may have: the file itself, or one of its rules.
type setting[T any] struct {
	key string
	value[T]
}

// value is what a key takes.
type value[T any] struct {
	form form                        // for the schema, which is never stricter than set
	set  func(t *T, value any) error // a *mistake if the value is not allowed
}

// retired are keys that the last release had. For one release they do nothing, and are no mistake.
var retired = []string{"busy_wait", "log.max_bytes", "prune.keep_last", "store.max_session"}

// settings returns all keys outside of rules. Any other key is unknown.
func settings(home string) []setting[Config] {
	list := []setting[Config]{
		{"enabled", boolean(func(c *Config) *bool { return &c.Enabled })},
		{"error_limit", integer(0, 1000, func(c *Config, n int64) { c.ErrorLimit = int(n) })},
		{"context_limit", share(func(c *Config) *float64 { return &c.ContextLimit })},
		{"gate_timeout", duration(time.Hour, func(c *Config) *time.Duration { return &c.GateTimeout })},
		{"daily_note", boolean(func(c *Config) *bool { return &c.DailyNote })},
		{"presets", boolean(func(c *Config) *bool { return &c.Presets })},
		{"presets_off", texts(presetName, func(c *Config) *[]string { return &c.PresetsOff })},
		{"log.level", oneOf(func(c *Config) *LogLevel { return &c.Log.Level }, LogInfo, LogDebug, LogOff)},
		{"prune.auto", boolean(func(c *Config) *bool { return &c.Prune.Auto })},
		{"prune.keep_within", duration(year, func(c *Config) *time.Duration { return &c.Prune.KeepWithin })},
		{"prune.keep_history", duration(10*year, func(c *Config) *time.Duration { return &c.Prune.KeepHistory })},
		{"prune.superseded", durationOrOff(year, func(c *Config) *time.Duration { return &c.Prune.Superseded })},
		{"doctor.ignore", texts(func(string) error { return nil }, func(c *Config) *[]string { return &c.Doctor.Ignore })},
	}
	list = append(list, storeSettings(home)...)
	for _, name := range rewrite.Names {
		list = append(list, toolSettings(name, home)...)
	}
	return append(list, policySettings(func(c *Config) *Policy { return &c.Policy })...)
}

// policySettings returns the keys allowed both in the file and in a rule.
func policySettings[T any](policy func(*T) *Policy) []setting[T] {
	return []setting[T]{
		{"ttl", duration(year, func(t *T) *time.Duration { return &policy(t).TTL })},
		{"max_age", duration(year, func(t *T) *time.Duration { return &policy(t).MaxAge })},
		{"identical", oneOf(func(t *T) *Identical { return &policy(t).Identical }, IdenticalFresh, IdenticalResume)},
		{"unrelated", oneOf(func(t *T) *Unrelated { return &policy(t).Unrelated }, UnrelatedFresh, UnrelatedResume)},
		{"unnamed", oneOf(func(t *T) *Unnamed { return &policy(t).Unnamed }, UnnamedEvidence, UnnamedExtends, UnnamedOff)},
		{"delta", oneOf(func(t *T) *Delta { return &policy(t).Delta }, DeltaAuto, DeltaOff)},
		{"busy", oneOf(func(t *T) *Busy { return &policy(t).Busy }, BusyFresh, BusyFork, BusyWait)},
		{"dearer", oneOf(func(t *T) *Dearer { return &policy(t).Dearer }, DearerFresh, DearerResume)},
		{"cache_ttl", oneOf(func(t *T) *CacheTTL { return &policy(t).CacheTTL }, CacheTTLOff, CacheTTLAuto)},
		{"steady_prompt", boolean(func(t *T) *bool { return &policy(t).Steady })},
		{"rollout", share(func(t *T) *float64 { return &policy(t).Rollout })},
		{"delta_rollout", share(func(t *T) *float64 { return &policy(t).Deltas })},
		{"budget.calls_per_hour", integer(0, 1000, func(t *T, n int64) { policy(t).Budget.CallsPerHour = int(n) })},
		{"budget.dollars_per_day", dollars(func(t *T) *float64 { return &policy(t).Budget.DollarsPerDay })},
		{"budget.tokens_per_day", integer(0, 1e12, func(t *T, n int64) { policy(t).Budget.TokensPerDay = n })},
		{"budget.tokens_per_job", integer(0, 1e12, func(t *T, n int64) { policy(t).Budget.TokensPerJob = n })},
		{"budget.command", text(func(t *T) *string { return &policy(t).Budget.Command })},
		{"budget.stop", boolean(func(t *T) *bool { return &policy(t).Budget.Stop })},
	}
}

const year = 365 * 24 * time.Hour

func toolSettings(name, home string) []setting[Config] {
	return []setting[Config]{
		{"tool." + name + ".enabled", toolSetting(name, boolean(func(t *Tool) *bool { return &t.Enabled }))},
		{"tool." + name + ".path", toolSetting(name, path(home, func(t *Tool) *string { return &t.Path }))},
		{"tool." + name + ".unset_env", toolSetting(name, unsetEnv(func(t *Tool) *[]string { return &t.UnsetEnv }))},
	}
}

// toolSetting makes a tool's setting one of the file.
func toolSetting(name string, v value[Tool]) value[Config] {
	return value[Config]{v.form, func(c *Config, value any) error {
		t := c.Tools[name]
		err := v.set(&t, value)
		c.Tools[name] = t
		return err
	}}
}

func boolean[T any](field func(*T) *bool) value[T] {
	return value[T]{form{kind: "boolean"}, func(t *T, value any) error {
		b, ok := value.(bool)
		if !ok {
			return &mistake{"must be true or false, not " + kind(value), ""}
		}
		*field(t) = b
		return nil
	}}
}

func duration[T any](most time.Duration, field func(*T) *time.Duration) value[T] {
	return value[T]{form{kind: "string", pattern: durationPattern}, func(t *T, value any) error {
		text, ok := value.(string)
		if !ok {
			return &mistake{"must be a duration in quotes, not " + kind(value), unitHint}
		}
		d, err := ParseDuration(text)
		if err != nil {
			return &mistake{fmt.Sprintf("%q is not a duration", text), unitHint}
		}
		if d <= 0 || d > most {
			return &mistake{fmt.Sprintf("must be more than 0s and at most %s", short(most)), ""}
		}
		*field(t) = d
		return nil
	}}
}

// durationOrOff is duration, with "off" for 0.
func durationOrOff[T any](most time.Duration, field func(*T) *time.Duration) value[T] {
	v := duration(most, field)
	return value[T]{form{kind: "string", pattern: "^off$|" + durationPattern}, func(t *T, value any) error {
		if value == "off" {
			*field(t) = 0
			return nil
		}
		return v.set(t, value)
	}}
}

const unitHint = `write a number and its unit (ms, s, m, h, d, w), as in "30m"`

// short formats whole hours without zero minutes and seconds.
func short(d time.Duration) string { return fmt.Sprintf("%dh", d/time.Hour) }

func oneOf[T any, E ~string](field func(*T) *E, allowed ...E) value[T] {
	return value[T]{form{kind: "string", allowed: allowed}, func(t *T, value any) error {
		text, ok := value.(string)
		if !ok {
			return &mistake{"must be " + alternatives(allowed) + ", not " + kind(value), ""}
		}
		for _, a := range allowed {
			if E(text) == a {
				*field(t) = a
				return nil
			}
		}
		return &mistake{fmt.Sprintf("must be %s, not %q", alternatives(allowed), text), ""}
	}}
}

func alternatives[T ~string](allowed []T) string {
	var quoted []string
	for _, a := range allowed {
		quoted = append(quoted, fmt.Sprintf("%q", string(a)))
	}
	return strings.Join(quoted, " or ")
}

func integer[T any](least, most int64, set func(*T, int64)) value[T] {
	return value[T]{form{kind: "integer", least: float64(least), most: float64(most)}, func(t *T, value any) error {
		n, ok := value.(int64)
		if !ok {
			return &mistake{"must be a whole number, not " + kind(value), ""}
		}
		if n < least || n > most {
			return &mistake{fmt.Sprintf("must be from %d to %d, not %d", least, most, n), ""}
		}
		set(t, n)
		return nil
	}}
}

func share[T any](field func(*T) *float64) value[T] {
	return decimal(1, "0.8 is eighty per cent", field)
}

func dollars[T any](field func(*T) *float64) value[T] {
	return decimal(1_000_000, "", field)
}

// decimal returns the setter of a number from 0 to most.
func decimal[T any](most float64, hint string, field func(*T) *float64) value[T] {
	return value[T]{form{kind: "number", most: most}, func(t *T, value any) error {
		f, ok := value.(float64)
		if n, whole := value.(int64); whole {
			f, ok = float64(n), true
		}
		if !ok {
			return &mistake{"must be a number, not " + kind(value), ""}
		}
		if !(f >= 0 && f <= most) { // written so that nan is rejected too
			return &mistake{fmt.Sprintf("must be from 0 to %s, not %v", number(most), value), hint}
		}
		*field(t) = f
		return nil
	}}
}

// path takes an absolute path or one that starts with ~/.
func path[T any](home string, field func(*T) *string) value[T] {
	return value[T]{form{kind: "string", pattern: "^(/|~/)"}, func(t *T, value any) (err error) {
		*field(t), err = absolute(value, home)
		return err
	}}
}

// absolute returns the path in value, with a leading ~ replaced by home.
func absolute(value any, home string) (string, error) {
	path, ok := value.(string)
	if !ok {
		return "", &mistake{"must be a path in quotes, not " + kind(value), ""}
	}
	if strings.HasPrefix(path, "~/") {
		if home == "" {
			return "", &mistake{"~ cannot be expanded, HOME is not set", "write the whole path"}
		}
		path = home + path[1:]
	}
	if !filepath.IsAbs(path) {
		return "", &mistake{fmt.Sprintf("%q is not an absolute path", path), "start it with / or ~/"}
	}
	return path, nil // not cleaned: after a symbolic link, a/../b is not b
}

// kind returns the type of a value in the user's words.
func kind(value any) string {
	switch value.(type) {
	case bool:
		return "true or false"
	case string:
		return "text"
	case int64, float64:
		return "a number"
	case time.Time:
		return "a date"
	case map[string]any:
		return "a table"
	}
	return "a list"
}
