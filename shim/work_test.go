package shim

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
	"reprise/rewrite"
	"reprise/test/gitrepo"
	"reprise/test/toolbox"
)

// shell runs a script in a directory, with nothing of the user's git configuration.
func shell(t testing.TB, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(gitrepo.Env(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
}

// worked is a call in a directory whose run has changed some files.
func worked(t testing.TB, l *ledger.Ledger, dir string, given ...string) (c *call, left string) {
	t.Helper()
	c = guarded(t, l, dir, t.TempDir())
	c.started = time.Now().Add(-time.Minute)
	c.ticket = &ledger.Ticket{Record: ledger.Record{Session: 1}}
	return c, c.leftFiles(goodRun(), given)
}

func goodRun() *ledger.Outcome {
	return &ledger.Outcome{Seen: rewrite.StreamState{ID: "id", Final: true, Content: true}}
}

// age has all files of a directory changed an hour ago.
func age(t testing.TB, dir string) {
	t.Helper()
	shell(t, dir, "find . -type f -exec touch -d '1 hour ago' {} +")
}

// commonFiles are the files that runs in these tests are given: committed ones, a new one, and one that never exists.
var commonFiles = []string{"a", "d/c", ":!x", "new", "big", "never"}

func TestWorkGone(t *testing.T) {
	type step struct {
		name, run, then string
		gone            bool
	}
	const setUp = "echo one >a; mkdir d; echo one >d/c; echo one >':!x'; echo one >unrelated; git add .; git commit -qm 1"
	play := func(t *testing.T, begin string, tt step) {
		t.Helper()
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		shell(t, dir, begin)
		age(t, dir)
		shell(t, dir, tt.run)
		c, left := worked(t, memoryLedger(t), dir, commonFiles...)
		head := c.place(dir).Head
		shell(t, dir, tt.then)
		c.record.Place = c.place(dir)
		if gone := c.workGone(left, head); gone != tt.gone {
			t.Errorf("%s: gone: %v, want %v; left %s", tt.name, gone, tt.gone, left)
		}
	}
	inRepository := []step{
		{"nothing is done", "echo two >a", ":", false},
		{"reset", "echo two >a; echo new >new; git add new", "git reset -q --hard", true},
		{"reset and clean", "echo two >a; echo new >new", "git reset -q --hard; git clean -qfd", true},
		{"checkout", "echo two >a; echo new >new", "git checkout -q .", true},
		{"checkout of one of two files", "echo two >a; echo two >d/c", "git checkout -q a", true},
		{"restore", "echo two >a", "git restore a", true},
		{"restore of the index alone", "echo two >a; git add a", "git restore --staged a", false},
		{"stash", "echo two >a", "git stash -q", true},
		{"stash of new files", "echo new >new", "git stash -q -u", true},
		{"stash, and back", "echo two >a", "git stash -q; git stash pop -q", false},
		{"stash, and a pull", "echo two >a", "git stash -q; git commit -q --allow-empty -m 2", true},
		{"reset, and another's commit", "echo two >a", "git reset -q --hard; echo two >unrelated; git commit -qam 2", true},
		{"removed, and another's commit", "echo new >new", "rm new; echo two >unrelated; git commit -qam 2", true},
		{"one of two removed, the other committed", "echo new >new; echo two >a", "rm new; git commit -qam 2", false},
		{"merged", "echo two >a", "git checkout -qb b; git commit -qam 2; git checkout -q -; git merge -q --no-ff -m 3 b", false},
		{"clean", "echo new >new", "git clean -qfd", true},
		{"clean, with other work left", "echo two >a; echo new >new", "git clean -qfd", false},
		{"a removed file is put back", "rm a", "git checkout -q a", true},
		{"a file with a name like a pattern", "echo two >':!x'", "git checkout -q .", true},
		{"a large file", "head -c 2000000 /dev/zero >a", "git checkout -q a", true},
		{"a large file, edited further", "head -c 2000000 /dev/zero >a", "echo >>a", false},
		{"a large file that was committed", "head -c 2000000 /dev/zero >big; git add big; git commit -qm 2; echo two >big", "git checkout -q big", false},
		{"a report is removed", "echo two >a; echo new >new", "rm new", false},
		{"a new file is removed, and another was only tried out", "echo new >new; echo two >a; git checkout -q a", "rm new", true},
		{"a new file is removed, and a removed one stays so", "echo new >new; rm a", "rm new", false},
		{"touched", "echo two >a", "touch -d '1 minute ago' a", false},
		{"edited further", "echo two >a", "echo three >>a", false},
		{"formatted", "echo two >a; echo two >d/c", "printf two >a; printf two >d/c", false},
		{"edited further, and that put back", "echo two >a", "echo three >a; echo two >a", false},
		{"edited and reverted by the run", "echo two >a; echo one >a", "echo three >a; git checkout -q a", false},
		{"edited and reverted by the run, and edited since", "echo two >a; echo one >a", "echo three >a", false},
		{"moved, with other work left", "echo two >a; echo two >d/c", "mv a b", false},
		{"all of it moved", "echo two >a", "mv a b", true},
		{"a directory in its place", "echo new >new", "rm new; mkdir new", false},
		{"committed", "echo two >a", "git commit -qam 2", false},
		{"committed and formatted", "echo two >a", "git commit -qam 2; printf two >a", false},
		{"committed, then reverted by a commit", "echo two >a", "git commit -qam 2; git revert -n HEAD; git commit -qm 3", false},
		{"committed, then removed", "echo two >a", "git commit -qam 2; git rm -q a; git commit -qm 3", false},
		{"another's commit", "echo two >a", "echo two >unrelated; git commit -qm 2 unrelated", false},
		{"another's commit, and edited further", "echo two >a", "echo two >unrelated; git commit -qm 2 unrelated; echo three >a", false},
		{"amended", "echo two >a", "git commit -q --amend -am 2; printf two >a", false},
		{"committed, and the commit taken back", "echo two >a", "git commit -qam 2; git reset -q --hard HEAD~1", true},
		{"committed, and the commit alone taken back", "echo two >a", "git commit -qam 2; git reset -q --soft HEAD~1", false},
		{"committed by the run, edited by another, and that put back", "echo two >a; git commit -qam 2", "echo three >a; git checkout -q a", false},
		{"the git.Repository does not answer", "echo two >a", "git checkout -q a; rm -r .git/objects", false},
	}
	for _, tt := range inRepository {
		t.Run(tt.name, func(t *testing.T) { play(t, "git init -q; "+setUp, tt) })
		t.Run(tt.name+", with sha256", func(t *testing.T) { play(t, "git init -q --object-format=sha256; "+setUp, tt) })
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
		{"no git: edited further", "echo two >a", "echo three >a", false},
		{"no git: put back", "echo two >a", "echo one >a", false},
	} {
		t.Run(tt.name, func(t *testing.T) { play(t, "echo one >a", tt) })
	}
}

// decoded returns the paths of a list of files.
func decoded(left string) []string {
	var paths []string
	for _, f := range decodeLeft(left) {
		paths = append(paths, f.Path)
	}
	return paths
}

// The files of a run are those that it has changed, below the root of the git.repository.
func TestFilesOfARun(t *testing.T) {
	dir, l := gitrepo.New(t), memoryLedger(t)
	shell(t, dir, "mkdir below d; echo one >a; echo one >read; echo one >below/b; ln -s d link")
	age(t, dir)
	shell(t, dir, "echo two >a; echo two >below/b; echo two >d/c; mkfifo pipe")
	outside := filepath.Join(t.TempDir(), "plan")
	toolbox.Write(t, outside, "plan")
	given := []string{"b", "../read", dir + "/a", dir + "/link/c", dir + "/link/none/x", "b", outside, "..", "../pipe", "../bad\xff", "../nul\x00",
		"../" + strings.Repeat("x/", 3000) + "y", "../absent"}
	c, left := worked(t, l, filepath.Join(dir, "below"), given...)
	if got, want := decoded(left), []string{"absent", "below/b", "d/none/x", "d/c", "a"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for name, o := range map[string]*ledger.Outcome{"failed": {Exit: 1}, "without an ID": {Seen: rewrite.StreamState{Final: true}}} {
		if left := c.leftFiles(o, given); left != "" {
			t.Errorf("%s: %s", name, left)
		}
	}
	toolbox.Write(t, filepath.Join(dir, "large"), strings.Repeat("x", maxLeftBytes+1))
	if large := decodeLeft(c.leftFiles(goodRun(), []string{"../large", "../a"})); len(large) != 2 || large[0].Digest == "" || large[1].Digest != "" {
		t.Errorf("%+v", large)
	}
	stopped := goodRun()
	stopped.Exit, stopped.Seen.TurnLimit, stopped.Seen.Failed = 1, true, true
	if c.leftFiles(stopped, given) != left {
		t.Error("a run that reached its limit of turns has left other files")
	}
	if left := c.leftFiles(goodRun(), []string{"../read"}); left != "" {
		t.Errorf("a file that was only read is left: %s", left)
	}
	c.ticket.Session = 0
	if left := c.leftFiles(goodRun(), given); left != "" {
		t.Errorf("a session of the caller's: %s", left)
	}
	if paths := decoded(`[{"path":"../x"},{"path":"/etc/passwd"},{"path":"nul\u0000"},{"path":"a"}]`); !slices.Equal(paths, []string{"a"}) {
		t.Errorf("paths of another machine: %q", paths)
	}
	if paths := decoded(`{`); paths != nil {
		t.Errorf("no list: %q", paths)
	}
}

// A session's files are those of all its runs, as they are at the end of the latest one.
func TestFilesOfEarlierRuns(t *testing.T) {
	dir, l := gitrepo.New(t), memoryLedger(t)
	for i := range 40 {
		toolbox.Write(t, filepath.Join(dir, fmt.Sprint("f", i)), "one")
	}
	c, first := worked(t, l, dir, "f0", "f1", "f2", "f3")
	before := decodeLeft(first)
	age(t, dir)
	shell(t, dir, "echo two >f1; rm f2; touch -d '2 hours ago' f3") // f3 has its content, but not its time
	left := func(earlier string, given ...string) []leftFile {
		t.Helper()
		c.ticket.Left = earlier
		return decodeLeft(c.leftFiles(goodRun(), given))
	}
	again := left(first, "f1")
	if paths := decoded(c.leftFiles(goodRun(), []string{"f1"})); !slices.Equal(paths, []string{"f1", "f3", "f2", "f0"}) {
		t.Errorf("%q", paths)
	}
	if again[0].Digest == before[2].Digest || again[1].Digest != before[0].Digest || again[1].Time == before[0].Time || !again[2].Absent {
		t.Errorf("first %+v, then %+v", before, again)
	}
	// What stayed as it was is not read again.
	unread := left(`[{"path":"f0","size":3,"time":` + fmt.Sprint(again[3].Time) + `,"digest":"kept"}]`)
	if len(unread) != 1 || unread[0].Digest != "kept" {
		t.Errorf("%+v", unread)
	}
	// A file that this run has only read is still one of the earlier runs.
	if read := left(first, "f0"); !slices.ContainsFunc(read, func(f leftFile) bool { return f.Path == "f0" }) {
		t.Errorf("%+v", read)
	}
	var all []string
	for i := range 40 {
		all = append(all, fmt.Sprint("f", i))
	}
	shell(t, dir, "touch f*")
	if many := left(first, all...); len(many) != maxLeftFiles || many[0].Path != "f39" {
		t.Errorf("%d files, the first %s", len(many), many[0].Path)
	}
	if many := left(c.leftFiles(goodRun(), all), "f0"); len(many) != maxLeftFiles || many[0].Path != "f0" || many[1].Path != "f39" {
		t.Errorf("%d files, the first %s and %s", len(many), many[0].Path, many[1].Path)
	}
}

// git is started only if a file is not as it was.
func TestUnchangedWorkStartsNoGit(t *testing.T) {
	dir := gitrepo.New(t)
	shell(t, dir, "echo one >a; git add a; git commit -qm 1; echo two >a")
	c, left := worked(t, memoryLedger(t), dir, "a")
	c.record.Place = c.place(dir)
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
	if c.workGone(left, c.record.Place.Head) || started() {
		t.Errorf("unchanged: git was started: %v", started())
	}
	toolbox.Write(t, filepath.Join(dir, "a"), "one\n")
	if c.workGone(left, c.record.Place.Head) || !started() {
		t.Errorf("put back, but git fails: git was started: %v", started())
	}
}

// Comparing with a commit runs nothing that the git.repository's configuration names, and takes no answer
// from what replaces an object.
func TestWorkGoneRunsNothing(t *testing.T) {
	dir := gitrepo.New(t)
	mark := filepath.Join(t.TempDir(), "mark")
	evil := filepath.Join(t.TempDir(), "evil")
	toolbox.Write(t, evil, "#!/bin/sh\necho $0 $* >>"+mark+"\ncat\n")
	if err := os.Chmod(evil, 0o700); err != nil {
		t.Fatal(err)
	}
	shell(t, dir, "echo one >a; echo '* filter=e diff=e' >.gitattributes; git add .; git commit -qm 1; echo two >a")
	c, left := worked(t, memoryLedger(t), dir, "a")
	c.record.Place = c.place(dir)
	shell(t, dir, "git checkout -q a; git replace $(git rev-parse HEAD:a) $(echo two | git hash-object -w --stdin)")
	for key, value := range map[string]string{
		"filter.e.clean": evil, "filter.e.smudge": evil, "filter.e.process": evil, "filter.e.required": "true", "diff.e.textconv": evil, "diff.e.command": evil,
		"core.fsmonitor": evil, "core.hooksPath": filepath.Dir(evil), "core.pager": evil, "pager.ls-tree": evil, "alias.ls-tree": "!" + evil,
		"remote.origin.url": "ssh://host/x", "remote.origin.promisor": "true", "extensions.partialClone": "origin", "core.sshCommand": evil,
		"core.repositoryFormatVersion": "1",
	} {
		gitrepo.Run(t, dir, "config", key, value)
	}
	if err := os.Remove(mark); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if !c.workGone(left, c.record.Place.Head) {
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

// The guard is part of every call that may resume.
func TestWorkGoneIsAGuard(t *testing.T) {
	dir, l := gitrepo.New(t), memoryLedger(t)
	shell(t, dir, "echo one >a; git add a; git commit -qm 1; echo two >a")
	_, left := worked(t, l, dir, "a")
	shell(t, dir, "git checkout -q a")
	c := guarded(t, l, dir, t.TempDir())
	c.gather()
	if c.record.WorkGone == nil || !c.record.WorkGone(left, c.record.Place.Head) {
		t.Error("the ledger cannot learn that the work is gone")
	}
}

// BenchmarkWorkGone measures what a call pays that may resume, with as many files as are remembered.
func BenchmarkWorkGone(b *testing.B) {
	dir := gitrepo.New(b)
	var given []string
	for i := range maxLeftFiles {
		given = append(given, fmt.Sprintf("internal/package/file_%d.go", i))
		toolbox.Write(b, filepath.Join(dir, given[i]), strings.Repeat("code\n", 1000))
	}
	shell(b, dir, "git add .; git commit -qm 1; for f in internal/package/*; do echo more >>$f; done")
	c, left := worked(b, memoryLedger(b), dir, given...)
	c.record.Place = c.place(dir)
	head := c.record.Place.Head
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			if c.workGone(left, head) {
				b.Fatal("gone")
			}
		}
	})
	_, few := worked(b, memoryLedger(b), dir, given[:4]...)
	b.Run("unchanged, 4 files", func(b *testing.B) {
		for b.Loop() {
			if c.workGone(few, head) {
				b.Fatal("gone")
			}
		}
	})
	b.Run("end of a run", func(b *testing.B) {
		for b.Loop() {
			c.leftFiles(goodRun(), given)
		}
	})
	toolbox.Write(b, filepath.Join(dir, given[0]), "edited further")
	b.Run("one changed", func(b *testing.B) {
		for b.Loop() {
			if c.workGone(left, head) {
				b.Fatal("gone")
			}
		}
	})
}
