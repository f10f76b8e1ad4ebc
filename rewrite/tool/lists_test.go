package tool_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reprise/rewrite"
)

var update = flag.Bool("update", false,
	"write tool.go, tools_table.h and the list of shims in install.sh, anew")

// The lists of tools are those of the directories here, and of their descriptors.
func TestListsOfTools(t *testing.T) {
	if want := imports(t); *update && want != string(read(t, "tool.go")) {
		// This program has the tools of the old imports.
		if err := os.WriteFile("tool.go", []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("go", "test", "-run", "^TestListsOfTools$", ".",
			"-update").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	tools := make([]*rewrite.Descriptor, len(rewrite.Names))
	for i, name := range rewrite.Names {
		tool, _ := rewrite.Lookup(name)
		tools[i] = tool.Descriptor()
	}
	const install = "../../install.sh"
	before, rest, ok := strings.Cut(string(read(t, install)), "\nshims='")
	_, after, closed := strings.Cut(rest, "'\n")
	if !ok || !closed {
		t.Fatal("install.sh has no list of shims")
	}
	for path, want := range map[string]string{
		"../../shim/front/tools_table.h": toolsTable(tools),
		"tool.go":                        imports(t),
		install: before + "\nshims='" + strings.Join(rewrite.Names, " ") +
			"'\n" + after,
	} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if string(read(t, path)) != want {
			t.Errorf("%s is not current: go test ./rewrite/tool -run TestListsOfTools -update",
				path)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// imports returns tool.go: an import of each package that registers a tool.
func imports(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, file := range files {
		if strings.Contains(string(read(t, file)), "rewrite.Register(") {
			dirs = append(dirs, "\t_ \"reprise/rewrite/tool/"+filepath.Dir(file)+"\"\n")
		}
	}
	return `// Code generated from the directories here by go test ./rewrite/tool -run TestListsOfTools -update. DO NOT EDIT.

// Package tool registers all tools: an import of it is enough for rewrite.Names and rewrite.Lookup to know them.
//
// A package below is one tool: command line, output, refusals and session files. It never starts a process, reads the
// environment or knows another tool. Invariant: an unknown line is passed through as it came, and a call that it does
// not wholly understand is not managed.
package tool

import (
` + strings.Join(dirs, "") + ")\n"
}

// toolsTable returns the table of exec.c.
func toolsTable(tools []*rewrite.Descriptor) string {
	var b strings.Builder
	b.WriteString("// Code generated from the descriptors in rewrite/tool by go test " +
		"./rewrite/tool -update. DO NOT EDIT.\n\n" +
		"static const struct tool tools[] = {\n")
	for _, d := range tools {
		managed := d.Managed
		if len(managed) > 0 { // otherwise the server's name is one first word of many
			managed = slices.Concat(managed, d.Servers)
		}
		b.WriteString("\t{\n")
		fmt.Fprintf(&b, "\t\t.name = %s,\n", strconv.Quote(d.Name))
		for _, list := range []struct {
			field string
			words []string
		}{
			{"managed", managed}, {"commands", d.Subcommands}, {"alone", d.Alone},
			{"nested", append([]string{rewrite.NestedEnv}, d.Nested...)},
		} {
			if len(list.words) == 0 {
				continue
			}
			fmt.Fprintf(&b, "\t\t.%s = (const char *const[]){", list.field)
			for _, word := range list.words {
				b.WriteString(strconv.Quote(word) + ", ")
			}
			b.WriteString("NULL},\n")
		}
		b.WriteString("\t},\n")
	}
	return b.String() + "};\n"
}
