package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/rewrite"
)

// setting is one key of the file or of a rule.
type setting struct {
	key   string
	about string // the purpose of the key, in few words
	value
}

// value is the kind of value of a key, and the field that stores it.
type value struct {
	schema object                // never stricter than set
	set    func(value any) error // a *mistake if the value is not allowed
	show   func() string         // the field, as TOML; "" if nothing is set
}

// settings returns all keys outside of rules. Any other key is unknown.
func settings(c *Config, home string) []setting {
	list := append([]setting{{"enabled", "false: every call becomes the real binary",
		boolean(&c.Enabled)}}, policySettings(&c.Policy)...)
	list = append(list, []setting{
		{"presets_off", "built-in rules that are not used, or all",
			texts(&c.PresetsOff, presetName)},
		{"context_limit", "a session that has used more of the context than this share is not " +
			"resumed", share(&c.ContextLimit)},
		{"gate_timeout", "how long a resumed run's output is held back until the tool has " +
			"accepted the resume", duration(&c.GateTimeout, time.Hour)},
		{"prune.auto", "sessions that the shims remove once a day: copies (continued in a " +
			"copy a day ago), all or off",
			oneOf(&c.Prune.Auto, PruneCopies, PruneAll, PruneOff)},
		{"prune.keep_within", "shimctl prune keeps sessions that were used within this time",
			duration(&c.Prune.KeepWithin, year)},
		{"store.url", "where sessions are shared with other machines; nowhere if unset",
			storeURL(&c.Store)},
		{"store.key_file", "a file with the key that seals shared sessions",
			path(&c.Store.KeyFile, home)},
		{"store.timeout", "how long a call waits for the store at most before it runs, and if " +
			"that is more than 5s, after it too",
			duration(&c.Store.Timeout, time.Hour)},
	}...)
	for _, name := range rewrite.Names {
		list = append(list, toolSettings(c, name, home)...)
	}
	return list
}

// ruledKeys are the keys of a policy that a rule can have too.
var ruledKeys = []string{"ttl", "identical", "unrelated"}

// IsRuled reports whether a rule can have a key of the file too.
func IsRuled(key string) bool { return slices.Contains(ruledKeys, key) }

func policySettings(p *Policy) []setting {
	return []setting{
		{"ttl", "a session idle for longer is not resumed", duration(&p.TTL, year)},
		{"max_age", "a session that was started longer ago is not resumed",
			duration(&p.MaxAge, year)},
		{"unnamed", "when a call without a name is resumed: evidence, extends or off",
			oneOf(&p.Unnamed, rewrite.UnnamedEvidence, rewrite.UnnamedExtends,
				rewrite.UnnamedOff)},
		{"identical", "how the same prompt again is treated: fresh or resume",
			either(&p.ResumeSame, "fresh", "resume")},
		{"unrelated", "how another template for a named job is treated: fresh or resume",
			either(&p.Unrelated, "fresh", "resume")},
		{"delta", "auto: a resumed session is sent only the new part, if that pays; or off",
			either(&p.WholePrompt, "auto", "off")},
		{"busy", "what happens if another process uses the session: fresh, fork or wait",
			oneOf(&p.Busy, BusyFresh, BusyFork, BusyWait)},
		{"dearer", "how calls run after resumes that cost more than fresh runs: fresh or resume",
			either(&p.ResumeDearer, "fresh", "resume")},
		{"cache_ttl", "auto: the provider keeps a prompt for an hour if the pauses between " +
			"calls make that cheaper; or off",
			either(&p.KeepHour, "off", "auto")},
		{"rollout", "the share of chains that are resumed; the others stay fresh, to compare with",
			share(&p.Rollout)},
	}
}

const year = 365 * 24 * time.Hour

func toolSettings(c *Config, name, home string) []setting {
	t := c.Tools[name]
	list := []setting{
		{"tool." + name + ".enabled", "false: calls of this tool become the real binary",
			boolean(&t.Enabled)},
		{"tool." + name + ".path", "the real binary, instead of the next one on PATH",
			path(&t.Path, home)},
		{"tool." + name + ".unset_env", "variables that a managed run of this tool does not get",
			unsetEnv(&t.UnsetEnv)},
	}
	for i, s := range list {
		list[i].set = func(value any) error {
			err := s.set(value)
			c.Tools[name] = t
			return err
		}
	}
	return list
}

// as returns a value as a type that people know by a name.
func as[T any](value any, name, hint string) (T, error) {
	typed, ok := value.(T)
	if !ok {
		return typed, &mistake{"must be " + name + ", not " + kind(value), hint}
	}
	return typed, nil
}

func boolean(field *bool) value {
	return value{booleanSchema, func(value any) (err error) {
		*field, err = as[bool](value, "true or false", "")
		return err
	}, func() string { return strconv.FormatBool(*field) }}
}

func duration(field *time.Duration, most time.Duration) value {
	return value{durationSchema, func(value any) error {
		text, err := as[string](value, "a duration in quotes", unitHint)
		if err != nil {
			return err
		}
		d, err := ParseDuration(text)
		if err != nil {
			return &mistake{fmt.Sprintf("%q is not a duration", text), unitHint}
		}
		if d <= 0 || d > most {
			return &mistake{fmt.Sprintf("must be more than 0s and at most %s", written(most)), ""}
		}
		*field = d
		return nil
	}, func() string { return Quoted(written(*field)) }}
}

const unitHint = `write a number and its unit (ms, s, m, h, d, w), as in "30m"`

func oneOf[E ~string](field *E, allowed ...E) value {
	return value{object{"type": "string", "enum": allowed}, func(value any) error {
		text, err := as[string](value, alternatives(allowed), "")
		if err == nil && !slices.Contains(allowed, E(text)) {
			err = &mistake{fmt.Sprintf("must be %s, not %q", alternatives(allowed), text), ""}
		}
		*field = E(text)
		return err
	}, func() string { return Quoted(*field) }}
}

// either takes one of two words. The field is true for the second.
func either(field *bool, no, yes string) value {
	words := map[bool]string{false: no, true: yes}
	word := words[*field]
	v := oneOf(&word, no, yes)
	return value{v.schema, func(value any) error {
		err := v.set(value)
		*field = word == yes
		return err
	}, func() string { return Quoted(words[*field]) }}
}

func alternatives[T ~string](allowed []T) string {
	var quoted []string
	for _, a := range allowed {
		quoted = append(quoted, fmt.Sprintf("%q", string(a)))
	}
	return strings.Join(quoted, " or ")
}

// share takes a number from 0 to 1.
func share(field *float64) value {
	return value{shareSchema, func(value any) error {
		f, ok := value.(float64)
		if n, whole := value.(int64); whole {
			f, ok = float64(n), true
		}
		if !ok {
			return &mistake{"must be a number, not " + kind(value), ""}
		}
		if !(f >= 0 && f <= 1) { // written so that nan is rejected too
			return &mistake{fmt.Sprintf("must be from 0 to 1, not %v", value),
				"0.8 is eighty per cent"}
		}
		*field = f
		return nil
	}, func() string { return strconv.FormatFloat(*field, 'f', -1, 64) }}
}

// path takes an absolute path or a path that starts with ~/.
func path(field *string, home string) value {
	return value{pathSchema, func(value any) (err error) {
		*field, err = absolute(value, home)
		return err
	}, func() string { return quotedIfSet(*field) }}
}

// absolute returns the path in value, with a leading ~ replaced by home.
func absolute(value any, home string) (string, error) {
	path, err := as[string](value, "a path in quotes", "")
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(path, "~/") {
		if home == "" {
			return "", &mistake{"~ cannot be expanded, HOME is not set", "write the whole path"}
		}
		path = home + path[1:]
	}
	if !filepath.IsAbs(path) {
		return "", &mistake{fmt.Sprintf("%q is not an absolute path", path),
			"start it with / or ~/"}
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
