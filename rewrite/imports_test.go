package rewrite

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// TestPure keeps this package, and the ledger's decision, free of I/O and clocks.
func TestPure(t *testing.T) {
	forbidden := []string{"os", "time", "net", "syscall", "io/ioutil", "os/exec", "math/rand", "math/rand/v2", "database/sql"}
	fset := token.NewFileSet()
	packages, err := parser.ParseDir(fset, ".", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	files := packages["rewrite"].Files
	decide, err := parser.ParseFile(fset, "../ledger/decide.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	files["../ledger/decide.go"] = decide
	for name, file := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, imported := range file.Imports {
			if path := strings.Trim(imported.Path.Value, `"`); slices.Contains(forbidden, path) {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
