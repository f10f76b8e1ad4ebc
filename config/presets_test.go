package config

import (
	"flag"
	"fmt"
	"go/format"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write builtin.go anew")

// builtin.go has in Go the presets that presets.toml has for people: reading that would cost
// every call more than all else that it takes to find its rule.
func TestBuiltIn(t *testing.T) {
	text, err := os.ReadFile("presets.toml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := decode("presets.toml", string(text))
	if err != nil {
		t.Fatal(err)
	}
	policy := Policy{TTL: time.Hour, Rollout: 1}
	rules, mistakes := d.rules(policy, "")
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	var source strings.Builder
	source.WriteString("// Code generated from presets.toml by go test ./config -update. DO NOT " +
		"EDIT.\n\npackage config\n\n" +
		"// builtIn returns the presets under a policy.\nfunc builtIn(policy Policy) []Rule {\n" +
		"\tunrelated := policy\n\tunrelated.Unrelated = true\n\treturn []Rule{\n")
	unrelated := policy
	unrelated.Unrelated = true
	for _, r := range rules {
		switch r.Policy {
		case policy:
			source.WriteString("{Policy: policy,")
		case unrelated:
			source.WriteString("{Policy: unrelated,")
		default:
			t.Fatalf("%s has a policy of its own: teach this test to write it", r.Name)
		}
		fields(&source, reflect.ValueOf(r))
		source.WriteString("},\n")
	}
	source.WriteString("}\n}\n")
	want, err := format.Source([]byte(source.String()))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("builtin.go", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile("builtin.go"); err != nil || string(got) != string(want) {
		t.Errorf("builtin.go is not current: go test ./config -update (%v)", err)
	}
	if got := builtIn(policy); !reflect.DeepEqual(got, rules) {
		t.Errorf("built in are %+v,\nwant %+v", got, rules)
	}
}

// fields writes the set fields of a struct, as they stand in a literal.
func fields(out *strings.Builder, v reflect.Value) {
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; name != "Policy" && !v.Field(i).IsZero() {
			fmt.Fprintf(out, "%s: ", name)
			literal(out, v.Field(i))
			out.WriteString(",")
		}
	}
}

func literal(out *strings.Builder, v reflect.Value) {
	name := strings.ReplaceAll(v.Type().String(), "config.", "")
	switch v.Kind() {
	case reflect.String:
		fmt.Fprintf(out, "%q", v.String())
	case reflect.Bool:
		fmt.Fprint(out, v.Bool())
	case reflect.Slice:
		out.WriteString(name + "{")
		for i := range v.Len() {
			literal(out, v.Index(i))
			out.WriteString(",")
		}
		out.WriteString("}")
	case reflect.Pointer:
		out.WriteString("&")
		literal(out, v.Elem())
	case reflect.Struct:
		out.WriteString(name + "{")
		fields(out, v)
		out.WriteString("}")
	default:
		panic("a preset with a " + name)
	}
}
