package tested

import (
	"regexp"
	"testing"
)

// The list that is built in can be read. Each tool's versions differ, and its pin is the newest.
func TestOwn(t *testing.T) {
	if BuiltIn().Schema != "reprise.tested/1" || len(BuiltIn().Tools) == 0 {
		t.Errorf("%+v", BuiltIn())
	}
	number := regexp.MustCompile(`^\d+(\.\d+)+$`)
	for _, tool := range BuiltIn().Tools {
		rows := tool.Rows()
		for _, row := range rows {
			if !number.MatchString(row.Version) {
				t.Errorf("%s: version %q", tool.Name, row.Version)
			}
		}
		for i, row := range rows[1:] {
			if Compare(rows[i].Version, row.Version) >= 0 {
				t.Errorf("%s: %s stands twice", tool.Name, row.Version)
			}
		}
		if rows[len(rows)-1].Version != tool.Version() {
			t.Errorf("%s: its pin %s is not the newest", tool.Name, tool.Pin)
		}
		if tool.Package() == "" || tool.Version() == "" {
			t.Errorf("%s: pin %q", tool.Name, tool.Pin)
		}
	}
}

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"1.9.0", "1.10.0", -1}, {"2.0", "1.9.9", 1}, {"1.2", "1.2.1", -1}, {"1.2.3", "1.2.3", 0}} {
		if got := Compare(test.a, test.b); got != test.want {
			t.Errorf("%s and %s: %d", test.a, test.b, got)
		}
	}
}
