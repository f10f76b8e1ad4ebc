package ctl

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/doctor"
	"reprise/internal/ctl/remove"
	"reprise/internal/ctl/rule"
	"reprise/internal/ctl/setup"
	"reprise/internal/ctl/view"
	"reprise/internal/ctl/why"
	"reprise/ledger"
	"reprise/rewrite/reason"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// schemas are the values that --json prints.
var schemas = map[string]any{
	"shimctl.status/1":   statusReport{},
	"shimctl.chains/1":   chainsReport{},
	"shimctl.show/1":     showReport{},
	"shimctl.log/1":      callLine{},
	"shimctl.plan/1":     why.PlanReport{},
	"shimctl.setup/1":    setup.Report{},
	"shimctl.doctor/1":   doctor.Report{},
	"shimctl.config/1":   configReport{},
	"shimctl.why/1":      why.Report{},
	"shimctl.rule.add/1": rule.AddReport{},
	"shimctl.stats/1":    statsReport{},
	"shimctl.prune/1":    remove.PruneReport{},
}

// shared are objects that stand in several schemas.
var shared = map[reflect.Type]string{
	reflect.TypeFor[view.ChainReport]():      "chain",
	reflect.TypeFor[view.SessionReport]():    "session",
	reflect.TypeFor[view.CallReport]():       "call",
	reflect.TypeFor[groupReport]():           "group",
	reflect.TypeFor[why.PassthroughReport](): "passthrough",
	reflect.TypeFor[view.AdviceReport]():     "advice",
}

// The references are made from the code; go test ./internal/ctl -update writes them anew.
func TestReferences(t *testing.T) {
	current(t, "../../docs/reference/commands.md", commandReference())
	current(t, "../../docs/reference/shimctl.schema.json", schemaReference(t))
	schema, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	current(t, "../../docs/reference/config.schema.json", string(schema))
	const page = "../../docs/reference/reasons.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	current(t, page, strings.TrimSpace(madeList.ReplaceAllStringFunc(string(text),
		func(list string) string {
			name := madeList.FindStringSubmatch(list)[1]
			return fmt.Sprintf("<!-- made from the code: %s -->\n\n%s", name, reasonList(name))
		}))+"\n")
}

// madeList matches a place for a list of reasons, with the list.
var madeList = regexp.MustCompile(`<!-- made from the code: (\w+) -->\n(?:\n(?:- .*|\*\*.*)|\n)*`)

// reasonList returns a list of reasons; the reasons of decisions stand below their classes.
func reasonList(name string) string {
	var b strings.Builder
	lists := map[string][]reason.Row{
		"reasons": reason.Table, "refusals": reason.Refusals, "failures": reason.Failures,
		"whole_prompts": reason.WholePrompts,
	}
	class := ""
	for _, row := range lists[name] {
		if name == "reasons" && string(row.Class) != class {
			class = string(row.Class)
			fmt.Fprintf(&b, "\n**`%s`**\n\n", class)
		}
		fmt.Fprintf(&b, "- `%s`: %s\n", row.Code, row.Meaning)
	}
	return strings.TrimPrefix(b.String(), "\n") + "\n"
}

func current(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not current: go test ./internal/ctl -update", path)
	}
}

// everyCommand returns all commands, each before its own.
func everyCommand(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			list = append(list, everyCommand(sub)...)
		}
	}
	return list
}

// commandReference returns the help of every command, without the flags that all of them have.
func commandReference() string {
	var b strings.Builder
	b.WriteString("# The commands of shimctl\n\n" +
		"Look up a command. This page is made from the code; `shimctl " +
		"COMMAND --help` says the same.\n\n" +
		"- **Exit status:** 0, also if there is nothing to show; 1 if something failed or you " +
		"said no; 2 for a mistake in the command line;\n" +
		"  3 if a check has findings.\n" +
		"- **Commands that write** show their changes and ask at a terminal. Elsewhere " +
		"they need `--yes`; `config set` does not.\n" +
		"- **Output:** a terminal gets aligned tables with relative times; `>` marks a line " +
		"that is cut at its width. A pipe or a file gets\n" +
		"  lists as TSV: a header line, RFC 3339 times in UTC and nothing cut off. `--json` prints " +
		"a [documented schema](json.md).\n" +
		"- **Every command** has `--help`.\n")
	var filters string
	root := newRoot(&app.App{})
	root.InitDefaultHelpCmd()
	for _, c := range everyCommand(root) {
		fmt.Fprintf(&b, "\n## %s\n\n", c.CommandPath())
		var help strings.Builder
		printHelp(view.Screen{Writer: &help}, c)
		own, _, _ := strings.Cut(help.String(), "\nflags of every command:\n")
		own, filtered, _ := strings.Cut(own, "\nfilters:\n")
		if filtered != "" {
			filters = filtered
			own += "\nfilters: see the end of this page\n"
		}
		for _, line := range strings.Split(strings.TrimSuffix(own, "\n"), "\n") {
			b.WriteString(strings.TrimRight("    "+line, " ") + "\n")
		}
	}
	b.WriteString("\n## Filters\n\nThese select the calls that a view shows or counts; a chain " +
		"or session is shown if one of its calls is selected. All given\n" +
		"filters must match.\n\n")
	for _, line := range strings.Split(strings.TrimSuffix(filters, "\n"), "\n") {
		b.WriteString("    " + line + "\n")
	}
	return b.String()
}

// commonFields are fields that mean the same in several objects.
var commonFields = []string{"tool", "forked", "input_tokens", "cache_read_tokens",
	"cache_write_tokens", "output_tokens",
	"cost_nano_usd", "cost_at_most_nano_usd", "cost_source"}

// A jsonSchema is a JSON Schema, 2020-12.
type jsonSchema = map[string]any

// A schemaWriter makes the schema of --json from the doc tags.
type schemaWriter struct {
	t      *testing.T
	common map[string]string // the meanings of the common fields
}

func schemaReference(t *testing.T) string {
	w := schemaWriter{t, map[string]string{}}
	defined, answers := jsonSchema{}, []jsonSchema{}
	for kind, name := range shared {
		defined[name] = w.object(kind)
	}
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		object := w.object(reflect.TypeOf(schemas[name]))
		object["properties"].(jsonSchema)["schema"] = jsonSchema{"const": name}
		defined[name] = object
		answers = append(answers, reference(name))
	}
	for _, name := range commonFields {
		if w.common[name] == "" {
			t.Errorf("no object has the common field %s", name)
		}
	}
	text, err := json.MarshalIndent(jsonSchema{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "What shimctl prints with --json",
		"oneOf":   answers, "$defs": defined,
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

func reference(name string) jsonSchema {
	return jsonSchema{"$ref": "#/$defs/" + strings.ReplaceAll(name, "/", "~1")}
}

// object returns the schema of a struct.
func (w schemaWriter) object(kind reflect.Type) jsonSchema {
	properties, required, all := jsonSchema{}, []string{}, []jsonSchema{}
	w.fields(kind, properties, &required, &all)
	object := jsonSchema{"type": "object", "properties": properties, "required": required}
	if len(all) > 0 {
		object["allOf"] = all
	}
	return object
}

// fields adds the fields of a struct.
func (w schemaWriter) fields(kind reflect.Type, properties jsonSchema, required *[]string,
	all *[]jsonSchema) {
	for i := range kind.NumField() {
		f := kind.Field(i)
		switch {
		case !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && shared[f.Type] != "":
			*all = append(*all, reference(shared[f.Type]))
			continue
		case f.Anonymous:
			w.fields(f.Type, properties, required, all)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		about := f.Tag.Get("doc")
		if name == "" || about == "" {
			w.t.Errorf("%s.%s lacks a json or doc tag", kind, f.Name)
		}
		if slices.Contains(commonFields, name) {
			if known := w.common[name]; known != "" && known != about {
				w.t.Errorf("%s.%s: %q, elsewhere %q", kind, f.Name, about, known)
			}
			w.common[name] = about
		}
		if !strings.Contains(options, "omitempty") {
			*required = append(*required, name)
		}
		value := w.value(f.Type)
		value["description"] = about
		properties[name] = value
	}
}

// value returns the schema of a field's value.
func (w schemaWriter) value(kind reflect.Type) jsonSchema {
	if kind == reflect.TypeFor[time.Time]() {
		return jsonSchema{"type": "string", "format": "date-time"}
	}
	if name := shared[kind]; name != "" {
		return reference(name)
	}
	if kind == reflect.TypeFor[view.Number]() {
		return jsonSchema{"type": []string{"number", "null"}}
	}
	if kind == reflect.TypeFor[ledger.Number]() {
		return jsonSchema{"type": []string{"integer", "null"}}
	}
	switch kind.Kind() {
	case reflect.Pointer:
		value := w.value(kind.Elem())
		if word, ok := value["type"].(string); ok {
			value["type"] = []string{word, "null"}
			return value
		}
		return jsonSchema{"anyOf": []jsonSchema{value, {"type": "null"}}}
	case reflect.Slice:
		return jsonSchema{"type": "array", "items": w.value(kind.Elem())}
	case reflect.Map:
		return jsonSchema{"type": "object", "additionalProperties": w.value(kind.Elem())}
	case reflect.Struct:
		return w.object(kind)
	case reflect.Bool:
		return jsonSchema{"type": "boolean"}
	case reflect.String:
		return jsonSchema{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return jsonSchema{"type": "number"}
	}
	return jsonSchema{"type": "integer"}
}

// Each --json names a schema that is documented; each command and flag stands in the
// reference and is used in a scenario.
func TestFlagsAreDocumentedAndTried(t *testing.T) {
	calls := scenarioCalls(t)
	reference, err := os.ReadFile("../../docs/reference/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	_, filters, _ := strings.Cut(string(reference), "\n## Filters\n")
	for _, c := range everyCommand(newRoot(&app.App{})) {
		if c.Long == "" || c.Short == "" {
			t.Errorf("%s says nothing about itself", c.CommandPath())
		}
		if !tried(calls, c, nil) {
			t.Errorf("no scenario calls %s", c.CommandPath())
		}
		_, section, ok := strings.Cut(string(reference), "\n## "+c.CommandPath()+"\n")
		if !ok {
			t.Errorf("%s is not in the reference", c.CommandPath())
		}
		section, _, _ = strings.Cut(section, "\n## ")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "json" {
				words := strings.Fields(f.Usage)
				if _, ok := schemas[strings.Trim(words[3], ",")]; !ok {
					t.Errorf("%s: --json: %q names no schema that is documented", c.CommandPath(),
						f.Usage)
				}
			}
			described := section
			if app.IsFilter(f) {
				described = filters
			}
			if !strings.Contains(described, " --"+f.Name+" ") {
				t.Errorf("%s --%s is not in the reference", c.CommandPath(), f.Name)
			}
			if !tried(calls, c, f) {
				t.Errorf("no scenario calls %s --%s", c.CommandPath(), f.Name)
			}
		})
	}
}

// scenarioCalls are the words of each call of shimctl that a scenario executes.
func scenarioCalls(t *testing.T) (calls [][]string) {
	files, err := filepath.Glob("../../testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(strings.TrimPrefix(line, "!"))
			if !strings.HasPrefix(line, "exec ") {
				continue
			}
			for _, part := range strings.FieldsFunc(line, func(r rune) bool {
				return strings.ContainsRune(";|&()", r)
			}) {
				words := strings.FieldsFunc(part, func(r rune) bool {
					return strings.ContainsRune(" '\"", r)
				})
				if at := slices.Index(words, "shimctl"); at >= 0 {
					calls = append(calls, words[at:])
				}
			}
		}
	}
	return calls
}

// tried reports whether the command is called, with the flag.
func tried(calls [][]string, c *cobra.Command, f *pflag.Flag) bool {
	path := strings.Fields(c.CommandPath())
	return slices.ContainsFunc(calls, func(words []string) bool {
		if len(words) < len(path) || !slices.Equal(words[:len(path)], path) {
			return false
		}
		return f == nil || slices.ContainsFunc(words[len(path):], func(word string) bool {
			name, _, _ := strings.Cut(word, "=")
			return name == "--"+f.Name || f.Shorthand != "" && name == "-"+f.Shorthand
		})
	})
}

var update = flag.Bool("update", false, "rewrite the generated references")
