package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Set returns the text of a configuration file where a key outside of rules has a value, as it is
// typed: a word or TOML. Several words are a list. The rest of the text stays as it is. The result
// is checked as a whole: an error is Mistakes.
func Set(file, text, home, key string, words []string) (string, error) {
	value, err := typed(file, home, key, words)
	if err != nil {
		return "", err
	}
	path := strings.Split(key, ".")
	d, err := decode(file, text)
	if err != nil {
		return d.mended(path, " "+value+"\n", home, err)
	}
	for _, edited := range d.edits(path, value) {
		if _, err := decode(file, edited); err == nil {
			_, err := Parse(file, edited, home)
			return edited, err
		}
	}
	return "", Mistakes{d.place(path, &mistake{
		"its place in the file cannot be changed by a program", "write " + key + " = " + value +
			" there yourself"})}
}

// Unset returns the text without a key. A key that the text has can be unknown.
func Unset(file, text, home, key string) (string, error) {
	path := strings.Split(key, ".")
	d, err := decode(file, text)
	if err != nil {
		return d.mended(path, "", home, err)
	}
	if path[0] == ruleKey || d.value(path) == nil {
		return text, CheckKey(file, key)
	}
	s, alone := d.statement(path)
	if !alone {
		return "", Mistakes{d.place(path, &mistake{
			"its place in the file cannot be changed by a program", "take it out yourself"})}
	}
	edited := strings.Join(slices.Delete(strings.SplitAfter(text, "\n"), s.first, s.end), "")
	_, err = Parse(file, edited, home)
	return edited, err
}

// mended returns the text with a value, or nothing, in the line that cannot be read, if that is the
// line of path. Another line that cannot be read is left for its own mending.
func (d document) mended(path []string, value, home string, err error) (string, error) {
	var unread Mistakes
	lines := strings.SplitAfter(d.text, "\n")
	if !errors.As(err, &unread) || unread[0].Line < 1 || unread[0].Line > len(lines) {
		return "", err
	}
	at := unread[0].Line
	left, _, found := strings.Cut(lines[at-1], "=")
	before := strings.Join(lines[:at-1], "") + left
	readable, _ := decode(d.file, before+"= 0")
	if s, alone := readable.statement(path); !found || !alone || s.end != at {
		return "", err
	}
	after := strings.Join(lines[at:], "")
	edited := before + "=" + value + after
	if value == "" {
		edited = strings.Join(lines[:at-1], "") + after
	}
	if _, err := decode(d.file, edited); err != nil {
		return edited, nil
	}
	_, err = Parse(d.file, edited, home)
	return edited, err
}

// CheckKey returns the mistake if no key outside of rules has that name.
func CheckKey(file, key string) error {
	var keys []string
	for _, v := range Default().Values() {
		if v.Key == key {
			return nil
		}
		keys = append(keys, v.Key)
	}
	return Mistakes{{File: file, Key: key, Problem: "unknown key", Hint: outsideRules(key, keys)}}
}

// typed returns the TOML of a value that a person typed for a key: as TOML if the key takes it so,
// or else as text or a list.
func typed(file, home, key string, words []string) (string, error) {
	if err := CheckKey(file, key); err != nil {
		return "", err
	}
	forms := []string{listed(words)}
	if len(words) == 1 && !strings.ContainsAny(words[0], "\r\n") {
		forms = []string{words[0], Quoted(words[0]), listed(words)}
	}
	var first Mistakes
	for _, form := range forms {
		d, err := decode(file, key+" = "+form)
		if err != nil {
			continue // a word is no TOML
		}
		c := Default()
		wrong := apply(d, strings.Split(key, "."), settings(&c, home))
		if wrong == nil {
			return form, nil
		}
		if first == nil {
			wrong.Line = 0 // it is in no file
			first = Mistakes{wrong}
		}
	}
	return "", first
}

// edits returns the texts that can give path the value: in place of the old value; or in a new line
// of the table, before the first table, or in a new table.
func (d document) edits(path []string, value string) (texts []string) {
	lines, key := strings.SplitAfter(d.text, "\n"), strings.Join(path, ".")
	if s, alone := d.statement(path); alone {
		old := strings.Join(lines[s.first:s.end], "")
		left, _, _ := strings.Cut(old, "=")
		line := left + "= " + value + comment(old) + "\n"
		return []string{strings.Join(slices.Replace(lines, s.first, s.end, line), "")}
	}
	mark := ""
	if first, marked := strings.CutPrefix(lines[0], byteOrderMark); marked {
		mark, lines[0] = byteOrderMark, first
	}
	insert := func(at int, line string) {
		before, after := strings.Join(lines[:at], ""), strings.Join(lines[at:], "")
		// a text without a newline at the end stays one
		if before != "" && !strings.HasSuffix(before, "\n") {
			texts = append(texts, mark+before+"\n"+line)
			return
		}
		texts = append(texts, mark+before+line+"\n"+after)
	}
	table, name := toml.Key(path[:len(path)-1]).String(), path[len(path)-1]
	ends := d.ends()
	if end, ok := ends[table]; ok && table != "" {
		insert(end, name+" = "+value)
	}
	insert(ends[""], key+" = "+value)
	if table != "" {
		insert(len(lines), "\n["+table+"]\n"+name+" = "+value)
	}
	return texts
}

// ends returns the lines after the last statement of each table. Before the first table, if there
// is no statement, this is the begin, but after the comments at the top that editors read.
func (d document) ends() map[string]int {
	all, lines := d.statements(), strings.SplitAfter(d.text, "\n")
	ends, table := map[string]int{"": 0}, ""
	for len(all) > 0 && strings.HasPrefix(strings.TrimLeft(lines[ends[""]], byteOrderMark), "#:") {
		ends[""]++
	}
	if len(all) == 0 {
		ends[""] = len(lines) // comments alone
	}
	for _, s := range all {
		if s.header {
			table = s.keys[0].String()
		}
		ends[table] = s.end
	}
	return ends
}

// statement returns the statement that gives a value to path, and to no other key.
func (d document) statement(path []string) (s statement, alone bool) {
	for _, s := range d.statements() {
		if !s.header && len(s.keys) == 1 && slices.Equal(s.keys[0], path) {
			return s, true
		}
	}
	return s, false
}

// comment returns the comment at the end of a statement, with the space before it.
func comment(statement string) string {
	statement = strings.TrimRight(statement, "\r\n")
	for at, r := range statement {
		if r != '#' {
			continue
		}
		if _, err := decode("", statement[:at]); err == nil {
			return statement[len(strings.TrimRight(statement[:at], " \t")):]
		}
	}
	return ""
}
