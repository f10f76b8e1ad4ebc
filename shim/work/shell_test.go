package work

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/test/gitrepo"
)

// Of a run with commands the files count that lie as it left them.
func TestFindWork(t *testing.T) {
	limit := Timeout
	Timeout = time.Minute
	t.Cleanup(func() { Timeout = limit })
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	const id = "11111111-1111-4111-8111-111111111111"
	for _, tt := range []struct {
		name, before, run, then string
		want                    []string
	}{
		{"edits and makes files", ":", "echo two >a; echo new >new; echo two >d/c", ":",
			[]string{"a", "d/c", "new"}},
		{"only reads", ":", "cat a", ":", nil},
		{"committed since", ":", "echo two >a", "git add .; git commit -qm 2", []string{"a"}},
		{"committed by the run", ":", "echo two >a; git add .; git commit -qm 2",
			":", []string{"a"}},
		{"put back", ":", "echo two >a", "git checkout -q a", nil},
		{"stashed", ":", "echo two >a; echo new >new", "git stash -qu", nil},
		{"stashed, and back", ":", "echo two >a", "git stash -q; git stash pop -q", nil},
		{"removed", ":", "echo new >new", "rm new", nil},
		{"edited by another since", ":", "echo two >a", "echo three >a", nil},
		{"ignored", "echo '*.log' >.gitignore", "echo x >x.log", ":", nil},
		{"hidden", ":", "echo x >.state; mkdir d/.x; echo x >d/.x/y", ":", nil},
		{"a link to a file elsewhere", "ln -s ../elsewhere link", "echo x >../elsewhere", ":", nil},
		{"below a link to a directory", ":",
			"mkdir ../other; echo x >../other/y; rm -r d; ln -s ../other d", ":", nil},
		{"no regular file", ":", "mkfifo new", ":", nil},
		{"of the tool's home", ":", "mkdir -p home/x; echo x >home/x/y", ":", nil},
		{"has the run's answer", ":", "printf 'log\n  It is done.\n' >out", ":", nil},
		{"has the session's ID", ":", "echo '{\"id\":\"" + id + "\"}' >out.json", ":", nil},
		{"too large to be read", ":", "head -c 2000000 /dev/zero >big", ":", nil},
	} {
		for _, git := range []bool{true, false} {
			name := tt.name
			if !git {
				name += ", no repository"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(gitrepo.Init(t), "repo")
				gitrepo.Script(t, filepath.Dir(dir),
					"rm -r .git; mkdir repo; cd repo; git init -q; mkdir d; echo one >a; echo "+
						"one >d/c; git add .; git commit -qm 1;"+tt.before)
				want := tt.want
				if !git {
					if strings.Contains(tt.run+tt.then, "git") || tt.name == "ignored" {
						t.Skip("it needs git")
					}
					gitrepo.Script(t, dir, "rm -r .git")
				}
				age(t, dir)
				c := newProject(t, dir)
				c.Home = dir + "/home"
				time.Sleep(20 * time.Millisecond) // a file gets the time of the kernel's last tick
				c.started = time.Now()
				time.Sleep(20 * time.Millisecond)
				gitrepo.Script(t, dir, tt.run)
				time.Sleep(20 * time.Millisecond)
				left := c.Left(Run{Started: c.started, Shell: true,
					Answer: "First this.\nIt is done."}, "")
				time.Sleep(20 * time.Millisecond)
				gitrepo.Script(t, dir, tt.then)
				found := decoded(c.Find(left, id))
				if slices.Sort(found); !slices.Equal(found, want) {
					t.Errorf("%q, want %q", found, want)
				}
			})
		}
	}
}

// A command that cannot be read, or not in time, is not found. Files that were found before are
// kept.
func TestFindWorkInDoubt(t *testing.T) {
	dir := gitrepo.New(t)
	c := newProject(t, dir)
	c.started = time.Now().Add(-time.Second)
	gitrepo.Script(t, dir, "echo new >new; echo named >named")
	time.Sleep(20 * time.Millisecond) // a file gets the time of the kernel's last tick
	left := c.Left(Run{Started: c.started, Given: []string{"named"}, Shell: true}, "")
	look := func(left string) []string {
		c.files = nil
		return decoded(c.Find(left, "id"))
	}
	if found := look(left); !slices.Equal(found, []string{"named", "new"}) {
		t.Errorf("%q", found)
	}
	if _, runs := decodeLeft(c.Left(c.run(), left)); len(runs) != 1 {
		t.Errorf("a later run without commands leaves %d runs with commands", len(runs))
	}
	defer func(d time.Duration) { Timeout = d }(Timeout)
	Timeout = 0
	if found := look(left); !slices.Equal(found, []string{"named"}) {
		t.Errorf("out of time: %q", found)
	}
	Timeout = time.Minute
	for _, damaged := range []string{"", "{", `[{"run":{}}]`, `[{"path":"a"}]`} {
		if found := look(damaged); len(found) > 1 {
			t.Errorf("%s: %q", damaged, found)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if found := look(left); !slices.Equal(found, []string{"named"}) {
		t.Errorf("no project: %q", found)
	}
}

// A file that another changes in the tick of a run's end has the time of that tick.
func TestFindWorkOfTheNextTick(t *testing.T) {
	dir := gitrepo.New(t)
	c := newProject(t, dir)
	c.started = time.Now().Add(-time.Second)
	for i := range 100 {
		time.Sleep(time.Duration(i%10) * time.Millisecond / 2)
		c.files = nil
		left := c.Left(Run{Started: c.started, Shell: true}, "")
		if err := os.WriteFile(filepath.Join(dir, "other"), []byte(left), 0o600); err != nil {
			t.Fatal(err)
		}
		if found := decoded(c.Find(left, "")); len(found) > 0 {
			t.Fatalf("after %d runs %q count", i, found)
		}
	}
}
