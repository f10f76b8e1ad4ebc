package work

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/ledger"
	"reprise/shim/git"
	"reprise/test/gitrepo"
	"reprise/test/toolbox"
)

// worked is a directory in which a run has changed some files.
func worked(t testing.TB, dir string, given ...string) (p *testProject, left string) {
	t.Helper()
	p = newProject(t, dir)
	return p, p.Left(p.run(given...), "")
}

// A testProject is a project, and the time at which its runs begin.
type testProject struct {
	Project
	started time.Time
}

// run is a run that was given files.
func (p *testProject) run(given ...string) Run { return Run{Started: p.started, Given: given} }

// head returns the commit that is checked out.
func (p *testProject) head() string {
	repo, err := git.Find(p.Cwd)
	if err != nil {
		return ""
	}
	_, commit := repo.Head(p.Environ)
	return commit
}

func newProject(t testing.TB, dir string) *testProject {
	t.Helper()
	l, err := ledger.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	digest := l.Key().Digester()
	home := t.TempDir()
	return &testProject{started: time.Now().Add(-time.Minute), Project: Project{
		Cwd: dir, Home: home, Environ: []string{"HOME=" + home}, Beside: l.Beside,
		Fault:  func(string, error) {},
		Digest: func(text string) string { return fmt.Sprintf("%x", digest(text)) },
	}}
}

// age has all files of a directory changed an hour ago.
func age(t testing.TB, dir string) {
	t.Helper()
	gitrepo.Script(t, dir, "find . -type f -exec touch -d '1 hour ago' {} +")
}

// commonFiles are the files that runs in these tests are given: committed files, a new file, and a
// file that never exists.
var commonFiles = []string{"a", "d/c", ":!x", "new", "big", "never"}

func TestWorkGone(t *testing.T) {
	type step struct {
		name, run, then string
		gone            bool
	}
	const setUp = "echo one >a; mkdir d; echo one >d/c; echo one >':!x'; echo one >unrelated; " +
		"git add .; git commit -qm 1"
	play := func(t *testing.T, begin string, tt step) {
		t.Helper()
		t.Parallel()
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		gitrepo.Script(t, dir, begin)
		age(t, dir)
		gitrepo.Script(t, dir, tt.run)
		c, left := worked(t, dir, commonFiles...)
		head := c.head()
		gitrepo.Script(t, dir, tt.then)
		if gone := c.Gone(left, head); gone != tt.gone {
			t.Errorf("%s: gone: %v, want %v; left %s", tt.name, gone, tt.gone, left)
		}
	}
	inRepository := []step{
		{"nothing is done", "echo two >a", ":", false},
		{"reset", "echo two >a; echo new >new; git add new", "git reset -q --hard", true},
		{"reset and clean", "echo two >a; echo new >new",
			"git reset -q --hard; git clean -qfd", true},
		{"checkout", "echo two >a; echo new >new", "git checkout -q .", true},
		{"checkout of one of two files", "echo two >a; echo two >d/c", "git checkout -q a", true},
		{"restore", "echo two >a", "git restore a", true},
		{"restore of the index alone", "echo two >a; git add a", "git restore --staged a", false},
		{"stash", "echo two >a", "git stash -q", true},
		{"stash of new files", "echo new >new", "git stash -q -u", true},
		{"stash, and back", "echo two >a", "git stash -q; git stash pop -q", false},
		{"stash, and a pull", "echo two >a",
			"git stash -q; git commit -q --allow-empty -m 2", true},
		{"reset, and another's commit", "echo two >a",
			"git reset -q --hard; echo two >unrelated; git commit -qam 2", true},
		{"removed, and another's commit", "echo new >new",
			"rm new; echo two >unrelated; git commit -qam 2", true},
		{"one of two removed, the other committed", "echo new >new; echo two >a",
			"rm new; git commit -qam 2", false},
		{"merged", "echo two >a",
			"git checkout -qb b; git commit -qam 2; git checkout -q -; git merge -q --no-ff -m 3 b",
			false},
		{"clean", "echo new >new", "git clean -qfd", true},
		{"clean, with other work left", "echo two >a; echo new >new", "git clean -qfd", false},
		{"a removed file is put back", "rm a", "git checkout -q a", true},
		{"a file with a name like a pattern", "echo two >':!x'", "git checkout -q .", true},
		{"a large file", "head -c 2000000 /dev/zero >a", "git checkout -q a", true},
		{"a large file, edited further", "head -c 2000000 /dev/zero >a", "echo >>a", false},
		{"a large file that was committed",
			"head -c 2000000 /dev/zero >big; git add big; git commit -qm 2; echo two >big",
			"git checkout -q big", false},
		{"a report is removed", "echo two >a; echo new >new", "rm new", false},
		{"a new file is removed, and another was only tried out",
			"echo new >new; echo two >a; git checkout -q a", "rm new", true},
		{"a new file is removed, and a removed one stays so", "echo new >new; rm a",
			"rm new", false},
		{"touched", "echo two >a", "touch -d '1 minute ago' a", false},
		{"edited further", "echo two >a", "echo three >>a", false},
		{"formatted", "echo two >a; echo two >d/c", "printf two >a; printf two >d/c", false},
		{"edited further, and that put back", "echo two >a", "echo three >a; echo two >a", false},
		{"edited and reverted by the run", "echo two >a; echo one >a",
			"echo three >a; git checkout -q a", false},
		{"edited and reverted by the run, and edited since", "echo two >a; echo one >a",
			"echo three >a", false},
		{"moved, with other work left", "echo two >a; echo two >d/c", "mv a b", false},
		{"all of it moved", "echo two >a", "mv a b", true},
		{"a directory in its place", "echo new >new", "rm new; mkdir new", false},
		{"committed", "echo two >a", "git commit -qam 2", false},
		{"committed and formatted", "echo two >a", "git commit -qam 2; printf two >a", false},
		{"committed, then reverted by a commit", "echo two >a",
			"git commit -qam 2; git revert -n HEAD; git commit -qm 3", true},
		{"committed, then removed", "echo two >a",
			"git commit -qam 2; git rm -q a; git commit -qm 3", true},
		{"a new file is committed, and that reverted", "echo new >new",
			"git add new; git commit -qm 2; git revert --no-edit HEAD >log", true},
		{"another's commit", "echo two >a",
			"echo two >unrelated; git commit -qm 2 unrelated", false},
		{"another's commit, and edited further", "echo two >a",
			"echo two >unrelated; git commit -qm 2 unrelated; echo three >a", false},
		{"amended", "echo two >a", "git commit -q --amend -am 2; printf two >a", false},
		{"committed, and the commit taken back", "echo two >a",
			"git commit -qam 2; git reset -q --hard HEAD~1", true},
		{"committed, and the commit alone taken back", "echo two >a",
			"git commit -qam 2; git reset -q --soft HEAD~1", false},
		{"committed by the run, edited by another, and that put back",
			"echo two >a; git commit -qam 2", "echo three >a; git checkout -q a", false},
		{"the git.Repository does not answer", "echo two >a",
			"git checkout -q a; rm -r .git/objects", false},
	}
	for _, tt := range inRepository {
		t.Run(tt.name, func(t *testing.T) { play(t, "git init -q; "+setUp, tt) })
		t.Run(tt.name+", with sha256",
			func(t *testing.T) { play(t, "git init -q --object-format=sha256; "+setUp, tt) })
	}
	for _, tt := range []step{
		{"clean before the first commit", "echo new >new", "git clean -qfd", true},
		{"kept before the first commit", "echo new >new", "touch -d '1 minute ago' new", false},
	} {
		t.Run(tt.name, func(t *testing.T) { play(t, "git init -q", tt) })
	}
	for _, tt := range []step{
		{"no git: all is gone", "echo new >new; echo two >a", "rm new a", true},
		{"no git: one file is left", "echo new >new; echo two >a", "rm new", false},
		{"no git: edited further, or put back", "echo two >a", "echo one >a", true},
		{"no git: edited, and that put back", "echo two >a", "echo three >a; echo two >a", false},
		{"no git: a removed file is put back", "rm a", "echo one >a", true},
	} {
		t.Run(tt.name, func(t *testing.T) { play(t, "echo one >a", tt) })
	}
}

// decoded returns the paths of a list of files.
func decoded(left string) []string {
	var paths []string
	files, _ := decodeLeft(left)
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	return paths
}

// The files of a run are those that it has changed, below the root of the repository.
func TestFilesOfARun(t *testing.T) {
	dir := gitrepo.New(t)
	gitrepo.Script(t, dir, "mkdir below d; echo one >a; echo one >read; echo one >below/b; ln -s "+
		"d link")
	age(t, dir)
	gitrepo.Script(t, dir, "echo two >a; echo two >below/b; echo two >d/c; mkfifo pipe")
	outside := filepath.Join(t.TempDir(), "plan")
	toolbox.Write(t, outside, "plan")
	given := []string{"b", "../read", dir + "/a", dir + "/link/c", dir + "/link/none/x", "b",
		outside, "..", "../pipe", "../bad\xff", "../nul\x00",
		"../" + strings.Repeat("x/", 3000) + "y", "../absent"}
	c, left := worked(t, filepath.Join(dir, "below"), given...)
	if got, want := decoded(left),
		[]string{"absent", "below/b", "d/none/x", "d/c", "a"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	toolbox.Write(t, filepath.Join(dir, "large"), strings.Repeat("x", maxLeftBytes+1))
	if large, _ := decodeLeft(c.Left(c.run("../large", "../a"), "")); len(large) != 2 ||
		large[0].Digest == "" || large[1].Digest != "" {
		t.Errorf("%+v", large)
	}
	if left := c.Left(c.run("../read"), ""); left != "" {
		t.Errorf("a file that was only read is left: %s", left)
	}
	if paths := decoded(`[{"path":"../x"},{"path":"/etc/passwd"},{"path":"nul\u0000"},{"path":"a"}]`); !slices.Equal(paths, []string{"a"}) {
		t.Errorf("paths of another machine: %q", paths)
	}
	if paths := decoded(`{`); paths != nil {
		t.Errorf("no list: %q", paths)
	}
}

// A session's files are the files of all its runs, as they are at the end of the latest one.
func TestFilesOfEarlierRuns(t *testing.T) {
	dir := gitrepo.New(t)
	for i := range 40 {
		toolbox.Write(t, filepath.Join(dir, fmt.Sprint("f", i)), "one")
	}
	c, first := worked(t, dir, "f0", "f1", "f2", "f3")
	before, _ := decodeLeft(first)
	age(t, dir)
	// f3 has its content, but not its time
	gitrepo.Script(t, dir, "echo two >f1; rm f2; touch -d '2 hours ago' f3")
	left := func(earlier string, given ...string) []leftFile {
		t.Helper()
		files, _ := decodeLeft(c.Left(c.run(given...), earlier))
		return files
	}
	again := left(first, "f1")
	if paths := decoded(c.Left(c.run("f1"), first)); !slices.Equal(paths,
		[]string{"f1", "f3", "f2", "f0"}) {
		t.Errorf("%q", paths)
	}
	if again[0].Digest == before[2].Digest || again[1].Digest != before[0].Digest ||
		again[1].Time == before[0].Time || !again[2].Absent {
		t.Errorf("first %+v, then %+v", before, again)
	}
	// A file that stayed as it was is not read again.
	unread := left(`[{"path":"f0","size":3,"time":` + fmt.Sprint(again[3].Time) +
		`,"digest":"kept"}]`)
	if len(unread) != 1 || unread[0].Digest != "kept" {
		t.Errorf("%+v", unread)
	}
	// A file that this run has only read is still one of the earlier runs.
	if read := left(first, "f0"); !slices.ContainsFunc(read, func(f leftFile) bool {
		return f.Path == "f0"
	}) {
		t.Errorf("%+v", read)
	}
	var all []string
	for i := range 40 {
		all = append(all, fmt.Sprint("f", i))
	}
	gitrepo.Script(t, dir, "touch f*")
	if many := left(first, all...); len(many) != maxLeftFiles || many[0].Path != "f39" {
		t.Errorf("%d files, the first %s", len(many), many[0].Path)
	}
	if many := left(c.Left(c.run(all...), first), "f0"); len(many) != maxLeftFiles ||
		many[0].Path != "f0" || many[1].Path != "f39" {
		t.Errorf("%d files, the first %s and %s", len(many), many[0].Path, many[1].Path)
	}
}

// git is started only if a file is not as it was.
func TestUnchangedWorkStartsNoGit(t *testing.T) {
	dir := gitrepo.New(t)
	gitrepo.Script(t, dir, "echo one >a; git add a; git commit -qm 1; echo two >a")
	c, left := worked(t, dir, "a")
	mark := filepath.Join(t.TempDir(), "mark")
	bin := t.TempDir()
	toolbox.Write(t, filepath.Join(bin, "git"), "#!/bin/sh\necho >"+mark+"\nexit 1\n")
	if err := os.Chmod(filepath.Join(bin, "git"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", bin+":"+path)
	started := func() bool {
		_, err := os.Stat(mark)
		return err == nil
	}
	if c.Gone(left, c.head()) || started() {
		t.Errorf("unchanged: git was started: %v", started())
	}
	toolbox.Write(t, filepath.Join(dir, "a"), "one\n")
	if c.Gone(left, c.head()) || !started() {
		t.Errorf("put back, but git fails: git was started: %v", started())
	}
}

// Comparing with a commit runs nothing that the repository's configuration names, and takes no
// answer from an object's replacement.
func TestWorkGoneRunsNothing(t *testing.T) {
	dir := gitrepo.New(t)
	mark := filepath.Join(t.TempDir(), "mark")
	evil := filepath.Join(t.TempDir(), "evil")
	toolbox.Write(t, evil, "#!/bin/sh\necho $0 $* >>"+mark+"\ncat\n")
	if err := os.Chmod(evil, 0o700); err != nil {
		t.Fatal(err)
	}
	gitrepo.Script(t, dir, "echo one >a; echo '* filter=e diff=e' >.gitattributes; git add .; "+
		"git commit -qm 1; echo two >a")
	c, left := worked(t, dir, "a")
	gitrepo.Script(t, dir, "git checkout -q a; git replace $(git rev-parse HEAD:a) $(echo two | "+
		"git hash-object -w --stdin)")
	for key, value := range map[string]string{
		"filter.e.clean": evil, "filter.e.smudge": evil, "filter.e.process": evil,
		"filter.e.required": "true", "diff.e.textconv": evil, "diff.e.command": evil,
		"core.fsmonitor": evil, "core.hooksPath": filepath.Dir(evil), "core.pager": evil,
		"pager.ls-tree": evil, "alias.ls-tree": "!" + evil,
		"remote.origin.url": "ssh://host/x", "remote.origin.promisor": "true",
		"extensions.partialClone": "origin", "core.sshCommand": evil,
		"core.repositoryFormatVersion": "1",
	} {
		gitrepo.Run(t, dir, "config", key, value)
	}
	if err := os.Remove(mark); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if !c.Gone(left, c.head()) {
		t.Error("git does not answer")
	}
	if text, err := os.ReadFile(mark); err == nil {
		t.Errorf("git has run %s", text)
	}
	// They do run where git reads the work tree.
	_ = exec.Command("git", "-C", dir, "status").Run()
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("the programs are not of the kind that git runs: %v", err)
	}
}

// BenchmarkWorkGone measures the time of a call that can resume, with as many files as are
// remembered.
func BenchmarkWorkGone(b *testing.B) {
	dir := gitrepo.New(b)
	var given []string
	for i := range maxLeftFiles {
		given = append(given, fmt.Sprintf("internal/package/file_%d.go", i))
		toolbox.Write(b, filepath.Join(dir, given[i]), strings.Repeat("code\n", 1000))
	}
	gitrepo.Script(b, dir, "git add .; git commit -qm 1; for f in internal/package/*; do echo "+
		"more >>$f; done")
	c, left := worked(b, dir, given...)
	head := c.head()
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			if c.Gone(left, head) {
				b.Fatal("gone")
			}
		}
	})
	_, few := worked(b, dir, given[:4]...)
	b.Run("unchanged, 4 files", func(b *testing.B) {
		for b.Loop() {
			if c.Gone(few, head) {
				b.Fatal("gone")
			}
		}
	})
	b.Run("end of a run", func(b *testing.B) {
		for b.Loop() {
			c.Left(c.run(given...), "")
		}
	})
	toolbox.Write(b, filepath.Join(dir, given[0]), "edited further")
	b.Run("one changed", func(b *testing.B) {
		for b.Loop() {
			if c.Gone(left, head) {
				b.Fatal("gone")
			}
		}
	})
}
