package config

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The schema accepts the files that Parse accepts, and finds the mistakes that an editor can show.
func TestSchema(t *testing.T) {
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("config.schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("config.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	valid := []string{
		"", "enabled = false", `ttl = "1w2d12h"`, `ttl = "1.5h"`, "context_limit = 1",
		"context_limit = 0.5",
		"tool = { vibe = { enabled = false, path = \"/v\" } }",
		"prune.auto = \"off\"", "prune.keep_within = \"3d\"", `tool.gemini.path = "~/bin/g"`,
		"[store]\nurl = \"s3://b/p\"\ntimeout = \"1m\"",
		"[[rule]]\nname = \"a\"\ntool = \"claude\"\nprompt = ['^a', '^b']\nttl = " +
			"\"1h\"\nreset_when.role = \"x\"\n[rule.env]\nX = '.'\nY = ['a', 'b']",
	}
	own := len(valid)
	for _, page := range []string{"configuration", "rules"} {
		md, err := os.ReadFile("../docs/reference/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(
			string(md), -1) {
			if _, err := Parse("c.toml", m[1], "/h"); err == nil { // the price list is another file
				valid = append(valid, m[1])
			}
		}
	}
	if len(valid) < own+2 {
		t.Error("the pages have no examples")
	}
	invalid := []string{
		"ttll = \"1h\"", "ttl = 30", `ttl = "a while"`, `busy = "sometimes"`, "context_limit = 1.5",
		"enabled = \"yes\"", "[prune]\nautos = true", "[tool.cursor]\nenabled = true",
		`tool.claude.path = "bin/c"`, "presets_off = []",
		"[[rule]]\ntool = \"claude\"", "[[rule]]\nname = \"a\"\nenabled = true",
		"[rule]\nname = \"a\"", "[[rule]]\nname = \"a\"\nenv = \"X\"",
		"[[rule]]\nname = \"a\"\n[rule.env]\nX = 1",
	}
	for i, text := range append(valid, invalid...) {
		wants := i < len(valid)
		if _, err := Parse("c.toml", text, "/h"); (err == nil) != wants {
			t.Errorf("%s\nParse: %v", text, err)
		}
		if err := schema.Validate(asJSON(t, text)); (err == nil) != wants {
			t.Errorf("%s\nthe schema: %v", text, err)
		}
	}
}

// asJSON returns the value that an editor compares with the schema.
func asJSON(t *testing.T, text string) any {
	var tree map[string]any
	if _, err := toml.Decode(text, &tree); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return value
}
