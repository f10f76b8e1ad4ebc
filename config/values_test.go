package config

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// The list has every key that can be set, as it would be read, and each is documented.
func TestValues(t *testing.T) {
	c, err := Parse("config.toml", `ttl = "90m"
max_age = "24h30m"
rollout = 0.25
presets_off = "ralph"
gate_timeout = "1500ms"
[tool.codex]
path = "/opt/a \"b\"/codex"
unset_env = ["A", "B"]
`, "")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := os.ReadFile("../docs/reference/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllSubmatch(docs, -1) {
		for _, key := range eachTool(string(m[1])) {
			documented[key] = true
		}
	}
	listed := map[string]bool{}
	var text strings.Builder
	for _, v := range c.Values() {
		listed[v.Key] = true
		if v.Value != "" {
			text.WriteString(v.Key + " = " + v.Value + "\n")
		}
		if !documented[v.Key] || v.About == "" {
			t.Errorf("%s is not documented", v.Key)
		}
	}
	for _, s := range settings(&Config{}, "") {
		if !listed[s.key] {
			t.Errorf("%s is not listed", s.key)
		}
	}
	again, err := Parse("config.toml", text.String(), "")
	if err != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("%v\n%s\n%+v\n%+v", err, text.String(), again, c)
	}
}
