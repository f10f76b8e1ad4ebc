package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// schemas are what --json prints.
var schemas = map[string]any{
	"shimctl.status/1":       statusReport{},
	"shimctl.chains/1":       chainsReport{},
	"shimctl.sessions/1":     sessionsReport{},
	"shimctl.show/1":         showReport{},
	"shimctl.log/1":          logReport{},
	"shimctl.tail/1":         tailReport{},
	"shimctl.explain/1":      explainReport{},
	"shimctl.setup/1":        setupReport{},
	"shimctl.doctor/1":       doctorReport{},
	"shimctl.config/1":       configReport{},
	"shimctl.why/1":          whyReport{},
	"shimctl.suggest/1":      suggestReport{},
	"shimctl.rule.try/1":     ruleTryReport{},
	"shimctl.rule.add/1":     ruleAddReport{},
	"shimctl.stats/1":        statsReport{},
	"shimctl.prune/1":        pruneReport{},
	"shimctl.version/1":      versionReport{},
	"shimctl.config.check/1": configCheckReport{},
	allSchema:                allSessionsReport{},
}

// shared are objects that stand in several schemas.
var shared = map[reflect.Type]string{
	reflect.TypeFor[chainReport]():      "chain",
	reflect.TypeFor[sessionReport]():    "session",
	reflect.TypeFor[invocationReport](): "call",
	reflect.TypeFor[groupReport]():      "group",
	reflect.TypeFor[meanReport]():       "mean",
	reflect.TypeFor[pricesReport]():     "prices",
	reflect.TypeFor[passedReport]():     "passed",
	reflect.TypeFor[adviceReport]():     "remedy",
}

// The references are made from the code; go test ./cmd/shimctl -update writes them anew.
func TestReferences(t *testing.T) {
	current(t, "../../docs/reference/commands.md", commandReference())
	current(t, "../../docs/reference/json.md", schemaReference(t))
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
		t.Errorf("%s is not current: go test ./cmd/shimctl -update", path)
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
	b.WriteString("# The commands of shimctl\n\nThis page is made from the code; `shimctl COMMAND --help` and the man pages say the same.\n\n" +
		"- **Exit status:** 0, also if there is nothing to show; 1 if something failed, the output could not be written or you said no;\n" +
		"  2 for a mistake in the command line; 3 if a check has findings.\n" +
		"- **Output:** a terminal gets aligned, coloured tables with relative times, in ASCII where the locale (LC_ALL, LC_CTYPE,\n" +
		"  LANG) is not UTF-8. A pipe or a file gets TSV with a header line, RFC 3339 times in UTC and nothing cut off. `--json` prints a [documented schema](json.md).\n" +
		"- **Flags of every command:** `--color WHEN`, `--no-pager` and `--help`, as shown for `shimctl` itself.\n")
	var filters string
	root := (&app{}).root()
	root.InitDefaultHelpCmd()
	for _, c := range everyCommand(root) {
		fmt.Fprintf(&b, "\n## %s\n\n", c.CommandPath())
		var help strings.Builder
		printHelp(&help, c)
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
	b.WriteString("\n## Filters\n\nThese select the calls that a view shows or counts; a chain or session is shown if one of its calls is selected. Each that is\n" +
		"given must match.\n\n")
	for _, line := range strings.Split(strings.TrimSuffix(filters, "\n"), "\n") {
		b.WriteString("    " + line + "\n")
	}
	return b.String()
}

// commonFields are fields that mean the same in several objects. The page describes each once.
var commonFields = []string{"tool", "forked", "input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens",
	"cost_nano_usd", "cost_at_most_nano_usd", "cost_source"}

// A schemaPage is the page on what --json prints, and what its common fields mean.
type schemaPage struct {
	strings.Builder
	common map[string]string
}

func schemaReference(t *testing.T) string {
	page := schemaPage{common: map[string]string{}}
	page.WriteString("# What --json prints\n\nThis page is generated from the code. Each answer is an object whose field `schema` holds the heading of its section\n" +
		"here. Within a schema no field is renamed or changes its meaning. New fields may be added: ignore unknown ones.\n\n" +
		"- Times are RFC 3339 in UTC, and IDs are whole. Amounts are whole numbers: tokens, bytes, milliseconds, billionths of a dollar.\n" +
		"- An unknown value is null, never 0.\n" +
		"- A field with a `?` is left out when it is empty. `[]` marks a list, and the fields of each of its elements.\n" +
		"- Types such as [`call`](#call) and fields without a description, such as `tool`, occur in several places. They are described [at the\n" +
		"  end](#common-fields).\n")
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		page.section(t, name, reflect.TypeOf(schemas[name]))
	}
	for _, kind := range slices.SortedFunc(maps.Keys(shared), func(a, b reflect.Type) int { return strings.Compare(shared[a], shared[b]) }) {
		page.section(t, shared[kind], kind)
	}
	page.WriteString("\n## Common fields\n\n")
	table := tabwriter.NewWriter(&page, 0, 0, 2, ' ', 0)
	for _, name := range commonFields {
		if page.common[name] == "" {
			t.Errorf("no object has the common field %s", name)
		}
		fmt.Fprintf(table, "    %s\t%s\n", name, page.common[name])
	}
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

func (p *schemaPage) section(t *testing.T, name string, kind reflect.Type) {
	fmt.Fprintf(p, "\n## %s\n\n", name)
	var rows strings.Builder
	table := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	p.describe(t, table, kind, "")
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(rows.String()) {
		p.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

// describe writes a line for each field of a struct, and of those in it.
func (p *schemaPage) describe(t *testing.T, table io.Writer, kind reflect.Type, prefix string) {
	for i := range kind.NumField() {
		f := kind.Field(i)
		if !f.IsExported() && !f.Anonymous {
			continue
		}
		if f.Anonymous && shared[f.Type] != "" {
			fmt.Fprintf(table, "    ...\t\tand all of a %s\n", shared[f.Type])
			continue
		}
		if f.Anonymous {
			p.describe(t, table, f.Type, prefix)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		about := f.Tag.Get("doc")
		if name == "" || about == "" {
			t.Errorf("%s.%s lacks a json or doc tag", kind, f.Name)
		}
		if name == "schema" {
			continue // every answer has it
		}
		if slices.Contains(commonFields, name) {
			if known := p.common[name]; known != "" && known != about {
				t.Errorf("%s.%s: %q, elsewhere %q", kind, f.Name, about, known)
			}
			p.common[name], about = about, ""
		}
		shown := prefix + name
		if strings.Contains(options, "omitempty") {
			shown += "?"
		}
		word, inner := typeWord(f.Type)
		if shared[inner] != "" {
			word, inner = strings.Replace(word, "object", shared[inner], 1), nil
		}
		fmt.Fprintf(table, "    %s\t%s\t%s\n", shown, word, about)
		if inner != nil {
			if strings.HasSuffix(word, "[]") {
				name += "[]"
			}
			p.describe(t, table, inner, prefix+name+".")
		}
	}
}

func typeWord(kind reflect.Type) (word string, inner reflect.Type) {
	if kind == reflect.TypeFor[time.Time]() {
		return "time", nil
	}
	switch kind.Kind() {
	case reflect.Pointer:
		word, inner = typeWord(kind.Elem())
		return word + "|null", inner
	case reflect.Slice:
		word, inner = typeWord(kind.Elem())
		return word + "[]", inner
	case reflect.Map:
		word, inner = typeWord(kind.Elem())
		return "object of " + word + "s", inner
	case reflect.Struct:
		return "object", kind
	case reflect.Bool:
		return "boolean", nil
	case reflect.String:
		return "string", nil
	}
	return "number", nil
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
	for _, c := range everyCommand((&app{}).root()) {
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
					t.Errorf("%s: --json: %q names no schema that is documented", c.CommandPath(), f.Usage)
				}
			}
			described := section
			if isFilter(f) {
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
			for _, part := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";|&()", r) }) {
				words := strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune(" '\"", r) })
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
