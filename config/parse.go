package config

import (
	"errors"
	"strings"

	"github.com/BurntSushi/toml"
)

// Parse checks the text of a configuration file over the defaults. file stands only in errors; home is put
// for ~ and may be empty where it is not known.
func Parse(file, text, home string) (Config, error) {
	var root toml.Primitive
	md, err := toml.Decode(text, &root)
	if err != nil {
		return Config{}, syntaxError(file, err)
	}
	doc := document{file: file, md: &md, root: root}
	c, known := Default(), settings(home)
	for _, key := range md.Keys() {
		if err := doc.apply(&c, key, known); err != nil {
			return Config{}, err
		}
	}
	return c, nil
}

func syntaxError(file string, err error) error {
	var at toml.ParseError
	if !errors.As(err, &at) {
		return &Error{File: file, Problem: err.Error()}
	}
	return &Error{File: file, Line: at.Position.Line, Problem: at.Message}
}

// document is a decoded file whose keys have not been looked at yet.
type document struct {
	file string
	md   *toml.MetaData
	root toml.Primitive
}

// apply puts the value of one key into c.
func (d document) apply(c *Config, key toml.Key, known []setting) error {
	name := key.String()
	for _, s := range known {
		if s.key == name {
			return d.place(key, s.set(c, d.value(key)))
		}
	}
	if !isTable(name, known) {
		return d.place(key, &mistake{"unknown key", nearest(name, known)})
	}
	if _, ok := d.value(key).(map[string]any); !ok {
		return d.place(key, &mistake{"must be a table", "write [" + name + "] on a line of its own"})
	}
	return nil // its keys have their own turn
}

// isTable tells whether name is a table that known keys stand in.
func isTable(name string, known []setting) bool {
	for _, s := range known {
		if strings.HasPrefix(s.key, name+".") {
			return true
		}
	}
	return false
}

// place adds to a mistake where in the file it was made.
func (d document) place(key toml.Key, err error) error {
	var m *mistake
	if !errors.As(err, &m) {
		return err
	}
	return &Error{File: d.file, Line: d.line(key), Key: key.String(), Problem: m.problem, Hint: m.hint}
}

func (d document) value(key toml.Key) any {
	at, ok := d.find(key)
	if !ok {
		return nil
	}
	var v any
	if err := d.md.PrimitiveDecode(at, &v); err != nil {
		return nil // an `any` takes whatever the file holds
	}
	return v
}

// find goes down the tables that lead to key.
func (d document) find(key toml.Key) (toml.Primitive, bool) {
	at := d.root
	for _, part := range key {
		var table map[string]toml.Primitive
		if err := d.md.PrimitiveDecode(at, &table); err != nil {
			return toml.Primitive{}, false // within an array of tables
		}
		at = table[part]
	}
	return at, true
}

// line returns the line of key, or 0. The library knows the place of every key, but shows one only in the
// error for a value that would not be decoded; so the value is given to something that refuses it.
func (d document) line(key toml.Key) int {
	at, ok := d.find(key)
	if !ok {
		return 0
	}
	var refused toml.ParseError
	errors.As(d.md.PrimitiveDecode(at, &refusal{}), &refused)
	return refused.Position.Line
}

type refusal struct{}

func (*refusal) UnmarshalTOML(any) error { return errors.New("refused") }
