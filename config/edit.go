package config

import (
	"errors"
	"maps"
	"reflect"
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
	wanted := d.values()
	set, _ := decode(file, key+" = "+value) // it can be decoded, as typed has seen
	maps.Copy(wanted, set.values())
	for _, edited := range d.edits(path, value) {
		if after, err := decode(file, edited); err == nil &&
			reflect.DeepEqual(after.values(), wanted) {
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
	first, end := d.statement(path)
	if first < 0 {
		return "", Mistakes{d.place(path, &mistake{
			"its place in the file cannot be changed by a program", "take it out yourself"})}
	}
	edited := strings.Join(slices.Delete(strings.SplitAfter(text, "\n"), first, end), "")
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
	if alone, wrong := decode(d.file, before+"= 0"); !found || wrong != nil ||
		alone.line(path) != at {
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
	if first, end := d.statement(path); first >= 0 {
		old := strings.Join(lines[first:end], "")
		left, _, _ := strings.Cut(old, "=")
		line := left + "= " + value + comment(old) + "\n"
		return []string{strings.Join(slices.Replace(lines, first, end, line), "")}
	}
	insert := func(at int, line string) {
		before, after := strings.Join(lines[:at], ""), strings.Join(lines[at:], "")
		// a text without a newline at the end stays one
		if before != "" && !strings.HasSuffix(before, "\n") {
			texts = append(texts, before+"\n"+line)
			return
		}
		texts = append(texts, before+line+"\n"+after)
	}
	headers := append(headerLines(lines), len(lines))
	table, name := toml.Key(path[:len(path)-1]), path[len(path)-1]
	if n := slices.Index(headers, d.line(table)-1); n >= 0 {
		insert(sectionEnd(lines, headers[n], headers[n+1]), name+" = "+value)
	}
	insert(sectionEnd(lines, 0, headers[0]), key+" = "+value)
	if len(table) > 0 {
		insert(len(lines), "\n["+table.String()+"]\n"+name+" = "+value)
	}
	return texts
}

// statement returns the lines of the text that give path the value, from first to before end; first
// is -1 if other keys have their values there too.
func (d document) statement(path []string) (first, end int) {
	lines := strings.SplitAfter(d.text, "\n")
	at := d.line(path)
	if at == 0 {
		return -1, -1
	}
	for end = at; end <= len(lines); end++ {
		fragment, err := decode("", strings.Join(lines[at-1:end], ""))
		if err != nil {
			continue
		}
		keys := fragment.md.Keys()
		last := keys[len(keys)-1]
		if others := slices.ContainsFunc(keys, func(k toml.Key) bool {
			return len(k) > len(last) || !slices.Equal(k, last[:len(k)])
		}); others ||
			len(last) > len(path) || !slices.Equal(last, path[len(path)-len(last):]) {
			break // a table in braces, or a header
		}
		return at - 1, end
	}
	return -1, -1
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

// headerLines returns the lines that look like headers of tables.
func headerLines(lines []string) (headers []int) {
	for n, line := range lines {
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), "[") {
			headers = append(headers, n)
		}
	}
	return headers
}

// sectionEnd returns the line after the last one of a section that is neither empty nor a comment:
// comments at the end belong to the next. If all are, it is the section's end, or the begin, but
// after the comments at the top that editors read.
func sectionEnd(lines []string, first, end int) int {
	for at := end; at > first; at-- {
		if line := strings.TrimSpace(lines[at-1]); line != "" && line[0] != '#' {
			return at
		}
	}
	if end == len(lines) {
		return end
	}
	for strings.HasPrefix(lines[first], "#:") {
		first++
	}
	return first
}

// values returns all values but tables, by their keys.
func (d document) values() map[string]any {
	values := map[string]any{}
	for _, key := range tableKeys(d.tree, nil) {
		if _, isTable := d.value(key).(map[string]any); !isTable {
			values[key.String()] = d.value(key)
		}
	}
	return values
}
