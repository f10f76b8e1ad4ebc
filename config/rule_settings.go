package config

import (
	"fmt"
	"slices"
	"strings"

	"reprise/rewrite"

	"github.com/BurntSushi/toml"
)

// ruleSettings returns all keys of a rule. variables are the environment variables that it names.
func ruleSettings(home string, variables []string) []setting[Rule] {
	list := []setting[Rule]{
		{"name", text(func(r *Rule) *string { return &r.Name })},
		{"tool", texts(toolName, func(r *Rule) *[]string { return &r.tools })},
		{"cwd", value[Rule]{form{kind: "string"}, directory(home)}},
		{"argv", patterns(capturing, func(r *Rule) *[]*pattern { return &r.argv })},
		{"starts", texts(anyText, func(r *Rule) *[]string { return &r.starts })},
		{"prompt", patterns(capturing, func(r *Rule) *[]*pattern { return &r.prompt })},
		{"task", text(func(r *Rule) *string { return &r.task })},
		{"role", text(func(r *Rule) *string { return &r.role })},
		{"start_from", text(func(r *Rule) *string { return &r.StartFrom })},
		{"role_text", patterns(matching, func(r *Rule) *[]*pattern { return &r.roleText })},
		{"keep", patterns(matching, func(r *Rule) *[]*pattern { return &r.keep })},
		{"fresh_when", patterns(matching, func(r *Rule) *[]*pattern { return &r.freshWhen })},
		{"reset_when.answer", patterns(matching, func(r *Rule) *[]*pattern { return &r.reset.answer })},
		{"reset_when.prompt", patterns(matching, func(r *Rule) *[]*pattern { return &r.reset.prompt })},
		{"reset_when.role", text(func(r *Rule) *string { return &r.reset.role })},
		{"never", boolean(func(r *Rule) *bool { return &r.Never })},
		{"strict", boolean(func(r *Rule) *bool { return &r.Strict })},
		{"unset_env", unsetEnv(func(r *Rule) *[]string { return &r.UnsetEnv })},
	}
	list = append(list, setting[Rule]{"env", value[Rule]{form{kind: "object"}, environmentTable}})
	for _, name := range variables {
		list = append(list, setting[Rule]{toml.Key{"env", name}.String(), value[Rule]{listForm, environment(name)}})
	}
	return append(list, policySettings(func(r *Rule) *Policy { return &r.Policy })...)
}

// text returns the setter of a non-empty text.
func text[T any](field func(*T) *string) value[T] {
	return value[T]{form{kind: "string"}, func(t *T, value any) error {
		s, ok := value.(string)
		switch {
		case !ok:
			return &mistake{"must be text, not " + kind(value), ""}
		case !oneLine(s):
			return &mistake{fmt.Sprintf("must be one line of text, not %q", s), ""}
		}
		*field(t) = s
		return nil
	}}
}

// oneLine reports whether a text is one line that is not empty.
func oneLine(s string) bool { return strings.TrimSpace(s) != "" && !strings.ContainsAny(s, "\n\r\t") }

// texts returns the setter of one text or a list of them, each checked by check.
func texts[T any](check func(string) error, field func(*T) *[]string) value[T] {
	return value[T]{listForm, func(t *T, value any) error {
		return each(value, func(s string) error {
			*field(t) = append(*field(t), s)
			return check(s)
		})
	}}
}

// patterns returns the setter of one pattern or a list of them.
func patterns[T any](use patternUse, field func(*T) *[]*pattern) value[T] {
	return value[T]{listForm, func(t *T, value any) error {
		return each(value, func(s string) error {
			p, err := newPattern(s, use)
			*field(t) = append(*field(t), p)
			return err
		})
	}}
}

// each calls do for a text, or for each of a list of texts.
func each(value any, do func(string) error) error {
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

// environmentTable accepts any table: each variable in it is a key of its own.
func environmentTable(_ *Rule, value any) error {
	if _, ok := value.(map[string]any); !ok {
		return &mistake{"must be a table, not " + kind(value), "write [rule.env] on a line of its own"}
	}
	return nil
}

func environment(name string) func(*Rule, any) error {
	return func(r *Rule, value any) error {
		return each(value, func(s string) error {
			p, err := newPattern(s, capturing)
			r.env = append(r.env, variable{name, p})
			return err
		})
	}
}

// directory returns the setter of a path with wildcards.
func directory(home string) func(*Rule, any) error {
	return func(r *Rule, value any) error {
		path, ok := value.(string)
		if ok && strings.HasPrefix(path, "**") {
			path = "/" + path
		}
		if ok {
			value = path
		}
		path, err := absolute(value, home)
		if err != nil {
			return err
		}
		r.cwd, err = newPattern(glob(path), capturing)
		r.cwdEnd = path[strings.LastIndexAny(path, "*?}")+1:]
		return err
	}
}

func anyText(string) error { return nil }

func toolName(name string) error {
	if !slices.Contains(rewrite.Names, name) {
		return &mistake{fmt.Sprintf("%q is not a tool", name), "one of " + strings.Join(rewrite.Names, ", ")}
	}
	return nil
}

// providerKeys are the variables with which a tool uses another account before its own login. Their
// joint name is provider_keys.
var providerKeys = []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY",
	"GOOGLE_CLOUD_API_KEY", "MISTRAL_API_KEY"}

// fixedEnv are the variables that determine which tool runs and where its sessions and our files
// are. Without them the run would be a different one.
var fixedEnv = []string{"HOME", "PATH", "PWD", "TMPDIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "VIBE_HOME"}

// unsetEnv returns the setter of names of variables. provider_keys expands to providerKeys.
func unsetEnv[T any](field func(*T) *[]string) value[T] {
	return value[T]{listForm, func(t *T, value any) error {
		return each(value, func(name string) error {
			switch {
			case name == "provider_keys":
				*field(t) = append(*field(t), providerKeys...)
				return nil
			case !variableName(name):
				return &mistake{fmt.Sprintf("%q is not the name of a variable", name), ""}
			case slices.Contains(fixedEnv, name) || strings.HasPrefix(name, "REPRISE_"):
				return &mistake{name + " cannot be unset: it locates sessions", ""}
			}
			*field(t) = append(*field(t), name)
			return nil
		})
	}}
}

func variableName(name string) bool {
	return strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}
