package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"reprise/rewrite"
)

// Each reason has a sentence that says what it means.
func TestMeanings(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../rewrite/reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
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
		if reasonTexts[rewrite.Reason(word)].meaning == "" {
			t.Errorf("%s has no meaning", word)
		}
		return true
	})
	if found != len(reasonTexts) || found < 40 {
		t.Errorf("%d reasons, %d meanings", found, len(reasonTexts))
	}
}
