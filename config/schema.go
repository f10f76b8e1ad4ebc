package config

import (
	"encoding/json"
	"slices"
	"strings"
)

// A form is the shape of a value. Zero fields say nothing.
type form struct {
	kind    string  // as JSON Schema names it
	many    bool    // a list of such values as well
	allowed any     // a list of all values
	most    float64 // of a number; the least is 0
	pattern string
}

var listForm = form{kind: "string", many: true}

// durationPattern matches the durations that ParseDuration reads, and more.
const durationPattern = `^\+?(\d*\.?\d+\.?(ns|us|µs|μs|ms|s|m|h|d|w))+$`

type object = map[string]any

func (f form) schema() object {
	one := object{"type": f.kind}
	if f.allowed != nil {
		one["enum"] = f.allowed
	}
	if f.most > 0 {
		one["minimum"], one["maximum"] = 0, f.most
	}
	if f.pattern != "" {
		one["pattern"] = f.pattern
	}
	if !f.many {
		return one
	}
	return object{"anyOf": []object{one, {"type": "array", "items": one, "minItems": 1}}}
}

// Schema returns a JSON Schema of the configuration file, for editors. Parse is stricter.
func Schema() ([]byte, error) {
	root := schemaOf(settings(&Config{}, ""))
	for _, v := range Default().Values() {
		at := root
		for _, name := range strings.Split(v.Key, ".") {
			at = at["properties"].(object)[name].(object)
		}
		at["description"] = v.About
		if v.Value != "" {
			at["default"] = json.RawMessage(v.Value)
		}
	}
	rule := schemaOf(ruleSettings(&Rule{}, "", nil))
	rule["required"] = []string{"name"}
	rule["properties"].(object)["env"].(object)["additionalProperties"] = listForm.schema()
	root["properties"].(object)[ruleKey] = object{"type": "array", "items": rule,
		"description": "which calls belong to one job"}
	root["$schema"] = "http://json-schema.org/draft-07/schema#" // the newest that taplo knows
	root["title"] = "reprise's configuration"
	text, err := json.MarshalIndent(root, "", "  ")
	return append(text, '\n'), err
}

func schemaOf(list []setting) object {
	root := table()
	for _, s := range list {
		put(root, s.key, s.form.schema())
	}
	return root
}

func table() object {
	return object{"type": "object", "properties": object{}, "additionalProperties": false}
}

// put adds the schema of a key to the table's schema, which it makes if need be.
func put(root object, key string, schema object) {
	path := strings.Split(key, ".")
	for _, name := range slices.Backward(path[1:]) {
		inner := table()
		inner["properties"].(object)[name] = schema
		schema = inner
	}
	merge(root["properties"].(object), path[0], schema)
}

// merge adds a schema, or the properties if there is one of that name.
func merge(properties object, name string, schema object) {
	known, ok := properties[name].(object)
	if !ok {
		properties[name] = schema
		return
	}
	inner, _ := schema["properties"].(object)
	for key, value := range inner {
		merge(known["properties"].(object), key, value.(object))
	}
}
