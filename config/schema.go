package config

import (
	"encoding/json"
	"maps"
	"strings"
)

// object is a JSON Schema, or a part of it.
type object = map[string]any

// The schemas of kinds of values, made once: each call reads the configuration.
var (
	booleanSchema = object{"type": "boolean"}
	shareSchema   = object{"type": "number", "minimum": 0, "maximum": 1}
	tableSchema   = object{"type": "object"}
	textSchema    = object{"type": "string"}
	textsSchema   = object{"anyOf": []object{textSchema,
		{"type": "array", "items": textSchema, "minItems": 1}}}
	pathSchema     = object{"type": "string", "pattern": "^(/|~/)"}
	durationSchema = object{"type": "string", // the durations that ParseDuration reads, and more
		"pattern": `^\+?(\d*\.?\d+\.?(ns|us|µs|μs|ms|s|m|h|d|w))+$`}
)

// Schema returns a JSON Schema of the configuration file, for editors. Parse is stricter.
func Schema() ([]byte, error) {
	c, root, rule := Default(), table(), table()
	for _, s := range settings(&c, "") {
		s.schema = maps.Clone(s.schema)
		s.schema["description"] = s.about
		if value := s.show(); value != "" {
			s.schema["default"] = json.RawMessage(value)
		}
		put(root, s)
	}
	for _, s := range ruleSettings(&Rule{}, "", nil) {
		s.schema = maps.Clone(s.schema)
		put(rule, s)
	}
	rule["required"] = []string{"name"}
	rule["properties"].(object)["env"].(object)["additionalProperties"] = textsSchema
	root["properties"].(object)[ruleKey] = object{"type": "array", "items": rule,
		"description": "which calls belong to one job"}
	root["$schema"] = "http://json-schema.org/draft-07/schema#" // the newest that taplo knows
	root["title"] = "reprise's configuration"
	text, err := json.MarshalIndent(root, "", "  ")
	return append(text, '\n'), err
}

func table() object {
	return object{"type": "object", "properties": object{}, "additionalProperties": false}
}

// put adds a key to the schema of a table, with the tables in it that lead to the key.
func put(root object, s setting) {
	path := strings.Split(s.key, ".")
	properties := root["properties"].(object)
	for _, name := range path[:len(path)-1] {
		if properties[name] == nil {
			properties[name] = table()
		}
		properties = properties[name].(object)["properties"].(object)
	}
	properties[path[len(path)-1]] = s.schema
}
