package reason

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// docs/reference/reasons.md has a line for each reason, and no line for a reason that does not
// exist.
func TestEveryReasonIsExplained(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/reasons.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^- `([a-z_]+)`: ").FindAllSubmatch(text, -1) {
		rows[string(m[1])] = true
	}
	reasons := allReasons(t)
	for r := range reasons {
		if !rows[r] {
			t.Errorf("docs/reference/reasons.md has no line for %s", r)
		}
	}
	for r := range rows {
		if !reasons[r] {
			t.Errorf("docs/reference/reasons.md explains %s, which is no reason", r)
		}
	}
}

// allReasons reads the constants of reason.go.
func allReasons(t *testing.T) map[string]bool {
	reasons := constants(t, "reason.go", "Code")
	if len(reasons) < 60 {
		t.Fatalf("only %d reasons were found", len(reasons))
	}
	return reasons
}

// constants reads a file's constants of a type.
func constants(t *testing.T, name, typed string) map[string]bool {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == typed {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil || strings.TrimSpace(text) == "" {
				t.Fatalf("%s: %v", spec.Names[0], err)
			}
			values[text] = true
		}
		return true
	})
	return values
}
