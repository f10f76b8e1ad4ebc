package watch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"reprise/rewrite"
)

// A record is the text that a Watcher has handed on.
type record struct {
	mu      sync.Mutex
	dir     string
	got     []string
	watcher *Watcher // of play
}

func (r *record) handle(path string, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, strings.TrimPrefix(path, r.dir+"/")+": "+string(data))
}

func (r *record) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// wait waits until that has been handed on.
func (r *record) wait(t *testing.T, want string) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(
		time.Millisecond) {
		if slices.Contains(r.all(), want) {
			return
		}
	}
	t.Fatalf("not told in time: %q; told: %q", want, r.all())
}

func grow(t testing.TB, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// replace puts a file in place as the tools do.
func replace(t testing.TB, path, text string) {
	t.Helper()
	put(t, path+".tmp", text)
	if err := os.Rename(path+".tmp", path); err != nil {
		t.Fatal(err)
	}
}

// The same text must be found whether the files are looked at meanwhile or not.
var cases = []struct {
	name  string
	lines bool
	setup func(t *testing.T, dir string)
	act   func(t *testing.T, dir string, step func(want string))
	want  []string // in all, in order within a file
	last  []string // the same only at the end, where it differs
}{
	{"old files are left alone", true,
		func(t *testing.T, dir string) { put(t, dir+"/a.jsonl", "old\n") },
		func(t *testing.T, dir string, step func(string)) {}, nil, nil},
	{"old whole files are left alone", false,
		func(t *testing.T, dir string) { put(t, dir+"/a.jsonl", "old\n") },
		func(t *testing.T, dir string, step func(string)) {}, nil, nil},
	{"a file grows", true,
		func(t *testing.T, dir string) { put(t, dir+"/d/a.jsonl", "old\n") },
		func(t *testing.T, dir string, step func(string)) {
			grow(t, dir+"/d/a.jsonl", "1\n2")
			step("d/a.jsonl: 1\n")
			grow(t, dir+"/d/a.jsonl", "2\n\n3")
			step("d/a.jsonl: 22\n")
		}, []string{"d/a.jsonl: 1\n", "d/a.jsonl: 22\n", "d/a.jsonl: \n", "d/a.jsonl: 3"}, nil},
	{"a new file in new directories", true, nil,
		func(t *testing.T, dir string, step func(string)) {
			put(t, dir+"/2026/11/21/a.jsonl", "1\n")
			step("2026/11/21/a.jsonl: 1\n")
			grow(t, dir+"/2026/11/21/a.jsonl", "2\n")
			step("2026/11/21/a.jsonl: 2\n")
		}, []string{"2026/11/21/a.jsonl: 1\n", "2026/11/21/a.jsonl: 2\n"}, nil},
	{"the directory is not there yet", true,
		func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
				t.Fatal(err)
			}
		},
		func(t *testing.T, dir string, step func(string)) {
			put(t, filepath.Dir(dir)+"/other.jsonl", "no")
			replace(t, dir+"/a.jsonl", "yes\n")
			step("a.jsonl: yes\n")
			replace(t, dir+"/b/a.jsonl", "and yes\n")
			step("b/a.jsonl: and yes\n")
		}, []string{"a.jsonl: yes\n", "b/a.jsonl: and yes\n"}, nil},
	{"the directory is made anew", true, nil,
		func(t *testing.T, dir string, _ func(string)) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			replace(t, dir+"/b.jsonl", "2\n")
		}, []string{"b.jsonl: 2\n"}, nil},
	{"replaced by rename", false,
		func(t *testing.T, dir string) { put(t, dir+"/s/meta.jsonl", "0") },
		func(t *testing.T, dir string, step func(string)) {
			put(t, dir+"/new/meta.jsonl", "1\n2")
			for _, text := range []string{"1", "2"} {
				replace(t, dir+"/s/meta.jsonl", text)
				time.Sleep(10 * pause)
			}
		}, []string{"new/meta.jsonl: 1\n2", "s/meta.jsonl: 2"}, nil},
	{"truncated", true,
		func(t *testing.T, dir string) { put(t, dir+"/a.jsonl", "a long old line\n") },
		func(t *testing.T, dir string, step func(string)) {
			put(t, dir+"/a.jsonl", "1\n")
			step("a.jsonl: 1\n")
		}, []string{"a.jsonl: 1\n"}, nil},
	{"renamed", true,
		func(t *testing.T, dir string) { put(t, dir+"/a.jsonl", "old\n") },
		func(t *testing.T, dir string, step func(string)) {
			grow(t, dir+"/a.jsonl", "1\n")
			step("a.jsonl: 1\n")
			if err := os.Rename(dir+"/a.jsonl", dir+"/b.jsonl"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * pause) // lines go by the name that is known when they are read
			grow(t, dir+"/b.jsonl", "2\n")
			step("b.jsonl: 2\n")
		}, []string{"a.jsonl: 1\n", "b.jsonl: 2\n"}, []string{"b.jsonl: 1\n", "b.jsonl: 2\n"}},
	{"a line too long", true,
		func(t *testing.T, dir string) { put(t, dir+"/a.jsonl", "") },
		func(t *testing.T, dir string, step func(string)) {
			grow(t, dir+"/a.jsonl", "1\n"+strings.Repeat("x", maxLine+1)+"\n2\n"+strings.Repeat("x",
				maxLine+1))
		}, []string{"a.jsonl: 1\n", "a.jsonl: 2\n"}, nil},
	{"rotated", true,
		func(t *testing.T, dir string) { put(t, dir+"/a.jsonl", "old\n") },
		func(t *testing.T, dir string, step func(string)) {
			grow(t, dir+"/a.jsonl", "1\n")
			step("a.jsonl: 1\n")
			grow(t, dir+"/a.jsonl", "2\n")
			if err := os.Rename(dir+"/a.jsonl", dir+"/a.1"); err != nil {
				t.Fatal(err)
			}
			put(t, dir+"/a.jsonl", "3\n")
			step("a.jsonl: 3\n")
		}, []string{"a.jsonl: 1\n", "a.jsonl: 2\n", "a.jsonl: 3\n"}, []string{"a.jsonl: 3\n"}},
	{"a whole file too large", false, nil,
		func(t *testing.T, dir string, step func(string)) {
			replace(t, dir+"/a.jsonl", strings.Repeat("x", maxWhole+1))
		}, nil, nil},
	{"other names, other kinds", true, nil,
		func(t *testing.T, dir string, step func(string)) {
			put(t, dir+"/a.json", "no\n")
			put(t, dir+"/x/target", "no\n")
			if err := os.Symlink(dir+"/x/target", dir+"/l.jsonl"); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(dir+"/p.jsonl", 0o600); err != nil {
				t.Fatal(err)
			}
			put(t, dir+"/d.jsonl/a.jsonl", "yes\n")
		}, []string{"d.jsonl/a.jsonl: yes\n"}, nil},
}

func TestFollow(t *testing.T) {
	for _, c := range cases {
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
				if c.setup != nil {
					c.setup(t, dir)
				}
				r := &record{dir: dir}
				step := func(want string) { r.wait(t, want) }
				if !looks {
					step = func(string) {}
				}
				w := follow(t, dir, c.lines, r, looks)
				c.act(t, dir, step)
				w.Stop()
				w.Stop()
				want := c.want
				if !looks && c.last != nil {
					want = c.last
				}
				if got := r.all(); !slices.Equal(got, want) {
					t.Errorf("handed on %q, want %q", got, want)
				}
			})
		}
	}
}

func follow(t *testing.T, dir string, lines bool, r *record, looks bool) *Watcher {
	t.Helper()
	return followAs(t, rewrite.Follow{Dir: dir, Name: "*.jsonl", Lines: lines}, r, looks)
}

func followAs(t *testing.T, f rewrite.Follow, r *record, looks bool) *Watcher {
	t.Helper()
	every := pause
	if !looks {
		every = time.Hour
	}
	w, err := begin([]rewrite.Follow{f}, r.handle, every)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
