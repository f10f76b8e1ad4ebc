package config

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
)

// Parse checks the text of a configuration file and applies it to the defaults. file only names it
// in errors, which are Mistakes. home replaces ~ and can be empty if it is not known.
func Parse(file, text, home string) (Config, error) {
	d, err := decode(file, text)
	if err != nil {
		return Config{}, err
	}
	c := Default()
	outside := slices.DeleteFunc(slices.Clone(d.keys), func(key toml.Key) bool {
		return key[0] == ruleKey
	})
	mistakes := applyAll(d, outside, settings(&c, home))
	if d.tree[ruleKey] != nil { // their policy holds where they say nothing else
		var inRules Mistakes
		c.Rules, inRules = d.rules(c.Policy, home)
		mistakes = append(mistakes, inRules...)
	}
	if len(mistakes) > 0 {
		slices.SortStableFunc(mistakes, func(a, b *Error) int {
			return cmp.Compare(a.Line, b.Line)
		})
		return Config{}, mistakes
	}
	return c, nil
}

// applyAll stores the values of keys. Keys below one with a mistake are part of that mistake.
func applyAll(d document, keys []toml.Key, known []setting) (mistakes Mistakes) {
	var wrong []string
	for _, key := range keys {
		name := key.String()
		if slices.ContainsFunc(wrong, func(above string) bool {
			return strings.HasPrefix(name, above+".")
		}) {
			continue
		}
		if e := apply(d, key, known); e != nil {
			mistakes, wrong = append(mistakes, e), append(wrong, name)
		}
	}
	return mistakes
}

func decode(file, text string) (document, error) {
	d := document{file: file, text: text, rule: -1}
	md, err := toml.Decode(text, &d.tree)
	d.keys, d.statements = md.Keys(), sync.OnceValue(d.split)
	var at toml.ParseError
	switch {
	case errors.As(err, &at):
		return d, Mistakes{{File: file, Line: at.Position.Line, Problem: at.Message,
			Hint: syntaxHint(text, at.Position.Line)}}
	case err != nil:
		return d, Mistakes{{File: file, Problem: err.Error()}}
	}
	return d, nil
}

// syntaxHint says how to write a line that cannot be read for lack of quotes.
func syntaxHint(text string, number int) string {
	lines := strings.Split(text, "\n")
	if number < 1 || number > len(lines) {
		return ""
	}
	line, _, _ := strings.Cut(lines[number-1], "#")
	if key, value, found := strings.Cut(line, "="); found &&
		!strings.ContainsAny(value, "\"'[]{}=") {
		mend := strings.TrimSpace(key) + " = " + Quoted(strings.TrimSpace(value))
		if _, err := toml.Decode(mend, &map[string]any{}); err == nil &&
			strings.TrimSpace(value) != "" {
			return "text needs quotes: " + mend
		}
	}
	return ""
}

// document is a decoded file, or a rule in it, with keys that have not been read yet.
type document struct {
	file, text string
	tree       map[string]any
	keys       []toml.Key // of the file, in order
	under      toml.Key   // the path of tree in the file
	rule       int        // the index of the rule, -1 for the file
	statements func() []statement
}

// A statement is a header, or a key with its value. It is on the lines from first to before end.
type statement struct {
	first, end int
	header     bool
	keys       []toml.Key // of a table in braces too
	rule       int        // the index of the rule that it is in or after, -1 for none
}

// byteOrderMark can begin a file.
const byteOrderMark = "\ufeff"

// split returns the statements of the text: the shortest pieces that can be decoded alone.
func (d document) split() (all []statement) {
	lines := strings.SplitAfter(d.text, "\n")
	var table toml.Key
	rule := -1
	for at, end := 0, 0; at < len(lines); at = end {
		end = at + 1
		piece, err := decode(d.file, lines[at])
		for err != nil && end < len(lines) {
			end++
			piece, err = decode(d.file, strings.Join(lines[at:end], ""))
		}
		if len(piece.keys) == 0 {
			continue // a comment
		}
		s := statement{first: at, end: end,
			header: strings.HasPrefix(strings.TrimLeft(lines[at], byteOrderMark+" \t"), "[")}
		if s.header {
			table, s.keys = piece.keys[0], piece.keys
			if table.String() == ruleKey {
				rule++
			}
		} else {
			for _, key := range piece.keys {
				s.keys = append(s.keys, slices.Concat(table, key))
			}
		}
		s.rule = rule
		all = append(all, s)
	}
	return all
}

func apply(d document, key toml.Key, known []setting) *Error {
	name := key.String()
	var keys []string
	for _, s := range known {
		if s.key == name {
			return d.place(key, s.set(d.value(key)))
		}
		keys = append(keys, s.key)
	}
	if !slices.ContainsFunc(keys, func(k string) bool { return strings.HasPrefix(k, name+".") }) {
		hint := outsideRules(name, keys)
		if len(d.under) > 0 {
			hint = nearest(name, keys, "a rule can have "+strings.Join(keys, ", "))
		}
		return d.place(key, &mistake{"unknown key", hint})
	}
	if _, ok := d.value(key).(map[string]any); !ok {
		return d.place(key, &mistake{"must be a table",
			"write [" + d.name(key) + "] on a line of its own"})
	}
	return nil // the keys are read on their own
}

// place adds to a mistake the place in the file.
func (d document) place(key toml.Key, err error) *Error {
	if err == nil {
		return nil
	}
	m := &mistake{problem: err.Error()}
	errors.As(err, &m)
	return &Error{File: d.file, Line: d.line(key), Key: d.name(key), Problem: m.problem,
		Hint: m.hint}
}

func (d document) name(key toml.Key) string { return slices.Concat(d.under, key).String() }

func (d document) value(key toml.Key) any {
	v := any(d.tree)
	for _, part := range key {
		table, _ := v.(map[string]any) // nil within an array of tables
		v = table[part]
	}
	return v
}

// line returns the line of key, or 0.
func (d document) line(key toml.Key) int {
	key = slices.Concat(d.under, key)
	for _, s := range d.statements() {
		if (d.rule < 0 || s.rule < 0 || s.rule == d.rule) &&
			slices.ContainsFunc(s.keys, func(k toml.Key) bool {
				return len(k) >= len(key) && slices.Equal(k[:len(key)], key)
			}) {
			return s.first + 1
		}
	}
	return 0
}
