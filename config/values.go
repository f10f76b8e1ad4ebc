package config

import (
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// A Value is one key with its value in effect.
type Value struct {
	Key     string `json:"key" doc:"the key"`
	Value   string `json:"value" doc:"its value as TOML, empty if not set"`
	Default string `json:"default" doc:"its default as TOML"`
	About   string `json:"purpose" doc:"its purpose"`
}

// Values returns all keys allowed outside of rules. None of them is a secret.
func (c Config) Values() []Value {
	var list []Value
	standard := Default()
	defaults := settings(&standard, "")
	for n, s := range settings(&c, "") {
		list = append(list, Value{s.key, s.show(), defaults[n].show(), s.about})
	}
	return list
}

// Quoted returns a TOML string.
func Quoted[T ~string](text T) string { return inTOML(text) }

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
	return inTOML(names)
}

func inTOML(value any) string {
	line, _ := toml.Marshal(map[string]any{"key": value}) // it fails only for other types
	text := strings.TrimSpace(strings.TrimPrefix(string(line), "key = "))
	return strings.ToValidUTF8(text, "\ufffd")
}

// written formats a duration without zero minutes and seconds.
func written(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
