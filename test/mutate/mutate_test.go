package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	judged = `package p

type Level int

func Judge(level, limit Level, known bool) (Level, bool) {
	if level > limit &&
		known {
		level = limit
	}
	return level - 1, known
}

func add(n *int32, by int32) int32 { *n += by; return *n }

func Down(n int32) int32 { return add(&n, -1) }

func query() string { return "UPDATE t SET a = ?, b = max(b, ?) WHERE id = ? AND c > 0" }
`
	strict = `package p

import "testing"

func TestDown(t *testing.T) {
	if Down(5) != 4 {
		t.Error("not by one")
	}
}

func TestJudge(t *testing.T) {
	for _, known := range []bool{false, true} {
		for level := range Level(4) {
			want := level - 1
			if known && level == 3 {
				want = 1
			}
			if got, ok := Judge(level, 2, known); got != want || ok != known {
				t.Error(got, ok)
			}
		}
	}
}
`
	blind = `package p

import "testing"

func TestJudge(t *testing.T) { Judge(3, 2, true) }

func TestThatFails(t *testing.T) { t.Fail() }
`
)

// A strict test kills all but one that is equivalent and those that nothing reaches; a blind one kills none.
func TestMutants(t *testing.T) {
	for tests, want := range map[string]int{strict: 6, blind: 18} {
		dir := t.TempDir()
		t.Chdir(dir)
		for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.26\n", "p/p.go": judged, "p/p_test.go": tests} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := runner{known: map[string]bool{"p/p.go\t> becomes >=: level > limit": true}}
		survivors, err := r.target(target{"p", []string{"p.go"}, []string{"./p"}})
		if err != nil || survivors != want {
			t.Errorf("%d survivors, %v, want %d", survivors, err, want)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "p/p.go")); err != nil || string(text) != judged {
			t.Errorf("the file was changed: %v", err)
		}
	}
}

func TestSQLMutants(t *testing.T) {
	var got []string
	for _, m := range sqlMutants("UPDATE t SET a = ?, b = max(b, ?) WHERE id = ? AND c > 0") {
		got = append(got, m.text)
		if strings.Count(m.text, "?") != 3 {
			t.Errorf("other arguments: %s", m.text)
		}
	}
	want := []string{
		"UPDATE t SET a = iif((?) IS NULL, a, a), b = max(b, ?) WHERE id = ? AND c > 0",
		"UPDATE t SET a = ?, b = iif((max(b, ?)) IS NULL, b, b) WHERE id = ? AND c > 0",
		"UPDATE t SET a = ?, b = max(b, ?) WHERE id = ? OR c > 0",
		"UPDATE t SET a = ?, b = max(b, ?) WHERE id <> ? AND c > 0",
		"UPDATE t SET a = ?, b = max(b, ?) WHERE id = ? AND c <= 0",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if sqlMutants("what a user reads") != nil {
		t.Error("plain text was changed")
	}
}

// Each file of the table exists: a renamed one would be tried no more.
func TestTargets(t *testing.T) {
	for _, target := range targets {
		for _, name := range target.files {
			if _, err := os.Stat(filepath.Join("../..", target.dir, name)); err != nil {
				t.Error(err)
			}
		}
	}
}
