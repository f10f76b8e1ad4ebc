package config

import (
	"fmt"
	"slices"
	"strings"

	"reprise/rewrite"

	"github.com/BurntSushi/toml"
)

// ruleSettings returns all keys of a rule. variables are the environment variables that it names.
func ruleSettings(r *Rule, home string, variables []string) []setting {
	list := []setting{
		{"name", "", text(&r.Name)},
		{"tool", "", texts(&r.tools, toolName)},
		{"cwd", "", directory(r, home)},
		{"argv", "", patterns(&r.argv, capturing)},
		{"starts", "", texts(&r.starts, anyText)},
		{"prompt", "", patterns(&r.prompt, capturing)},
		{"task", "", text(&r.task)},
		{"role", "", text(&r.role)},
		{"job", "", oneOf(&r.job, JobRun)},
		{"start_from", "", text(&r.StartFrom)},
		{"role_text", "", patterns(&r.roleText, matching)},
		{"keep", "", patterns(&r.keep, matching)},
		{"fresh_when", "", patterns(&r.freshWhen, matching)},
		{"reset_when.answer", "", patterns(&r.reset.answer, matching)},
		{"reset_when.role", "", text(&r.reset.role)},
		{"never", "", boolean(&r.Never)},
		{"strict", "", boolean(&r.Strict)},
		{"copies", "", either(&r.NoCopies, "auto", "off")},
		{"env", "", value{schema: tableSchema, set: environmentTable}},
	}
	for _, name := range variables {
		list = append(list, setting{toml.Key{"env", name}.String(), "", environment(r, name)})
	}
	return append(list, slices.DeleteFunc(policySettings(&r.Policy), func(s setting) bool {
		return !IsRuled(s.key)
	})...)
}

// text takes a text of one line that is not empty.
func text(field *string) value {
	return value{textSchema, func(value any) error {
		s, err := as[string](value, "text", "")
		if err == nil && !oneLine(s) {
			err = &mistake{fmt.Sprintf("must be one line of text, not %q", s), ""}
		}
		*field = s
		return err
	}, func() string { return quotedIfSet(*field) }}
}

func oneLine(s string) bool {
	return strings.TrimSpace(s) != "" &&
		!strings.ContainsAny(s, "\n\r\t")
}

func texts(field *[]string, check func(string) error) value {
	return value{textsSchema, each(func(s string) error {
		*field = append(*field, s)
		return check(s)
	}), func() string { return listed(*field) }}
}

// patterns takes one pattern or a list of them.
func patterns(field *[]*pattern, use patternUse) value {
	return value{schema: textsSchema, set: each(func(s string) error {
		p, err := newPattern(s, use)
		*field = append(*field, p)
		return err
	})}
}

// each returns a setter that calls do for a text, or for each of a list of texts.
func each(do func(string) error) func(value any) error {
	return func(value any) error {
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		if len(list) == 0 {
			return &mistake{"must not be empty", "leave the key out"}
		}
		for _, v := range list {
			s, ok := v.(string)
			switch {
			case !ok:
				return &mistake{"must be text or a list of texts, not " + kind(v), ""}
			case s == "":
				return &mistake{`must not be ""`, "leave the key out"}
			}
			if err := do(s); err != nil {
				return err
			}
		}
		return nil
	}
}

// environmentTable accepts any table: each variable in it is a separate key.
func environmentTable(value any) error {
	_, err := as[map[string]any](value, "a table", "write [rule.env] on a line of its own")
	return err
}

func environment(r *Rule, name string) value {
	return value{schema: textsSchema, set: each(func(s string) error {
		p, err := newPattern(s, capturing)
		r.env = append(r.env, variable{name, p})
		return err
	})}
}

// directory takes a path with wildcards.
func directory(r *Rule, home string) value {
	return value{schema: textSchema, set: func(value any) error {
		if path, ok := value.(string); ok && strings.HasPrefix(path, "**") {
			value = "/" + path
		}
		path, err := absolute(value, home)
		if err != nil {
			return err
		}
		r.cwd, err = newPattern(glob(path), capturing)
		r.cwdEnd = path[strings.LastIndexAny(path, "*?}")+1:]
		return err
	}}
}

func anyText(string) error { return nil }

func toolName(name string) error {
	if !slices.Contains(rewrite.Names, name) {
		return &mistake{fmt.Sprintf("%q is not a tool", name),
			"one of " + strings.Join(rewrite.Names, ", ")}
	}
	return nil
}

// providerKeys are the variables that make a tool use another account before its own login. Their
// joint name is provider_keys.
var providerKeys = []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY",
	"GEMINI_API_KEY",
	"GOOGLE_CLOUD_API_KEY", "MISTRAL_API_KEY"}

// fixedEnv are the variables that determine which tool runs and where the sessions and our files
// are. Without them the run would be a different one.
var fixedEnv = []string{"HOME", "PATH", "PWD", "TMPDIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME",
	"GEMINI_CLI_HOME", "VIBE_HOME"}

// unsetEnv takes names of variables. provider_keys expands to providerKeys.
func unsetEnv(field *[]string) value {
	return value{textsSchema, each(func(name string) error {
		switch {
		case name == "provider_keys":
			*field = append(*field, providerKeys...)
			return nil
		case !variableName(name):
			return &mistake{fmt.Sprintf("%q is not the name of a variable", name), ""}
		case slices.Contains(fixedEnv, name) || strings.HasPrefix(name, "REPRISE_"):
			return &mistake{name + " cannot be unset: it locates sessions", ""}
		}
		*field = append(*field, name)
		return nil
	}), func() string { return listed(*field) }}
}

func variableName(name string) bool {
	return strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
		""
}
