package tested

import (
	"slices"
	"testing"
	"time"
)

// The list that is built in can be read. Each tool's versions are in order, and its pin is the newest.
func TestOwn(t *testing.T) {
	for _, tool := range Own().Tools {
		rows := tool.Rows()
		for i, row := range rows[1:] {
			if Compare(rows[i].Version, row.Version) >= 0 {
				t.Errorf("%s: %s stands before %s", tool.Name, rows[i].Version, row.Version)
			}
		}
		if tool.Package() == "" || tool.Version() == "" {
			t.Errorf("%s: pin %q", tool.Name, tool.Pin)
		}
	}
}

// What a release has is the same list with its time.
func TestStamped(t *testing.T) {
	at := time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)
	text, err := Stamped(at)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Parse(text)
	if err != nil || !l.Released.Equal(at) || len(l.Tools) != len(Own().Tools) {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "{}", `{"schema": "reprise.tested/2", "tools": [{"tool": "a", "pin": "a@1.0"}]}`,
		`{"schema": "reprise.tested/1"}`, `{"schema": "reprise.tested/1", "tools": [{"tool": "a", "pin": "a@1.0\u001b[2J"}]}`,
		`{"schema": "reprise.tested/1", "tools": [{"tool": "a", "pin": "a@1.0", "tried": [{"version": "1.0\n"}]}]}`} {
		if l, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s: read as %+v", text, l)
		}
	}
}

// Two lists have together what each has. A version that differs in one of them is not clean.
func TestMerged(t *testing.T) {
	one := List{Tools: []Tool{{Name: "a", Pin: "a@1.9.0", Tried: []Row{{Version: "1.2.0"}}}}}
	other := List{Tools: []Tool{{Name: "a", Pin: "a@1.10.0", Tried: []Row{{Version: "1.2.0", Resumes: "no"}, {Version: "1.9.0"}}}, {Name: "b", Pin: "b==2.0"}}}
	want := []Row{{Version: "1.2.0", Resumes: "no"}, {Version: "1.9.0"}, {Version: "1.10.0"}}
	for _, lists := range [][]List{{one, other}, {other, one}} {
		if got := Merged("a", lists...); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if got := Merged("c", one, other); len(got) > 0 {
		t.Errorf("a tool of no list: %v", got)
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
