package reason

import (
	"slices"
	"strings"
	"testing"
)

// Each code has one row, with a meaning and, if it is a reason, a class; each class has reasons. No
// advice names a task for all later calls of a shell, or has all callers share sessions. A mark
// that resumes the call gives none.
func TestTable(t *testing.T) {
	rows, classes := map[string]int{}, constants(t, "table.go", "Class")
	for i, list := range [][]Row{Table, Refusals, Failures, WholePrompts} {
		for _, row := range list {
			rows[string(row.Code)]++
			if row.Meaning == "" || (i < 2) != classes[string(row.Class)] ||
				row.Class == ClassContinues && row.Advice != "" {
				t.Errorf("%s: %+v", row.Code, row)
			}
			shares := row.Setting == `identical = "resume"` ||
				row.Setting == `unrelated = "resume"` || row.Setting == `unnamed = "extends"`
			if shares || strings.HasPrefix(row.Command, "export ") ||
				row.Class == ClassNothingBefore && row.Command != "" {
				t.Errorf("%s: %q, %q", row.Code, row.Setting, row.Command)
			}
			if (row.Command+row.Setting != "") && row.Advice == "" ||
				strings.HasPrefix(row.Advice, "Nothing ") {
				t.Errorf("%s: %q", row.Code, row.Advice)
			}
		}
	}
	codes := allReasons(t)
	for code := range codes {
		if rows[code] != 1 {
			t.Errorf("%s has %d rows", code, rows[code])
		}
	}
	if len(codes) != len(rows) || len(Table) > 75 {
		t.Errorf("%d codes, %d rows, %d reasons", len(codes), len(rows), len(Table))
	}
	for class := range classes {
		if !slices.ContainsFunc(Table, func(row Row) bool { return string(row.Class) == class }) {
			t.Errorf("no reason is of the class %s", class)
		}
	}
}
