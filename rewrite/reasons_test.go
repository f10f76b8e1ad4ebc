package rewrite

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// Each reason has one row, with a meaning and an advice; each class has reasons.
func TestReasonTexts(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[Reason]int{}
	for _, text := range ReasonTexts {
		rows[text.Reason]++
		if text.Meaning == "" || text.Advice == "" || text.Group == "" || !slices.Contains(Classes, text.Class) {
			t.Errorf("%s: %+v", text.Reason, text)
		}
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != "Reason" {
			return true
		}
		word, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		found++
		if rows[Reason(word)] != 1 {
			t.Errorf("%s has %d rows", word, rows[Reason(word)])
		}
		return true
	})
	if found != len(ReasonTexts) || found < 90 {
		t.Errorf("%d reasons, %d rows", found, len(ReasonTexts))
	}
	for _, class := range Classes {
		if len(class.Of()) == 0 {
			t.Errorf("no reason is of the class %s", class)
		}
	}
}
