package watch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/rewrite"
)

// exactCases are changes of an exact file, own.jsonl. The same text must be found whether
// the files are looked at meanwhile or not.
var exactCases = []struct {
	name string
	act  func(t *testing.T, dir string, step func(want string))
	want []string
	gone func(dir string) string // the directory that is not there yet, nil for none
}{
	{"the file appears later", func(t *testing.T, dir string, step func(string)) {
		put(t, dir+"/own.jsonl", "1\n")
		step("own.jsonl: 1\n")
		grow(t, dir+"/own.jsonl", "2\n3")
		step("own.jsonl: 2\n")
	}, []string{"own.jsonl: 1\n", "own.jsonl: 2\n", "own.jsonl: 3"}, nil},
	{"the directory appears later", func(t *testing.T, dir string, step func(string)) {
		put(t, dir+"/own.jsonl", "1\n")
		step("own.jsonl: 1\n")
		grow(t, dir+"/own.jsonl", "2\n")
		step("own.jsonl: 2\n")
	}, []string{"own.jsonl: 1\n", "own.jsonl: 2\n"}, filepath.Dir},
	{"the directory appears empty", func(t *testing.T, dir string, step func(string)) {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * pause)
		put(t, dir+"/own.jsonl", "1\n")
		step("own.jsonl: 1\n")
	}, []string{"own.jsonl: 1\n"}, filepath.Clean},
	{"other files", func(t *testing.T, dir string, step func(string)) {
		put(t, dir+"/other.jsonl", "no\n")
		put(t, dir+"/own.jsonl.tmp", "no\n")
		put(t, dir+"/sub/own.jsonl", "no\n")
		put(t, dir+"/own/own.jsonl", "no\n")
		put(t, dir+"/own.jsonl", "1\n")
		step("own.jsonl: 1\n")
		grow(t, dir+"/sub/own.jsonl", "no\n")
	}, []string{"own.jsonl: 1\n"}, nil},
	{"a directory of that name", func(t *testing.T, dir string, step func(string)) {
		put(t, dir+"/own.jsonl/own.jsonl", "no\n")
	}, nil, nil},
	{"a link of that name", func(t *testing.T, dir string, step func(string)) {
		put(t, dir+"/target", "no\n")
		if err := os.Symlink(dir+"/target", dir+"/own.jsonl"); err != nil {
			t.Fatal(err)
		}
	}, nil, nil},
	{"the longest line", func(t *testing.T, dir string, step func(string)) {
		put(t, dir+"/own.jsonl", strings.Repeat("x", rewrite.LongestLine-1)+"\n"+strings.Repeat("y",
			rewrite.LongestLine)+"\n2\n")
	}, []string{"own.jsonl: " + strings.Repeat("x", rewrite.LongestLine-1) + "\n",
		"own.jsonl: 2\n"}, nil},
}

func TestFollowExact(t *testing.T) {
	for _, c := range exactCases {
		for _, looks := range []bool{true, false} {
			name := c.name
			if !looks {
				name += ", only at the end"
			}
			t.Run(name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "tool", "files")
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if c.gone != nil {
					if err := os.RemoveAll(c.gone(dir)); err != nil {
						t.Fatal(err)
					}
				}
				r := &record{dir: dir}
				step := func(want string) { r.wait(t, want) }
				if !looks {
					step = func(string) {}
				}
				w := followAs(t, rewrite.Follow{Dir: dir, Name: "own.jsonl", Root: t.TempDir(),
					Lines: true}, r, looks)
				c.act(t, dir, step)
				w.Stop()
				if got := r.all(); !slices.Equal(got, c.want) {
					t.Errorf("%d lines are passed on, want %d: %.200q", len(got), len(c.want), got)
				}
			})
		}
	}
}

// Text that the file had before the start is not passed on, and a name is no pattern.
func TestFollowExactFromTheStart(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/[a].jsonl", "old\n")
	put(t, dir+"/a.jsonl", "")
	r := &record{dir: dir}
	w := followAs(t, rewrite.Follow{Dir: dir, Name: "[a].jsonl", Root: t.TempDir(), Lines: true}, r,
		true)
	grow(t, dir+"/a.jsonl", "no\n")
	grow(t, dir+"/[a].jsonl", "new\n")
	r.wait(t, "[a].jsonl: new\n")
	w.Stop()
	if got := r.all(); !slices.Equal(got, []string{"[a].jsonl: new\n"}) {
		t.Errorf("passed on %q", got)
	}
}

// A file that is not where it was expected is found below the root when the tool has ended; one of
// that name is not looked for while the tool runs.
func TestFollowFindsItElsewhere(t *testing.T) {
	root := t.TempDir()
	for _, place := range []string{"other", "other/chats"} {
		var got []string
		name := strings.ReplaceAll(place, "/", "-") + ".jsonl"
		w, err := Start([]rewrite.Follow{{Dir: filepath.Join(root, "expected"), Name: name,
			Root: root, Lines: true}},
			func(path string, data []byte) { got = append(got, path+" "+string(data)) })
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(root, place)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("line\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		w.Stop()
		if want := []string{filepath.Join(dir, name) + " line\n"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", place, got, want)
		}
	}
}

// A file that was moved has no new text, and goes on where it was.
func TestFollowFindsAMovedFile(t *testing.T) {
	for _, more := range []string{"", "new\n"} {
		r := &record{dir: t.TempDir()}
		old, moved := r.dir+"/expected/own.jsonl", r.dir+"/other/own.jsonl"
		put(t, old, "old\n")
		put(t, filepath.Dir(moved)+"/x", "")
		w, err := Start([]rewrite.Follow{{Dir: filepath.Dir(old), Name: "own.jsonl", Root: r.dir,
			Lines: true}}, r.handle)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(old, moved); err != nil {
			t.Fatal(err)
		}
		grow(t, moved, more)
		w.Stop()
		if got := strings.Join(r.all(), ""); got != strings.ReplaceAll(more, "new",
			"other/own.jsonl: new") {
			t.Errorf("passed on %q", got)
		}
	}
}
