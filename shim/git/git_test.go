package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/rewrite/reason"
	"reprise/test/gitrepo"
	"reprise/test/toolbox"
)

func TestHeadIsReadAsGitDoes(t *testing.T) {
	dir := gitrepo.New(t)
	check := func(what, at string) {
		t.Helper()
		repo, err := Find(at)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		branch, head := repo.Head(os.Environ())
		want := gitrepo.Run(t, at, "rev-parse", "-q", "--verify", "HEAD")
		wantBranch, _ := exec.Command("git", "-C", at, "symbolic-ref", "-q", "HEAD").Output()
		if head != want || branch != strings.TrimSpace(string(wantBranch)) {
			t.Errorf("%s: %q at %q, want %q at %q", what, branch, head, wantBranch, want)
		}
		if root := gitrepo.Run(t, at, "rev-parse", "--show-toplevel"); repo.Root != root {
			t.Errorf("%s: root %s, want %s", what, repo.Root, root)
		}
	}
	repo, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if branch, head := repo.Head(nil); branch != "refs/heads/main" || head != "" {
		t.Errorf("before the first commit: %q at %q", branch, head)
	}
	gitrepo.Commit(t, dir, "1")
	check("a branch", dir)
	below := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	check("below", below)
	gitrepo.Run(t, dir, "checkout", "-q", "-b", "some/branch")
	gitrepo.Commit(t, dir, "2")
	check("a branch in a directory", dir)
	gitrepo.Run(t, dir, "pack-refs", "--all")
	check("packed", dir)
	tree := filepath.Join(t.TempDir(), "tree")
	gitrepo.Run(t, dir, "worktree", "add", "-q", "-b", "third", tree)
	gitrepo.Commit(t, tree, "3")
	check("a work tree", tree)
	gitrepo.Run(t, dir, "checkout", "-q", "--detach")
	check("detached", dir)
	if _, err := Find("/"); err == nil {
		t.Error("the root of all is in a repository")
	}
}

func TestHeadWithoutFilesOfBranches(t *testing.T) {
	dir := gitrepo.New(t)
	if err := exec.Command("git", "-C", dir, "init", "-q",
		"--ref-format=reftable", "other").Run(); err != nil {
		t.Skip("this git has no reftable")
	}
	dir = filepath.Join(dir, "other")
	want := gitrepo.Commit(t, dir, "1")
	repo, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if branch, head := repo.Head(os.Environ()); head != want ||
		!strings.HasPrefix(branch, "refs/heads/") {
		t.Errorf("%q at %q, want %q", branch, head, want)
	}
}

func TestHistory(t *testing.T) {
	dir := gitrepo.New(t)
	first := gitrepo.Commit(t, dir, "1")
	second := gitrepo.Commit(t, dir, "2")
	nowhere := []string{"PATH=" + t.TempDir()}
	check := func(what, from, to string, want error) {
		t.Helper()
		if got := History(dir, from, to, os.Environ()); got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("a commit on top", first, second, nil)
	check("back", second, first, reason.CommitGone)
	third := gitrepo.Commit(t, dir, "3")
	check("two commits on top", first, third, nil)
	gitrepo.Run(t, dir, "reset", "-q", "--hard", second)
	check("taken back", third, second, reason.CommitGone)
	again := gitrepo.Commit(t, dir, "4")
	check("taken back, and another on top", third, again, reason.CommitGone)
	check("on top of what was there before", second, again, nil)
	check("on top of what was there long before", first, again, nil)
	gitrepo.Run(t, dir, "commit", "-q", "--amend", "--allow-empty", "-m", "commit: 5")
	amended := gitrepo.Run(t, dir, "rev-parse", "HEAD")
	check("amended", again, amended, reason.CommitGone)
	gitrepo.Run(t, dir, "checkout", "-q", "-b", "side", first)
	side := gitrepo.Commit(t, dir, "6")
	gitrepo.Run(t, dir, "merge", "-q", "--no-ff", "-m", "7", "main")
	check("merged", side, gitrepo.Run(t, dir, "rev-parse", "HEAD"), nil)
	check("a commit that is not there", strings.Repeat("0", 40), amended, reason.CommitUnknown)
	check("a branch without a commit", second, "", reason.CommitGone)
	t.Setenv("PATH", nowhere[0][len("PATH="):])
	if got := History(dir, first, side, nowhere); got != reason.CommitUnknown {
		t.Errorf("without git: %q", got)
	}
	for _, git := range []string{"exit 128", "exit 2", "exec sleep 60", "kill -9 $$"} {
		path := t.TempDir()
		toolbox.Write(t, filepath.Join(path, "git"), "#!/bin/sh\n"+git+"\n")
		if err := os.Chmod(filepath.Join(path, "git"), 0o700); err != nil {
			t.Fatal(err)
		}
		func() {
			defer func(before time.Duration) { Timeout = before }(Timeout)
			Timeout = time.Second
			t.Setenv("PATH", path+":/usr/bin:/bin")
			if got := History(dir, first, side,
				[]string{"PATH=" + os.Getenv("PATH")}); got != reason.CommitUnknown {
				t.Errorf("git does %q: %q", git, got)
			}
		}()
	}
}

// A program that a repository's configuration names is not run, and nothing is fetched for an
// answer.
func TestGitRunsNothing(t *testing.T) {
	dir := gitrepo.New(t)
	first := gitrepo.Commit(t, dir, "1")
	mark := filepath.Join(t.TempDir(), "mark")
	evil := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho $0 $* >>"+mark+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	second := gitrepo.Commit(t, dir, "2")
	gitrepo.Run(t, dir, "gc", "-q")
	for key, value := range map[string]string{
		"core.fsmonitor": evil, "core.sshCommand": evil, "core.pager": evil,
		"core.hooksPath": filepath.Dir(evil), "core.editor": evil,
		"alias.merge-base": "!" + evil, "diff.external": evil, "core.gitProxy": evil,
		"credential.helper": "!" + evil,
		"remote.origin.url": "ssh://host/x", "remote.origin.promisor": "true",
		"extensions.partialClone":      "origin",
		"core.repositoryFormatVersion": "1", "uploadpack.packObjectsHook": evil,
	} {
		gitrepo.Run(t, dir, "config", key, value)
	}
	if err := os.Remove(filepath.Join(dir, ".git", "logs", "HEAD")); err != nil {
		t.Fatal(err)
	}
	if History(dir, first, second, os.Environ()) != nil ||
		History(dir, strings.Repeat("1", 40), second, os.Environ()) == nil {
		t.Error("git does not answer")
	}
	if text, err := os.ReadFile(mark); err == nil {
		t.Errorf("git has run %s", text)
	}
}

func TestRemotes(t *testing.T) {
	dir := gitrepo.New(t)
	gitrepo.Run(t, dir, "remote", "add", "origin", "https://x-access-token:SECRET@host:443/a/b.git")
	gitrepo.Run(t, dir, "remote", "add", "other", "git@host:a/c.git")
	repo, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := repo.Remotes(), "https://host:443/a/b.git\ngit@host:a/c.git"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
