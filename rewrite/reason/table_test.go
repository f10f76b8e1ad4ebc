package reason

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Each reason has one row, with a meaning, and an advice unless it resumes the call; each class has reasons. No advice names a
// task for all later calls of a shell, or has all callers share sessions.
func TestTable(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[Code]int{}
	for _, row := range Table {
		rows[row.Code]++
		if row.Meaning == "" || (row.Advice == "") != (row.Class == ClassContinues) || row.Group == "" || !slices.Contains(Classes, row.Class) {
			t.Errorf("%s: %+v", row.Code, row)
		}
	}
	for _, row := range Table {
		shares := row.Setting == `identical = "resume"` || row.Setting == `unrelated = "resume"` || row.Setting == `unnamed = "extends"`
		if shares || strings.HasPrefix(row.Command, "export ") || row.Class == ClassNothingBefore && row.Command != "" {
			t.Errorf("%s: %q, %q", row.Code, row.Setting, row.Command)
		}
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != "Code" {
			return true
		}
		word, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		found++
		if rows[Code(word)] != 1 {
			t.Errorf("%s has %d rows", word, rows[Code(word)])
		}
		return true
	})
	if found != len(Table) || found < 90 {
		t.Errorf("%d reasons, %d rows", found, len(Table))
	}
	for _, class := range Classes {
		if len(class.Of()) == 0 {
			t.Errorf("no reason is of the class %s", class)
		}
	}
}
