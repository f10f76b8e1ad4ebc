package tool

import (
	"os"
	"path/filepath"
	"testing"

	"reprise/rewrite"
)

// the returns the tool of that name.
func the(name string) rewrite.Tool {
	tool, ok := rewrite.Lookup(name)
	if !ok {
		panic("no tool " + name)
	}
	return tool
}

// all returns every tool.
func all() (tools []rewrite.Tool) {
	for _, name := range rewrite.Names {
		tools = append(tools, the(name))
	}
	return tools
}

// recorded reads the output of a tool's real run.
func recorded(t *testing.T, tool, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../testdata/recordings", tool, name, "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
