package config

import (
	"cmp"
	"errors"
	"slices"
	"strings"

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
	outside := slices.DeleteFunc(slices.Clone(d.md.Keys()), func(key toml.Key) bool {
		return key[0] == ruleKey
	})
	mistakes := applyAll(d, outside, settings(&c, home))
	if d.value(toml.Key{ruleKey}) != nil { // their policy holds where they say nothing else
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
	d := document{file: file, text: text}
	md, err := toml.Decode(text, &d.root)
	if err == nil {
		err = md.PrimitiveDecode(d.root, &d.tree)
	}
	d.md = &md
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
	md         *toml.MetaData
	tree       any
	root       toml.Primitive // the tree, in the library's form of places in it
	under      toml.Key       // the path of root in the file
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
	v := d.tree
	for _, part := range key {
		table, _ := v.(map[string]any) // nil within an array of tables
		v = table[part]
	}
	return v
}

// find descends through the tables that lead to key.
func (d document) find(key toml.Key) (toml.Primitive, bool) {
	at := d.root
	for _, part := range key {
		var table map[string]toml.Primitive
		if err := d.md.PrimitiveDecode(at, &table); err != nil {
			return toml.Primitive{}, false // within an array of tables
		}
		inner, ok := table[part]
		if !ok {
			return toml.Primitive{}, false
		}
		at = inner
	}
	return at, true
}

// line returns the line of key, or 0. The library knows the place of every key but reports it only
// in the error for a value that cannot be decoded. So the value is decoded into a type that rejects
// it.
func (d document) line(key toml.Key) int {
	at, ok := d.find(key)
	if !ok {
		return 0
	}
	var refused toml.ParseError
	errors.As(d.md.PrimitiveDecode(at, &rejection{}), &refused)
	return refused.Position.Line
}

type rejection struct{}

func (*rejection) UnmarshalTOML(any) error { return errors.New("refused") }
