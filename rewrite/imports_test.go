package rewrite

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The packages of rewrite, the decision, the matching of rules and the choice of sessions to prune
// use no I/O and no clocks.
func TestPure(t *testing.T) {
	forbidden := []string{"os", "time", "net", "syscall", "io/ioutil", "os/exec", "math/rand",
		"math/rand/v2", "database/sql"}
	var files []string
	for _, pattern := range []string{"*.go", "jsonline/*.go", "models/*.go", "prompt/*.go",
		"reason/*.go", "tool/*.go", "tool/*/*.go", "../ledger/decide/*.go"} {
		matches, err := filepath.Glob(pattern)
		if err != nil || len(matches) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		files = append(files, matches...)
	}
	others := []string{"../config/rule.go", "../config/pattern.go", "../internal/prune/prune.go"}
	for _, name := range append(files, others...) {
		// these convert times, and read no clock
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "decide/millis.go") ||
			strings.HasSuffix(name, "base/timestamp.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range file.Imports {
			if path := strings.Trim(imported.Path.Value, `"`); slices.Contains(forbidden, path) {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
