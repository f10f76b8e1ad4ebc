package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/rewrite"
)

func TestParse(t *testing.T) {
	cases := []struct {
		name, text string
		change     func(*Config)
	}{
		{"empty", "", func(*Config) {}},
		{"comment, byte order mark, other line ends", "\xef\xbb\xbf# none\r\n", func(*Config) {}},
		{"off", "enabled = false", func(c *Config) { c.Enabled = false }},
		{"ttl", `ttl = "1h30m"`, func(c *Config) { c.TTL = 90 * time.Minute }},
		{"short ttl", `ttl = "1ms"`, func(c *Config) { c.TTL = time.Millisecond }},
		{"max_age", `max_age = "48h"`, func(c *Config) { c.MaxAge = 48 * time.Hour }},
		{"identical", `identical = "resume"`, func(c *Config) { c.ResumeSame = true }},
		{"unrelated", `unrelated = "resume"`, func(c *Config) { c.Unrelated = true }},
		{"delta", `delta = "off"`, func(c *Config) { c.WholePrompt = true }},
		{"busy", `busy = "fork"`, func(*Config) {}},
		{"fresh", `busy = "fresh"`, func(c *Config) { c.Busy = BusyFresh }},
		{"wait", "busy = \"wait\"", func(c *Config) { c.Busy = BusyWait }},
		{"context_limit", "context_limit = 0.5", func(c *Config) { c.ContextLimit = 0.5 }},
		{"context_limit, whole", "context_limit = 1", func(c *Config) { c.ContextLimit = 1 }},
		{"gate_timeout", `gate_timeout = "1s"`, func(c *Config) { c.GateTimeout = time.Second }},
		{"dotted", `prune.auto = "all"`, func(c *Config) { c.Prune.Auto = PruneAll }},
		{"tool off", "[tool.vibe]\nenabled = false", tool("vibe", Tool{})},
		{"tool path", "[tool.claude]\npath = \"/opt/c\"",
			tool("claude", Tool{Enabled: true, Path: "/opt/c"})},
		{"path with spaces", `tool.codex.path = "/o p/c"`,
			tool("codex", Tool{Enabled: true, Path: "/o p/c"})},
		{"path from home", `tool.gemini.path = "~/bin/g"`,
			tool("gemini", Tool{Enabled: true, Path: "/h/bin/g"})},
		{"path left as it is", `tool.gemini.path = "/a/../g"`,
			tool("gemini", Tool{Enabled: true, Path: "/a/../g"})},
		{"inline", `tool = { vibe = { enabled = false, path = "/v" } }`,
			tool("vibe", Tool{Path: "/v"})},
		{"quoted key", `"tool".'vibe'.enabled = false`, tool("vibe", Tool{})},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			want := Default()
			c.change(&want)
			got, err := Parse("c.toml", c.text, "/h")
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, %v; want %+v", got, err, want)
			}
		})
	}
}

func tool(name string, t Tool) func(*Config) {
	return func(c *Config) { c.Tools[name] = t }
}

func TestMistakes(t *testing.T) {
	const lost = "shimctl config lists every key"
	cases := []struct{ name, text, want, hint string }{
		{"no toml", "ttl =", `c.toml:1: *`, ""},
		{"twice", "delta = \"off\"\ndelta = \"off\"", `c.toml:2: *`, ""},
		{"unknown", "\n# x\ntll = 1", `c.toml:3: tll: unknown key`, `did you mean "ttl"`},
		{"other case", "TTL = 1", `c.toml:1: TTL: unknown key`, `did you mean "ttl"`},
		{"too little", "context_limit = -1", `c.toml:1: context_limit: must be from 0 to 1, not -1`,
			"0.8 is eighty per cent"},
		{"unlike any", "colour_of_the_sky = 1", `c.toml:1: colour_of_the_sky: unknown key`, lost},
		{"dot or dash", `prune_auto = true`, `c.toml:1: prune_auto: unknown key`,
			`did you mean "prune.auto"`},
		{"first mistake first", "a = 1\nttl = 1", `c.toml:1: a: unknown key`, lost},
		{"of a rule", `start_from = "coder"`, `c.toml:1: start_from: unknown key`,
			"start_from belongs in a rule, below a line [[rule]]"},
		{"unknown in the first table", "\xef\xbb\xbf[prune]\nauot = true",
			`c.toml:2: prune.auot: unknown key`, `did you mean "prune.auto"`},
		{"unknown in table", "[prune]\n\nauot = true", `c.toml:3: prune.auot: unknown key`,
			`did you mean "prune.auto"`},
		{"unknown table", "ttl = \"1s\"\n\n[tool.cladue]\npath = 3",
			`c.toml:3: tool.cladue: unknown key`, `did you mean "tool.claude"`},
		{"unknown, dotted", "\ntool.claude.pth = 3", `c.toml:2: tool.claude.pth: unknown key`,
			`did you mean "tool.claude.path"`},
		{"unknown, inline", "\ntool = { claude = { pth = 3 } }",
			`c.toml:2: tool.claude.pth: unknown key`, `did you mean "tool.claude.path"`},
		{"unknown array of tables", "\n[[chapter]]\na = 1", `c.toml:2: chapter: unknown key`, lost},
		{"quoted unknown", `"a b" = 1`, `c.toml:1: "a b": unknown key`, lost},
		{"empty key", `"" = 1`, `c.toml:1: "": unknown key`, lost},
		{"within a key", "delta.x = 1", `c.toml:1: delta.x: unknown key`, `did you mean "delta"`},
		{"table for a key", "\n[ttl]", `c.toml:2: ttl: must be a duration in quotes, not a table`,
			unitHint},
		{"key for a table", "prune = 1", `c.toml:1: prune: must be a table`,
			"write [prune] on a line of its own"},
		{"key for a tool", "\ntool.vibe = \"/v\"", `c.toml:2: tool.vibe: must be a table`,
			"write [tool.vibe] on a line of its own"},
		{"array for a table", "\n[[prune]]\nauto = true", `c.toml:2: prune: must be a table`,
			"write [prune] on a line of its own"},
		{"bool", "\nenabled = \"yes\"", `c.toml:2: enabled: must be true or false, not text`, ""},
		{"bool list", "enabled = [true]", `c.toml:1: enabled: must be true or false, not a list`,
			""},
		{"tool bool", "[tool.codex]\nenabled = 1",
			`c.toml:2: tool.codex.enabled: must be true or false, not a number`, ""},
		{"duration number", "ttl = 30", `c.toml:1: ttl: must be a duration in quotes, not a number`,
			unitHint},
		{"duration date", "ttl = 2026-01-01",
			`c.toml:1: ttl: must be a duration in quotes, not a date`, unitHint},
		{"duration unit", `ttl = "30"`, `c.toml:1: ttl: "30" is not a duration`, unitHint},
		{"duration years", `max_age = "7y"`, `c.toml:1: max_age: "7y" is not a duration`, unitHint},
		{"duration zero", `ttl = "0s"`, `c.toml:1: ttl: must be more than 0s and at most 8760h`,
			""},
		{"duration below zero", `max_age = "-1s"`,
			`c.toml:1: max_age: must be more than 0s and at most 8760h`, ""},
		{"duration too long", `gate_timeout = "61m"`,
			`c.toml:1: gate_timeout: must be more than 0s and at most 1h`, ""},
		{"identical", `identical = "Fresh"`,
			`c.toml:1: identical: must be "fresh" or "resume", not "Fresh"`, ""},
		{"unrelated", `unrelated = "new"`,
			`c.toml:1: unrelated: must be "fresh" or "resume", not "new"`, ""},
		{"identical bool", `identical = true`,
			`c.toml:1: identical: must be "fresh" or "resume", not true or false`, ""},
		{"delta", `delta = "on"`, `c.toml:1: delta: must be "auto" or "off", not "on"`, ""},
		{"busy", `busy = "forks"`,
			`c.toml:1: busy: must be "fresh" or "fork" or "wait", not "forks"`, ""},
		{"context_limit per cent", "context_limit = 80",
			`c.toml:1: context_limit: must be from 0 to 1, not 80`, "0.8 is eighty per cent"},
		{"context_limit nan", "context_limit = nan",
			`c.toml:1: context_limit: must be from 0 to 1, not NaN`, "0.8 is eighty per cent"},
		{"context_limit text", `context_limit = "80%"`,
			`c.toml:1: context_limit: must be a number, not text`, ""},
		{"one of three", "[prune]\nauto = \"later\"",
			`c.toml:2: prune.auto: must be "copies" or "all" or "off", not "later"`, ""},
		{"path number", "tool.vibe.path = 1",
			`c.toml:1: tool.vibe.path: must be a path in quotes, not a number`, ""},
		{"path relative", `tool.vibe.path = "bin/v"`,
			`c.toml:1: tool.vibe.path: "bin/v" is not an absolute path`, "start it with / or ~/"},
		{"path empty", `tool.vibe.path = ""`,
			`c.toml:1: tool.vibe.path: "" is not an absolute path`, "start it with / or ~/"},
		{"path of someone else", `tool.vibe.path = "~x/v"`,
			`c.toml:1: tool.vibe.path: "~x/v" is not an absolute path`, "start it with / or ~/"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse("c.toml", c.text, "/h")
			var all Mistakes
			if !errors.As(err, &all) {
				t.Fatalf("error is %v, want Mistakes", err)
			}
			e := all[0]
			start, open := strings.CutSuffix(c.want, "*")
			if e.Error() != c.want && !(open && strings.HasPrefix(e.Error(), start)) {
				t.Errorf("error is %q, want %q", e, c.want)
			}
			if e.Hint != c.hint {
				t.Errorf("hint is %q, want %q", e.Hint, c.hint)
			}
			if !reflect.DeepEqual(got, Config{}) {
				t.Errorf("a mistake left %+v, want the zero Config", got)
			}
		})
	}
}

// All mistakes are found at once, in the order of the file; a consequence of one is none of its
// own.
func TestAllMistakes(t *testing.T) {
	_, err := Parse("c.toml", `ttl = 30
[[rule]]
name = "a"
promt = 'x'
ttl = "1x"
[[rule]]
tool = "x"
[[rule]]
name = 1
[rule.evn]
A = 'x'
[tool.cladue]
path = 3
[prune]
auto = "yes"
`, "/h")
	var all Mistakes
	if !errors.As(err, &all) {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range all {
		lines = append(lines, fmt.Sprintf("%d %s", e.Line, e.Key))
	}
	want := []string{"1 ttl", "4 rule.promt", "5 rule.ttl", "6 rule", "7 rule.tool", "9 rule.name",
		"10 rule.evn", "12 tool.cladue", "15 prune.auto"}
	if !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	if want := "c.toml:1: ttl: must be a duration in quotes, not a number (and 8 more)"; err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestPathFromHomeWithoutHome(t *testing.T) {
	_, err := Parse("c.toml", `tool.vibe.path = "~/v"`, "")
	want := "c.toml:1: tool.vibe.path: ~ cannot be expanded, HOME is not set"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestLoad(t *testing.T) {
	t.Setenv("HOME", "/h")
	dir := t.TempDir()
	good := write(t, dir, "good.toml", `tool.vibe.path = "~/v"`)
	bad := write(t, dir, "bad.toml", "\nttl = 1")
	large := write(t, dir, "large.toml", "#"+strings.Repeat("x", maxFile))
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	vibe := Default()
	vibe.Tools["vibe"] = Tool{Enabled: true, Path: "/h/v"}
	cases := []struct {
		name, path string
		want       Config
		err        string // the error's text; empty: none
	}{
		{"good", good, vibe, ""},
		{"missing", filepath.Join(dir, "none", "config.toml"), Default(), ""},
		{"null device", os.DevNull, Default(), ""},
		{"mistake", bad, Config{}, bad + ":2: ttl: "},
		{"directory", dir, Config{}, "not a regular file"},
		{"pipe that no one writes to", pipe, Config{}, "not a regular file"},
		{"too large", large, Config{}, "larger than"},
		{"a file for a directory", filepath.Join(good, "config.toml"), Config{},
			"read configuration: "},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Load(c.path)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if (err == nil) != (c.err == "") ||
				err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error is %v, want %q", err, c.err)
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestReference holds the reference page to the keys and defaults of the code, in their order.
func TestReference(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{} // key to default
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) == 6 && strings.Contains(cells[1], "`") {
			for _, key := range eachTool(strings.Trim(cells[1], " `")) {
				documented[key] = strings.Trim(cells[2], " `")
			}
		}
	}
	for _, s := range settings(&Config{}, "") {
		value, ok := documented[s.key]
		delete(documented, s.key)
		if !ok {
			t.Errorf("%s is not in the reference", s.key)
		} else if value != "none" {
			checkDefault(t, s.key, value)
		}
	}
	for key := range documented {
		t.Errorf("the reference names %s, which is not a key", key)
	}
}

// eachTool returns the keys of a row of the reference: for tool.NAME one of each tool.
func eachTool(key string) (keys []string) {
	suffix, ok := strings.CutPrefix(key, "tool.NAME")
	if !ok {
		return []string{key}
	}
	for _, name := range rewrite.Names {
		keys = append(keys, "tool."+name+suffix)
	}
	return keys
}

// checkDefault sets key to its default on the page: that must change nothing.
func checkDefault(t *testing.T, key, value string) {
	t.Helper()
	got, err := Parse("reference", key+" = "+value, "/h")
	if err != nil {
		t.Error(err)
	} else if !reflect.DeepEqual(got, Default()) {
		t.Errorf("%s = %s is not the default", key, value)
	}
}

func TestReferenceExample(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```toml\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the reference has no example")
	}
	if _, err := Parse("example", example, "/h"); err != nil {
		t.Error(err)
	}
}

// FuzzParse: any file is either a mistake with the zero Config, or a Config with all values in
// range.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", `ttl = "1h"`, "[tool.vibe]\npath = \"/v\"", "[[log]]\n",
		"a.b.c = [{x=1}]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("f", text, "/h")
		if err != nil {
			if !reflect.DeepEqual(c, Config{}) {
				t.Errorf("a mistake left %+v", c)
			}
			return
		}
		if bad := outOfRange(c); bad != "" {
			t.Errorf("%s is out of range in %+v", bad, c)
		}
	})
}

func outOfRange(c Config) string {
	for name, ok := range map[string]bool{
		"ttl":           c.TTL > 0,
		"max_age":       c.MaxAge > 0,
		"gate_timeout":  c.GateTimeout > 0,
		"context_limit": c.ContextLimit >= 0 && c.ContextLimit <= 1,
		"store":         checkStoreURL(c.Store.URL) == nil || c.Store.URL == "",
		"store.timeout": c.Store.Timeout > 0,
		"tools":         len(c.Tools) == len(rewrite.Names),
	} {
		if !ok {
			return name
		}
	}
	for name, tool := range c.Tools {
		if tool.Path != "" && !filepath.IsAbs(tool.Path) {
			return fmt.Sprintf("tool.%s.path", name)
		}
	}
	return ""
}
