package docs_test

import (
	"testing"

	"reprise/docs"
	"reprise/scripts/realcli"
)

// Where versions of a tool were tried, the one that the tests use is among them and the newest, and holds.
func TestConformanceHasThePins(t *testing.T) {
	last := map[string]docs.Tried{}
	for _, row := range docs.Conformance() {
		if _, ok := realcli.Pins[row.Tool]; !ok || row.Version == "" {
			t.Errorf("no tool of ours: %+v", row)
		}
		last[row.Tool] = row
	}
	if len(last) < 3 {
		t.Errorf("the table names %d tools", len(last))
	}
	for tool, row := range last {
		if want := realcli.Pins[tool].Version; row.Version != want || !row.Clean() {
			t.Errorf("%s: last row %+v, want %s and no difference", tool, row, want)
		}
	}
}
