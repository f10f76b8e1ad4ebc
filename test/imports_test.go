package test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Imports are in one order: Go's own packages, ours, other people's, with an empty line between.
func TestImportsAreInOrder(t *testing.T) {
	rank := func(path string) int {
		first, _, _ := strings.Cut(path, "/")
		switch {
		case strings.HasPrefix(path, "reprise/"):
			return 1
		case strings.Contains(first, "."):
			return 2
		}
		return 0
	}
	err := filepath.WalkDir("..", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") {
			return err
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for i := 1; i < len(f.Imports); i++ {
			before, this := f.Imports[i-1], f.Imports[i]
			was, is := rank(unquoted(before.Path.Value)), rank(unquoted(this.Path.Value))
			apart := files.Position(this.Pos()).Line > files.Position(before.End()).Line+1
			if was > is || was < is && !apart {
				t.Errorf("%s: %s after %s", name, this.Path.Value, before.Path.Value)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func unquoted(path string) string {
	path, _ = strconv.Unquote(path) // the parser has read it
	return path
}
