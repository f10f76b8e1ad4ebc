package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/rewrite"
)

// subject is a call of claude.
func subject(change func(*Subject)) Subject {
	s := Subject{Tool: "claude", Cwd: "/home/u/work/shop-42", Env: lookup(nil),
		Args:   []string{"-p", "--agent", "tester"},
		Prompt: "\n# Job 17: tidy up\n\nRound 3.\n"}
	if change != nil {
		change(&s)
	}
	return s
}

func TestMatch(t *testing.T) {
	set := func(pairs ...string) func(*Subject) {
		return func(s *Subject) { s.Env = lookup(pairs) }
	}
	cases := []struct {
		name, rule string
		change     func(*Subject)
		want       Match // without its rule; its Scope reports whether the rule matched
	}{
		{"every call", ``, nil, Match{Scope: "r"}},
		{"tool", `tool = "claude"`, nil, Match{Scope: "r"}},
		{"tools", `tool = ["codex", "claude"]`, nil, Match{Scope: "r"}},
		{"other tool", `tool = ["codex", "gemini"]`, nil, Match{}},
		{"cwd", `cwd = "/home/u/work/*"`, nil, Match{Scope: "r"}},
		{"cwd, one name only", `cwd = "/home/u/*"`, nil, Match{}},
		{"cwd, deep", `cwd = "/home/**"`, nil, Match{Scope: "r"}},
		{"cwd, anywhere", `cwd = "**/shop-??"`, nil, Match{Scope: "r"}},
		{"cwd, anywhere, whole names", `cwd = "**/hop-42"`, nil, Match{}},
		{"cwd from home", `cwd = "~/work/{task}"`, func(s *Subject) {
			s.Cwd = "/h/work/a.b"
		}, Match{Task: "a.b", Scope: "r", Captured: true}},
		{"cwd, a dot is a dot", `cwd = "/a.b"`, func(s *Subject) { s.Cwd = "/axb" }, Match{}},
		{"cwd, part of a name", `cwd = "**/shop-{task}"`, nil,
			Match{Task: "42", Scope: "r", Captured: true}},
		{"cwd, several", `cwd = "/home/{role}/*/{task}"`, nil,
			Match{Task: "shop-42", Role: "u", Scope: "r", Captured: true}},
		{"env", `env.JOB = '(?P<task>\d+)'`, set("JOB=no. 9"),
			Match{Task: "9", Scope: "r", Captured: true}},
		{"env, unset", `env.JOB = '(?P<task>.*)'`, nil, Match{}},
		{"env, other", `env.JOB = '^\d+$'`, set("JOB=no. 9"), Match{}},
		{"env, two", "env.A = '(?P<task>.+)'\nenv.B = '(?P<role>.+)'", set("A=1", "B=2"),
			Match{Task: "1", Role: "2", Scope: "r", Captured: true}},
		{"env, one of two", "env.A = '(?P<task>.+)'\nenv.B = '(?P<role>.+)'", set("A=1"), Match{}},
		{"argv", `argv = '--agent (?P<role>\S+)'`, nil, Match{Role: "tester", Scope: "r"}},
		{"argv, both", `argv = ['-p', '--agent']`, nil, Match{Scope: "r"}},
		{"argv, one of two", `argv = ['-p', '--model']`, nil, Match{}},
		{"starts", `starts = ["# No", "# Job"]`, nil, Match{Scope: "r"}},
		{"starts, further down", `starts = "Round"`, nil, Match{}},
		{"prompt", `prompt = '^# Job (?P<task>\d+)'`, nil,
			Match{Task: "17", Scope: "r", Captured: true}},
		{"prompt, attempt", `prompt = 'Round (?P<attempt>\d+)'`, nil,
			Match{Attempt: 3, Scope: "r"}},
		{"prompt, no number", `prompt = 'Round (?P<attempt>.*)'`, nil, Match{Scope: "r"}},
		{"prompt, several", `prompt = ['^# Job (?P<task>\d+)', 'Round (?P<task>\d+)']`, nil,
			Match{Task: "17 3", Scope: "r", Captured: true}},
		{"prompt, one of two", `prompt = ['Job', 'Task']`, nil, Match{}},
		{"a text is no name", `prompt = '(?P<task>(?s:.*))'`, func(s *Subject) {
			s.Prompt = strings.Repeat("x", 201)
		}, Match{}},
		{"a name of two lines", `prompt = '(?P<task>(?s:.*))'`, nil,
			Match{Task: "# Job 17: tidy up Round 3.", Scope: "r", Captured: true}},
		{"roles have no case", `prompt = '(?P<role>Job)'`, nil, Match{Role: "job", Scope: "r"}},
		{"fixed", "task = \"t\"\nrole = \"Coder\"", nil,
			Match{Task: "t", Role: "coder", Scope: "r"}},
		{"fixed, captured", "task = \"t\"\nprompt = 'Job (?P<task>\\d+)?'", nil,
			Match{Task: "17", Scope: "r", Captured: true}},
		{"captured nothing", "task = \"t\"\nprompt = 'Round (?P<task>x)?'", nil,
			Match{Task: "t", Scope: "r"}},
		{"the caller's task", `task = "t"`, set("REPRISE_TASK=mine"), Match{Task: "mine"}},
		{"the caller's role", "task = \"t\"\nrole = \"r\"", set("REPRISE_ROLE=Mine"),
			Match{Task: "t", Role: "Mine", Scope: "r"}},
		{"strict", "task = \"t\"\nstrict = true", nil, Match{Task: "t", Strict: true, Scope: "r"}},
		{"strict, but the caller's task", "strict = true", set("REPRISE_TASK=mine"),
			Match{Task: "mine"}},
		{"fresh_when", `fresh_when = '(?m)^Round 3'`, nil, Match{Fresh: true, Scope: "r"}},
		{"fresh_when, not now", `fresh_when = ['Round 4', 'over']`, nil, Match{Scope: "r"}},
		{"fresh_when, at the end", `fresh_when = 'start over'`, func(s *Subject) {
			s.Prompt = strings.Repeat("x\n", window) + "start over"
		}, Match{Fresh: true, Scope: "r"}},
		{"fresh_when, another role too", "fresh_when = 'Round'\nreset_when.role = \"Coder\"", nil,
			Match{Fresh: true, Resets: []string{"Coder"}, Scope: "r"}},
		{"fresh_when, its own by name", "fresh_when = 'Round'\nreset_when.role = \"c\"",
			set("REPRISE_ROLE=C"), Match{Role: "C", Fresh: true, Scope: "r"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			config, err := Parse("c.toml", "presets_off = \"all\"\n[[rule]]\nname = \"r\"\n"+c.rule,
				"/h")
			if err != nil {
				t.Fatal(err)
			}
			got := config.Match(subject(c.change))
			if c.want.Attempt == 0 {
				c.want.Attempt = rewrite.NoAttempt
			}
			if c.want.Scope == "r" && got.Name != "r" {
				t.Fatal("the rule does not match")
			}
			got.Rule = nil
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestFirstRuleDecides(t *testing.T) {
	const file = `
ttl = "1h"
identical = "resume"

[[rule]]
name = "mine"
starts = "# TASK: "
task = "all of them"
ttl = "5m"

[[rule]]
name = "rest"
never = true
`
	config, err := Parse("c.toml", file, "/h")
	if err != nil {
		t.Fatal(err)
	}
	steroids := subject(func(s *Subject) {
		s.Prompt = "# TASK: 0badcafe - x\n\nYou are a CODER.\n"
	})
	for _, c := range []struct {
		name    string
		subject Subject
		rules   []Rule
		want    string
	}{
		{"before presets", steroids, config.Rules, "mine"},
		{"in order", subject(nil), config.Rules, "rest"},
		{"presets behind", steroids, config.Rules[:0], "steroids"},
		{"none", subject(nil), nil, ""},
	} {
		config.Rules = c.rules
		got := config.Match(c.subject)
		if got.Name != c.want {
			t.Errorf("%s: rule %q, want %q", c.name, got.Name, c.want)
		}
		if !got.ResumeSame || (got.Name == "mine") != (got.TTL.Minutes() == 5) {
			t.Errorf("%s: ttl %s, resumed if identical %v", c.name, got.TTL, got.ResumeSame)
		}
	}
}

func TestAnswersAndBlocks(t *testing.T) {
	config, err := Parse("c.toml", `
[[rule]]
name = "r"
role = "reviewer"
keep = ['^## Contract', 'always']
reset_when.answer = '(?m)^CONTEXT_RESET: true$'
reset_when.role = "coder"
`, "/h")
	if err != nil {
		t.Fatal(err)
	}
	m := config.Match(subject(func(s *Subject) {
		s.Prompt = "Print CONTEXT_RESET: true\nCONTEXT_RESET: true"
	}))
	if m.Fresh || m.Resets != nil {
		t.Errorf("its prompt resets %v (%v)", m.Resets, m.Fresh)
	}
	for answer, want := range map[string][]string{
		"": nil, "CONTEXT_RESET: false": nil, "I print CONTEXT_RESET: true": nil,
		"Well.\nCONTEXT_RESET: true\nBye.":                   {"coder"},
		strings.Repeat("x\n", 1<<20) + "CONTEXT_RESET: true": {"coder"},
	} {
		if got := m.ResetBy(answer); !slices.Equal(got, want) {
			t.Errorf("an answer of %d bytes resets %v, want %v", len(answer), got, want)
		}
	}
	keep := m.Keep()
	if !keep("## Contract") || !keep("Mind this always.") || keep("## Rules") {
		t.Error("the wrong blocks are kept")
	}
	if (Match{Rule: &Rule{}}).Keep() != nil {
		t.Error("a rule without keep keeps something")
	}
}

// Words that end a conversation hold for every call with a name.
func TestContextReset(t *testing.T) {
	words := map[string]bool{
		"CONTEXT_RESET: true": true, "Well.\n  context_reset:true \r\nBye.": true,
		"**CONTEXT_RESET:** true": true,
		"**Context_Reset: true**": true, "`CONTEXT_RESET: true`": true,
		`{"ok": false, "context_reset": true}`:               true,
		"{\n \"Context_Reset\" : true\n}":                    true,
		strings.Repeat("x\n", 1<<20) + "CONTEXT_RESET: true": true,
		"": false, "CONTEXT_RESET: false": false, "I print CONTEXT_RESET: true": false,
		"CONTEXT_RESET: true, if so": false,
		`"context_reset": trueish`:   false, "CONTEXT_RESET: true\nCONTEXT_RESET: false": true,
		"CONTEXT_RESET:\ntrue": false,
	}
	for text, want := range words {
		if got := asksForReset(text); got != want {
			t.Errorf("%.60q: %v, want %v", text, got, want)
		}
	}
	const line = "Say so.\nCONTEXT_RESET: true"
	for _, c := range []struct {
		name, rule string
		fresh      bool
		resets     []string // by an answer
	}{
		{"no name", "", false, nil},
		{"reviewer", "task = \"t\"\nrole = \"reviewer\"", true, []string{"reviewer", "coder"}},
		{"coder", "task = \"t\"\nrole = \"Coder\"", true, []string{"coder"}},
		{"no role", "task = \"t\"", true, []string{"", "coder"}},
		{"a rule's role", "task = \"t\"\nrole = \"critic\"\nreset_when.role = \"actor\"", true,
			[]string{"actor"}},
	} {
		config, err := Parse("c.toml", "presets_off = \"all\"\n[[rule]]\nname = \"r\"\n"+c.rule,
			"/h")
		if err != nil {
			t.Fatal(err)
		}
		m := config.Match(subject(func(s *Subject) { s.Prompt = line }))
		if got := m.ResetBy(line); m.Fresh != c.fresh || !slices.Equal(got, c.resets) {
			t.Errorf("%s: fresh %v, an answer resets %q; want %v, %q", c.name, m.Fresh, got,
				c.fresh, c.resets)
		}
		if m.ResetBy("done") != nil {
			t.Errorf("%s: any answer resets", c.name)
		}
	}
}

// The end of a directory's pattern, which is looked at first, never keeps a rule from matching.
func TestEndOfDirectory(t *testing.T) {
	for pattern, cwd := range map[string]string{
		"/w/a": "/w/a", "**/actor": "/w/actor", "/w/*": "/w/x", "/w/{task}": "/w/x",
		"/w/?b": "/w/ab", "/w/a{b": "/w/a{b", "/w/{task}/x*y": "/w/t/x1y", "/w}": "/w}",
	} {
		config, err := Parse("c.toml", fmt.Sprintf(
			"presets_off = \"all\"\n[[rule]]\nname = \"r\"\ncwd = %q", pattern), "/h")
		if err != nil {
			t.Fatal(err)
		}
		for dir, want := range map[string]string{cwd: "r", cwd + "/more": ""} {
			if got := config.Match(subject(func(s *Subject) { s.Cwd = dir })); got.Name != want {
				t.Errorf("%s: %s is taken by %q", pattern, dir, got.Name)
			}
		}
	}
}

func TestRuleMistakes(t *testing.T) {
	// a rule without mistake, of four lines
	const first = "[[rule]]\nname = \"a\"\nprompt = 'x'\n\n"
	cases := []struct{ name, text, want, hint string }{
		{"no name", first + "[[rule]]\ntool = \"vibe\"", `c.toml:5: rule: has no name`,
			`write name = "..." in it`},
		{"name", first + "[[rule]]\nname = 1", `c.toml:6: rule.name: must be text, not a number`,
			""},
		{"name of two lines", "[[rule]]\nname = \"a\\nb\"",
			`c.toml:2: rule.name: must be one line of text, not "a\nb"`, ""},
		{"unknown", first + "[[rule]]\nname = \"b\"\npromt = 'x'",
			`c.toml:7: rule.promt: unknown key`, `did you mean "prompt"`},
		{"in the first", "[[rule]]\nname = \"a\"\nprompt = '('\n" + first,
			`c.toml:3: rule.prompt: "(" is not a pattern: missing closing ): (`, patternHint},
		{"in the second", first + "[[rule]]\nname = \"b\"\nprompt = ['x', '(?<=y)']\n" + first,
			`c.toml:7: rule.prompt: "(?<=y)" is not a pattern: invalid named capture: (?<=y)`,
			patternHint},
		{"behind what looks like a rule", first +
			"[[rule]]\nkeep = '''\n[[rule]]\n'''\nname = \"b\"\nnever = 1\n\n" + first,
			`c.toml:10: rule.never: must be true or false, not a number`, ""},
		{"in a list that looks like a rule", first + "[[rule]]\nkeep = [\n[[]]]\nname = \"b\"",
			`c.toml:6: rule.keep: must be text or a list of texts, not a list`, ""},
		{"group", first + "[[rule]]\nname = \"b\"\nargv = '(?P<tsak>x)'",
			`c.toml:7: rule.argv: unknown group "tsak"`, "groups are named task, role or attempt"},
		{"group of a directory", "[[rule]]\nname = \"b\"\ncwd = \"/{tsak}\"",
			`c.toml:3: rule.cwd: unknown group "tsak"`, "groups are named task, role or attempt"},
		{"relative directory", "[[rule]]\nname = \"b\"\ncwd = \"work/*\"",
			`c.toml:3: rule.cwd: "work/*" is not an absolute path`, "start it with / or ~/"},
		{"variable", first + "[[rule]]\nname = \"b\"\n[rule.env]\nX = 'x'\nY = 1\n\n" + first,
			`c.toml:9: rule.env.Y: must be text or a list of texts, not a number`, ""},
		{"variable, dotted", first + "[[rule]]\nname = \"b\"\nenv.X = '('",
			`c.toml:7: rule.env.X: "(" is not a pattern: missing closing ): (`, patternHint},
		{"env is no table", "[[rule]]\nname = \"b\"\nenv = \"X\"",
			`c.toml:3: rule.env: must be a table, not text`,
			"write [rule.env] on a line of its own"},
		{"reset_when is no table", "[[rule]]\nname = \"b\"\nreset_when = 'x'",
			`c.toml:3: rule.reset_when: must be a table`,
			"write [rule.reset_when] on a line of its own"},
		{"reset_when", "[[rule]]\nname = \"b\"\nreset_when.roles = 'x'",
			`c.toml:3: rule.reset_when.roles: unknown key`, `did you mean "reset_when.role"`},
		{"tool", "[[rule]]\nname = \"b\"\ntool = \"cladue\"",
			`c.toml:3: rule.tool: "cladue" is not a tool`,
			"one of " + strings.Join(rewrite.Names, ", ")},
		{"nothing", "[[rule]]\nname = \"b\"\ntool = []", `c.toml:3: rule.tool: must not be empty`,
			"leave the key out"},
		{"empty text", "[[rule]]\nname = \"b\"\nstarts = \"\"",
			`c.toml:3: rule.starts: must not be ""`, "leave the key out"},
		{"ttl", first + "[[rule]]\nname = \"b\"\nttl = 30",
			`c.toml:7: rule.ttl: must be a duration in quotes, not a number`, unitHint},
		{"unset_env", "[tool.codex]\nunset_env = \"A B\"",
			`c.toml:2: tool.codex.unset_env: "A B" is not the name of a variable`, ""},
		{"unset_env, home", "[tool.codex]\nunset_env = [\"X\", \"CODEX_HOME\"]",
			`c.toml:2: tool.codex.unset_env: CODEX_HOME cannot be unset: it locates sessions`, ""},
		{"one table", "[rule]\nname = \"b\"", `c.toml:1: rule: must be a list of tables`,
			"write [[rule]] on a line of its own"},
		{"on one line", "\nrule = [{name = \"b\"}]", `c.toml:2: rule: must be a list of tables`,
			"write [[rule]] on a line of its own"},
		{"tables below", "[[rule]]\nname = \"b\"\n[[rule.env]]\nX = 'x'\n" + first,
			`c.toml:3: rule.env: must be a table, not a list`,
			"write [rule.env] on a line of its own"},
		{"mistake behind tables below", "[[rule]]\nname = \"b\"\n[[rule.x]]\nX = 'x'\n" + first,
			`c.toml:3: rule.x: unknown key`, "a rule can have " + strings.Join(ruleKeys(), ", ")},
		{"preset", "presets_off = [\"steroid\"]",
			`c.toml:1: presets_off: there is no preset "steroid"`, `did you mean "steroids"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse("c.toml", c.text, "/h")
			var all Mistakes
			if !errors.As(err, &all) {
				t.Fatalf("error is %v, want Mistakes", err)
			}
			e := all[0]
			if e.Error() != c.want || e.Hint != c.hint {
				t.Errorf("error is %q, hint %q; want %q, %q", e, e.Hint, c.want, c.hint)
			}
			if !reflect.DeepEqual(got, Config{}) {
				t.Error("a mistake left something")
			}
		})
	}
}

func TestPresetsOff(t *testing.T) {
	for text, want := range map[string]int{"": 18, `presets_off = "all"`: 0,
		`presets_off = "steroids"`: 16, `presets_off = ["steroids", "ralph"]`: 15} {
		config, err := Parse("c.toml", text, "/h")
		if err != nil {
			t.Fatal(err)
		}
		if rules := config.presets(); len(rules) != want {
			t.Errorf("%s: %d presets, want %d", text, len(rules), want)
		}
	}
}

// TestPresetsAreCheap: a preset looks at nothing dear before it knows that the call can be its
// caller's, and has sequences.
func TestPresetsAreCheap(t *testing.T) {
	for _, r := range builtIn(Policy{}) {
		if len(r.starts) == 0 && len(r.env) == 0 && r.cwdEnd == "" {
			t.Errorf("%s has neither starts, env nor the end of a directory", r.Name)
		}
		if _, err := os.Stat(filepath.Join("../testdata/prompts", r.Name+".json")); err != nil {
			t.Error(err)
		}
	}
}

func TestUnsetEnv(t *testing.T) {
	config, err := Parse("c.toml", "[tool.claude]\nunset_env = \"X\"\n[tool.vibe]\nunset_env = "+
		"[\"provider_keys\", \"HF_TOKEN\"]", "/h")
	if err != nil {
		t.Fatal(err)
	}
	if got := config.Tools["claude"].UnsetEnv; !slices.Equal(got, []string{"X"}) {
		t.Errorf("claude: %v", got)
	}
	if got := config.Tools["vibe"].UnsetEnv; len(got) != 7 ||
		!slices.Contains(got, "MISTRAL_API_KEY") || got[6] != "HF_TOKEN" {
		t.Errorf("vibe: %v", got)
	}
}

func ruleKeys() (keys []string) {
	for _, s := range ruleSettings(&Rule{}, "", nil) {
		keys = append(keys, s.key)
	}
	return keys
}

// Every key of a rule is documented.
func TestRulesPage(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range ruleSettings(&Rule{}, "", []string{"NAME"}) {
		if s.key != "env" && !strings.Contains(string(page), "\n| `"+s.key+"` |") {
			t.Errorf("%s is not in the table", s.key)
		}
	}
}

// Every example of a configuration in the docs is valid.
func TestExamplesOfThePages(t *testing.T) {
	pages, err := filepath.Glob("../docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	parsed := map[string]int{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, example := range strings.Split(string(text), "```toml\n")[1:] {
			example, _, _ = strings.Cut(example, "```")
			if _, err := Parse("example", example, "/h"); err != nil {
				t.Errorf("%s: %v in:\n%s", page, err, example)
			}
			parsed[filepath.Base(page)]++
		}
	}
	if parsed["rules.md"] == 0 || parsed["name-tasks.md"] == 0 {
		t.Errorf("pages lack their examples: %v", parsed)
	}
}

// A role's text is looked for in the whole prompt, and is a part of the role that no name can hold.
func TestRoleText(t *testing.T) {
	c, err := Parse("c.toml", `[[rule]]
name = "r"
prompt = '^(?P<role>\w+) (?P<task>t\d)'
role_text = ['(?s)\nRules:(.*)\nWork:', '\nTone: (\w+) (\w+)']
fresh_when = 'begin anew'
reset_when.role = "reviewer"
`, "/h")
	if err != nil {
		t.Fatal(err)
	}
	far := strings.Repeat("x ", window)
	for prompt, want := range map[string]string{
		"Reviewer t1\nWork: 1":                              "reviewer",
		"Reviewer t1\nRules:\na\n\nb\nWork: 1":              "reviewer #[\na\n\nb]",
		"Reviewer t1\nRules: a\nWork: 2\nTone: kind short":  "reviewer #[ a\x00kind\x00short]",
		"Reviewer t1\n" + far + "\nRules: c\nWork: 1" + far: "reviewer #[ c]",
		"Reviewer t1\nRules: a\nWork: 1\nRules: b\nWork: begin anew": "reviewer #[ a\nWork: " +
			"1\nRules: b]",
	} {
		m := c.Match(subject(func(s *Subject) {
			s.Prompt, s.Digest = prompt, func(text string) string { return "[" + text + "]" }
		}))
		if m.Role != want || m.Task != "t1" {
			t.Errorf("%.40q: role %q of task %q, want %q", prompt, m.Role, m.Task, want)
		}
		if anew := strings.Contains(prompt, "anew"); m.Fresh != anew || len(m.Resets) > 0 {
			t.Errorf("%.40q: fresh %v, resets %q", prompt, m.Fresh, m.Resets)
		}
	}
	m := c.Match(subject(func(s *Subject) {
		s.Prompt, s.Digest = "Reviewer t1\nRules: a\nWork: 1", func(string) string { return "d" }
		s.Env = lookup([]string{"REPRISE_ROLE=mine"})
	}))
	if m.Role != "mine" {
		t.Errorf("the caller's role became %q", m.Role)
	}
}

// BenchmarkPresets measures the presets' cost for a call that is none of theirs.
func BenchmarkPresets(b *testing.B) {
	config, s := Default(), subject(nil)
	for b.Loop() {
		config.Match(s)
	}
}

// BenchmarkPrompt matches a pattern that is hard on the engine against a prompt of 1 MB.
func BenchmarkPrompt(b *testing.B) {
	config, err := Parse("c.toml", "[[rule]]\nname = \"r\"\nprompt = '(?P<task>[a-z]+ "+
		"[a-z]+)#$'\nfresh_when = '[a-z]+ [a-z]+#$'", "/h")
	if err != nil {
		b.Fatal(err)
	}
	s := subject(func(s *Subject) { s.Prompt = strings.Repeat("some words ", 100_000) })
	for b.Loop() {
		config.Match(s)
	}
}

func TestLongest(t *testing.T) {
	c, err := Parse("c.toml", "ttl = \"1h\"\nmax_age = \"48h\"\n[[rule]]\nname = \"a\"\nttl = "+
		"\"100h\"\ntask = \"t\"", "/h")
	if err != nil {
		t.Fatal(err)
	}
	if ttl, maxAge := c.Longest(); ttl != 100*time.Hour || maxAge != 48*time.Hour {
		t.Errorf("%s, %s", ttl, maxAge)
	}
}

// FuzzRules: with any rules in the file, a call matches the same way each time, and the names are
// no longer than a name can be, and are the rule's own or words of the call.
func FuzzRules(f *testing.F) {
	for _, rule := range []string{"", "task = \"t\"", "prompt = ['(?m)^Task: (?P<task>.+)$']",
		"cwd = \"**/x\"\ntool = \"codex\"",
		"never = true", "argv = [\"--agent (?P<role>\\\\w+)\"]\nkeep = [\"STATUS\"]",
		"fresh_when = [\"again\"]\nreset_when = {answer = [\"x\"]}",
		"delta = \"off\"\nttl = \"1m\"", "env = {A = \"(?P<task>.*)\"}"} {
		f.Add("[[rule]]\nname = \"r\"\n"+rule, "Task: one  more\n\nSTATUS: again", "/home/u/x")
	}
	f.Fuzz(func(t *testing.T, text, prompt, cwd string) {
		c, err := Parse("f", text, "/h")
		if err != nil {
			if !reflect.DeepEqual(c, Config{}) {
				t.Fatalf("a mistake left %+v", c)
			}
			return
		}
		s := subject(func(s *Subject) { s.Prompt, s.Cwd = prompt, cwd })
		m, again := c.Match(s), c.Match(s)
		if m.Task != again.Task || m.Role != again.Role || m.Scope != again.Scope ||
			m.Attempt != again.Attempt ||
			m.Fresh != again.Fresh || !slices.Equal(m.Resets, again.Resets) {
			t.Fatalf("%+v, then %+v", m, again)
		}
		if !m.Never && (len(m.Task) > longestName || len(m.Role) > longestName) {
			t.Fatalf("task %q, role %q", m.Task, m.Role)
		}
		if strings.Contains(m.Task, "\n") || strings.Contains(m.Role, "\n") {
			t.Fatalf("task %q, role %q", m.Task, m.Role)
		}
		looked := strings.Join(append(slices.Clone(s.Args), prompt, cwd), "\n")
		for _, v := range m.env {
			looked += "\n" + s.Env(v.name)
		}
		for _, word := range strings.Fields(m.Task) {
			if m.Task != m.task && !strings.Contains(looked, word) {
				t.Fatalf("task %q of %q", m.Task, looked)
			}
		}
		for _, word := range strings.Fields(m.Role) {
			if m.Role != strings.ToLower(m.role) &&
				!strings.Contains(strings.ToLower(looked), word) {
				t.Fatalf("role %q of %q", m.Role, looked)
			}
		}
		if keep := m.Keep(); keep != nil {
			keep(prompt)
		}
	})
}

// Where a rule makes each run a job, a task that the prompt names proves nothing without the run.
func TestJobOfAnUnknownRun(t *testing.T) {
	c, err := Parse("rule", `[[rule]]
name = "loop"
prompt = "ticket (?P<task>T-\\d+)"
job = "run"
unrelated = "resume"
`, "/h")
	if err != nil {
		t.Fatal(err)
	}
	for run, want := range map[string]string{"": "", "7": "T-1 run of 7"} {
		m, ok := c.Rules[0].MatchSent(Subject{Prompt: "Mend ticket T-1.", Run: run,
			Env:    func(string) string { return "" },
			Digest: func(text string) string { return "of " + text }})
		if !ok || m.Task != want {
			t.Errorf("run %q: task %q, want %q", run, m.Task, want)
		}
	}
}
