package config

import (
	"fmt"
	"strings"
	"time"
)

// A Value is one key with its value in effect, as it would be written in the file.
type Value struct {
	Key   string
	Value string // TOML; "" if nothing is set
	About string // the purpose of the key, in few words
}

// Value returns the value of a key outside of rules. known is false if there is no such key.
func (c Config) Value(key string) (value string, known bool) {
	for _, v := range c.Values() {
		if v.Key == key {
			return v.Value, true
		}
	}
	return "", false
}

// Values returns all keys allowed outside of rules. None of them is a secret.
func (c Config) Values() []Value {
	var list []Value
	for _, s := range settings(&c, "") {
		list = append(list, Value{s.key, s.show(), s.about})
	}
	return list
}

// Quoted returns a TOML string.
func Quoted[T ~string](text T) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range string(text) {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// quotedIfSet is Quoted, but "" for an empty text.
func quotedIfSet(text string) string {
	if text == "" {
		return ""
	}
	return Quoted(text)
}

func listed(names []string) string {
	if len(names) == 0 {
		return ""
	}
	var all []string
	for _, name := range names {
		all = append(all, Quoted(name))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// written formats a duration without zero minutes and seconds, and 0 as "".
func written(d time.Duration) string {
	if d == 0 {
		return ""
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
