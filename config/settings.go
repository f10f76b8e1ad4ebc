package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// setting is one key that the file may hold.
type setting struct {
	key string
	set func(c *Config, value any) error // a *mistake if the value is not one it takes
}

// settings is the list of all keys; what is not here is an unknown key.
func settings(home string) []setting {
	list := []setting{
		{"enabled", boolean(func(c *Config) *bool { return &c.Enabled })},
		{"ttl", duration(year, func(c *Config) *time.Duration { return &c.TTL })},
		{"max_age", duration(year, func(c *Config) *time.Duration { return &c.MaxAge })},
		{"identical", oneOf(func(c *Config) *Identical { return &c.Identical }, IdenticalFresh, IdenticalResume)},
		{"delta", oneOf(func(c *Config) *Delta { return &c.Delta }, DeltaAuto, DeltaOff)},
		{"busy", oneOf(func(c *Config) *Busy { return &c.Busy }, BusyFresh)},
		{"error_limit", integer(0, 1000, func(c *Config, n int64) { c.ErrorLimit = int(n) })},
		{"context_limit", share(func(c *Config) *float64 { return &c.ContextLimit })},
		{"gate_timeout", duration(time.Hour, func(c *Config) *time.Duration { return &c.GateTimeout })},
		{"log.level", oneOf(func(c *Config) *LogLevel { return &c.Log.Level }, LogInfo, LogDebug, LogOff)},
		{"log.max_bytes", integer(1<<10, 1<<30, func(c *Config, n int64) { c.Log.MaxBytes = n })},
	}
	for _, name := range ToolNames() {
		list = append(list, toolSettings(name, home)...)
	}
	return list
}

const year = 365 * 24 * time.Hour

func toolSettings(name, home string) []setting {
	return []setting{
		{"tool." + name + ".enabled", func(c *Config, value any) error {
			t := c.Tools[name]
			err := boolean(func(*Config) *bool { return &t.Enabled })(c, value)
			c.Tools[name] = t
			return err
		}},
		{"tool." + name + ".path", func(c *Config, value any) error {
			t := c.Tools[name]
			path, err := absolute(value, home)
			t.Path = path
			c.Tools[name] = t
			return err
		}},
	}
}

func boolean(field func(*Config) *bool) func(*Config, any) error {
	return func(c *Config, value any) error {
		b, ok := value.(bool)
		if !ok {
			return &mistake{"must be true or false, not " + kind(value), ""}
		}
		*field(c) = b
		return nil
	}
}

func duration(most time.Duration, field func(*Config) *time.Duration) func(*Config, any) error {
	return func(c *Config, value any) error {
		text, ok := value.(string)
		if !ok {
			return &mistake{"must be a duration in quotes, not " + kind(value), unitHint}
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			return &mistake{fmt.Sprintf("%q is not a duration", text), unitHint}
		}
		if d <= 0 || d > most {
			return &mistake{fmt.Sprintf("must be more than 0s and at most %s", short(most)), ""}
		}
		*field(c) = d
		return nil
	}
}

const unitHint = `write a number and its unit (ms, s, m, h), as in "30m"`

// short writes whole hours without zero minutes and seconds.
func short(d time.Duration) string { return fmt.Sprintf("%dh", d/time.Hour) }

func oneOf[T ~string](field func(*Config) *T, allowed ...T) func(*Config, any) error {
	return func(c *Config, value any) error {
		text, ok := value.(string)
		if !ok {
			return &mistake{"must be " + alternatives(allowed) + ", not " + kind(value), ""}
		}
		for _, a := range allowed {
			if T(text) == a {
				*field(c) = a
				return nil
			}
		}
		return &mistake{fmt.Sprintf("must be %s, not %q", alternatives(allowed), text), ""}
	}
}

func alternatives[T ~string](allowed []T) string {
	var quoted []string
	for _, a := range allowed {
		quoted = append(quoted, fmt.Sprintf("%q", string(a)))
	}
	return strings.Join(quoted, " or ")
}

func integer(least, most int64, set func(*Config, int64)) func(*Config, any) error {
	return func(c *Config, value any) error {
		n, ok := value.(int64)
		if !ok {
			return &mistake{"must be a whole number, not " + kind(value), ""}
		}
		if n < least || n > most {
			return &mistake{fmt.Sprintf("must be from %d to %d, not %d", least, most, n), ""}
		}
		set(c, n)
		return nil
	}
}

func share(field func(*Config) *float64) func(*Config, any) error {
	return func(c *Config, value any) error {
		f, ok := value.(float64)
		if n, whole := value.(int64); whole {
			f, ok = float64(n), true
		}
		if !ok {
			return &mistake{"must be a number, not " + kind(value), ""}
		}
		if !(f >= 0 && f <= 1) { // written so that nan is refused too
			return &mistake{fmt.Sprintf("must be from 0 to 1, not %v", value), "0.8 is eighty per cent"}
		}
		*field(c) = f
		return nil
	}
}

// absolute returns the path that value names, with home put for a leading ~.
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
	return path, nil // not cleaned: past a link, a/../b is not b
}

// kind names what a value is, in the words of someone who writes a file.
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
