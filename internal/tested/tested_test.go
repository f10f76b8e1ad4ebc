package tested

import (
	"testing"
)

// The list that is built in can be read. Each tool's versions differ, and its pin is the newest.
func TestOwn(t *testing.T) {
	for _, tool := range Own().Tools {
		rows := tool.Rows()
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

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "{}",
		`{"schema": "reprise.tested/2", "tools": [{"tool": "a", "pin": "a@1.0"}]}`,
		`{"schema": "reprise.tested/1"}`,
		`{"schema": "reprise.tested/1", "tools": [{"tool": "a", "pin": "a@1.0\u001b[2J"}]}`,
		`{"schema": "reprise.tested/1", "tools": [{"tool": "a", "pin": "a@1.0", "differed": [{"version": "1.0\n"}]}]}`,
		`{"schema": "reprise.tested/1", "tools": [{"tool": "a", "pin": "a@1.0", "tried": "0.9 1.x"}]}`} {
		if l, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s: read as %+v", text, l)
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
