package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// linked returns go list's line for each package that is linked into the shim.
func linked(t *testing.T, format string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-f", format, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// Packages that only shimctl needs would make every call start more slowly.
func TestNothingHeavyIsLinked(t *testing.T) {
	packages := linked(t, "{{.ImportPath}}")
	for _, heavy := range []string{"net/http", "text/template", "html/template",
		"reprise/ledger/history"} {
		if slices.Contains(packages, heavy) {
			t.Errorf("the shim links %s", heavy)
		}
	}
	modules := []string{"github.com/BurntSushi/toml", "github.com/creack/pty",
		"github.com/mattn/go-colorable", "github.com/mattn/go-isatty",
		"github.com/mattn/go-sqlite3", "github.com/rs/zerolog", "golang.org/x/sys", "reprise"}
	for _, module := range linked(t, "{{with .Module}}{{.Path}}{{end}}") {
		if !slices.Contains(modules, module) {
			t.Errorf("the shim links %s", module)
			modules = append(modules, module) // once is enough
		}
	}
	for _, name := range packages {
		if strings.HasPrefix(name, "reprise/internal/") {
			t.Errorf("the shim links %s", name)
		}
		if strings.HasPrefix(name, "reprise/fleet/") && name != "reprise/fleet/wire" &&
			name != "reprise/fleet/store" {
			t.Errorf("the shim links %s, which is for the helper", name)
		}
	}
}
