package config

import (
	"errors"
	"strings"
	"testing"
)

// A key is set where it stands, and all else of the file stays as it is.
func TestSet(t *testing.T) {
	for _, c := range []struct{ name, text, key, words, want string }{
		{"empty", "", "ttl", "2h", "ttl = \"2h\"\n"},
		{"no newline", "enabled = true", "ttl", "2h", "enabled = true\nttl = \"2h\""},
		{"for editors", "#:schema s\n# mine\n[prune]\n", "ttl", "2h",
			"#:schema s\nttl = \"2h\"\n# mine\n[prune]\n"},
		{"replaced", "# mine\nttl = \"1h\"  # long\nmax_age = \"3h\"\n", "ttl", "2h",
			"# mine\nttl = \"2h\"  # long\nmax_age = \"3h\"\n"},
		{"mark in text", "store.key_file = \"/a#b\" # c#d\n", "store.key_file", "/x",
			"store.key_file = \"/x\" # c#d\n"},
		{"quoted key", "\"ttl\" = '1h'\n", "ttl", "2h", "\"ttl\" = \"2h\"\n"},
		{"number", "", "context_limit", "0.6", "context_limit = 0.6\n"},
		{"text of digits", "", "tool.claude.unset_env", "6", "tool.claude.unset_env = \"6\"\n"},
		{"truth", "enabled = true\n", "enabled", "false", "enabled = false\n"},
		{"unquoted", "# mine\nttl = 1h\nmax_age = \"3h\"\n", "ttl", "2h",
			"# mine\nttl = \"2h\"\nmax_age = \"3h\"\n"},
		{"unquoted at the end", "ttl = 1h", "ttl", "2h", "ttl = \"2h\"\n"},
		{"unquoted in its table", "[prune]\n auto = all\n", "prune.auto", "all",
			"[prune]\n auto = \"all\"\n"},
		{"one of two unquoted", "ttl = 1h\nidentical = resume\n", "ttl", "2h",
			"ttl = \"2h\"\nidentical = resume\n"},
		{"before the first table", "enabled = true\n\n# rules\n[[rule]]\nname = \"a\"\n", "ttl",
			"2h",
			"enabled = true\nttl = \"2h\"\n\n# rules\n[[rule]]\nname = \"a\"\n"},
		{"only tables", "# rules\n[[rule]]\nname = \"a\"\nttl = \"1h\"\n", "ttl", "2h",
			"ttl = \"2h\"\n# rules\n[[rule]]\nname = \"a\"\nttl = \"1h\"\n"},
		{"in its table", "[prune]\nauto = \"all\" # daily\n\n[store]\ntimeout = \"1s\"\n",
			"prune.keep_within", "9d",
			"[prune]\nauto = \"all\" # daily\nkeep_within = \"9d\"\n\n[store]\ntimeout = \"1s\"\n"},
		{"not in a text that looks like its table",
			"[[rule]]\nname = \"a\"\nkeep = '''\n[prune]\nauto = 1\n'''\n[prune]\nauto = \"all\"\n",
			"prune.auto", "off",
			"[[rule]]\nname = \"a\"\nkeep = '''\n[prune]\nauto = 1\n'''\n[prune]\nauto = \"off\"\n"},
		{"replaced in its table", "[ tool . claude ]\n  path = \"/a\"\n", "tool.claude.path", "/b",
			"[ tool . claude ]\n  path = \"/b\"\n"},
		{"another tool", "[tool.claude]\nenabled = true\n", "tool.codex.enabled", "false",
			"tool.codex.enabled = false\n[tool.claude]\nenabled = true\n"},
		{"below tool", "[tool]\ncodex.enabled = true\n", "tool.codex.enabled", "false",
			"[tool]\ncodex.enabled = false\n"},
		{"list", "", "presets_off", "zen steroids", "presets_off = [\"zen\", \"steroids\"]\n"},
		{"list of one", "", "presets_off", "zen", "presets_off = \"zen\"\n"},
		{"list as TOML", "", "tool.claude.unset_env", `["A"]`, "tool.claude.unset_env = [\"A\"]\n"},
		{"long list", "[tool.claude]\nunset_env = [\n  \"A\",\n  \"B\",\n]\n# end\n",
			"tool.claude.unset_env", "C D", "[tool.claude]\nunset_env = [\"C\", \"D\"]\n# end\n"},
		{"after a byte order mark", "\ufeff[prune]\nauto = \"all\"\n", "ttl", "2h",
			"\ufeffttl = \"2h\"\n[prune]\nauto = \"all\"\n"},
		{"for editors, after a byte order mark", "\ufeff#:schema s\n[prune]\n", "ttl", "2h",
			"\ufeff#:schema s\nttl = \"2h\"\n[prune]\n"},
		{"a mistake is mended", "ttl = \"soon\"\n", "ttl", "2h", "ttl = \"2h\"\n"},
		{"windows lines", "ttl = \"1h\"\r\nenabled = true\r\n", "enabled", "false",
			"ttl = \"1h\"\r\nenabled = false\n"},
	} {
		words := strings.Fields(c.words)
		got, err := Set("f", c.text, "/home", c.key, words)
		if got != c.want || err != nil {
			t.Errorf("%s: %q, want %q, %v", c.name, got, c.want, err)
		}
	}
}

// A mistake by doctor's rules is not set, and a value that cannot be changed line by line is left
// to the user.
func TestSetMistakes(t *testing.T) {
	for _, c := range []struct{ text, key, value, want string }{
		{"", "ttll", "2h", "f: ttll: unknown key"},
		{"", "rule.ttl", "2h", "f: rule.ttl: unknown key"},
		{"", "prune", "2", "f: prune: unknown key"},
		{"", "a b", "2", "f: a b: unknown key"},
		{"", "", "2", "f: unknown key"},
		{"", "identical", "maybe", `f: identical: must be "fresh" or "resume", not "maybe"`},
		{"", "identical", "\n", `f: identical: must be "fresh" or "resume", not a list`},
		{"", "context_limit", "six", "f: context_limit: must be a number, not text"},
		{"", "context_limit", "-1", "f: context_limit: must be from 0 to 1, not -1"},
		{"", "ttl", "2h\nenabled = false", "f: ttl: must be a duration in quotes, not a list"},
		{"max_age = \"soon\"\n", "ttl", "2h", `f:1: max_age: "soon" is not a duration`},
		{"x = = 2\n", "ttl", "2h", "f:1: expected value but found '=' instead"},
		{"[prune]\nttl = 1h\n", "ttl", "2h",
			"f:2: expected a top-level item to end with a newline, comment, or EOF, but got 'h' " +
				"instead"},
		{"ttl = 1h\noops = 1\n", "ttl", "2h", "f:2: oops: unknown key"},
		{"prune = { auto = \"all\" }\n", "prune.auto", "off",
			"f:1: prune.auto: its place in the file cannot be changed by a program"},
	} {
		got, err := Set("f", c.text, "/home", c.key, []string{c.value})
		var mistakes Mistakes
		if (got != "" && err == nil) || !errors.As(err, &mistakes) || err.Error() != c.want {
			t.Errorf("%q: %s = %s: %q, %v, want %s", c.text, c.key, c.value, got, err, c.want)
		}
	}
}

func TestUnset(t *testing.T) {
	for _, c := range []struct {
		text, key, want string
	}{
		{"# a\nttl = \"1h\" # b\n# c\n", "ttl", "# a\n# c\n"},
		{"ttl = \"1h\"\n", "max_age", "ttl = \"1h\"\n"},
		{"[tool.claude]\nunset_env = [\n \"A\",\n]\n", "tool.claude.unset_env", "[tool.claude]\n"},
		{"ttl = \"soon\"\n", "ttl", ""},
		{"oops = 1\n", "oops", ""},
		{"ttl = 1h # long\nmax_age = \"3h\"\n", "ttl", "max_age = \"3h\"\n"},
		{"[[rule]]\nname = \"a\"\n", "ttl", "[[rule]]\nname = \"a\"\n"},
	} {
		got, err := Unset("f", c.text, "/home", c.key)
		if got != c.want || err != nil {
			t.Errorf("%q without %s: %q, %v", c.text, c.key, got, err)
		}
	}
	for text, key := range map[string]string{
		"prune = { keep_within = \"1d\", auto = \"all\" }\n": "prune.auto",
		"[prune]\nauto = \"all\"\n":                          "prune", "a = = 1": "b", "": "ttll",
		"[[rule]]\nname = 'a'\n": "rule"} {
		if got, err := Unset("f", text, "/home", key); err == nil {
			t.Errorf("%q without %s: %q", text, key, got)
		}
	}
}
