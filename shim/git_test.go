package shim

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/rewrite/reason"
)

// gitIn runs git in a directory, with nothing of the user's configuration.
func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func commit(t testing.TB, dir, message string) string {
	t.Helper()
	gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", message)
	return gitIn(t, dir, "rev-parse", "HEAD")
}

// newRepository returns a new repository. From then on the test has a directory for state of its own.
func newRepository(t testing.TB) string {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, "init", "-q")
	return dir
}

func TestHeadIsReadAsGitDoes(t *testing.T) {
	dir := newRepository(t)
	check := func(what, at string) {
		t.Helper()
		repo, err := findRepository(at)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		branch, head := repo.head(os.Environ())
		want := gitIn(t, at, "rev-parse", "-q", "--verify", "HEAD")
		wantBranch, _ := exec.Command("git", "-C", at, "symbolic-ref", "-q", "HEAD").Output()
		if head != want || branch != strings.TrimSpace(string(wantBranch)) {
			t.Errorf("%s: %q at %q, want %q at %q", what, branch, head, wantBranch, want)
		}
		if root := gitIn(t, at, "rev-parse", "--show-toplevel"); repo.root != root {
			t.Errorf("%s: root %s, want %s", what, repo.root, root)
		}
	}
	repo, err := findRepository(dir)
	if err != nil {
		t.Fatal(err)
	}
	if branch, head := repo.head(nil); branch != "refs/heads/main" || head != "" {
		t.Errorf("before the first commit: %q at %q", branch, head)
	}
	commit(t, dir, "1")
	check("a branch", dir)
	below := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	check("below", below)
	gitIn(t, dir, "checkout", "-q", "-b", "some/branch")
	commit(t, dir, "2")
	check("a branch in a directory", dir)
	gitIn(t, dir, "pack-refs", "--all")
	check("packed", dir)
	tree := filepath.Join(t.TempDir(), "tree")
	gitIn(t, dir, "worktree", "add", "-q", "-b", "third", tree)
	commit(t, tree, "3")
	check("a work tree", tree)
	gitIn(t, dir, "checkout", "-q", "--detach")
	check("detached", dir)
	if _, err := findRepository("/"); err == nil {
		t.Error("the root of all is in a repository")
	}
}

func TestHeadWithoutFilesOfBranches(t *testing.T) {
	dir := newRepository(t)
	if err := exec.Command("git", "-C", dir, "init", "-q", "--ref-format=reftable", "other").Run(); err != nil {
		t.Skip("this git has no reftable")
	}
	dir = filepath.Join(dir, "other")
	want := commit(t, dir, "1")
	repo, err := findRepository(dir)
	if err != nil {
		t.Fatal(err)
	}
	if branch, head := repo.head(os.Environ()); head != want || !strings.HasPrefix(branch, "refs/heads/") {
		t.Errorf("%q at %q, want %q", branch, head, want)
	}
}

func TestHistory(t *testing.T) {
	dir := newRepository(t)
	first := commit(t, dir, "1")
	second := commit(t, dir, "2")
	repo, err := findRepository(dir)
	if err != nil {
		t.Fatal(err)
	}
	nowhere := []string{"PATH=" + t.TempDir()}
	check := func(what, from, to string, logged bool, want reason.Code) {
		t.Helper()
		if got := repo.loggedCommits(from, to); got != logged {
			t.Errorf("%s: the log says %v, want %v", what, got, logged)
		}
		if got := repo.history(from, to, os.Environ()); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	check("a commit on top", first, second, true, "")
	check("back", second, first, false, reason.CommitGone)
	third := commit(t, dir, "3")
	check("two commits on top", first, third, true, "")
	gitIn(t, dir, "reset", "-q", "--hard", second)
	check("taken back", third, second, false, reason.CommitGone)
	again := commit(t, dir, "4")
	check("taken back, and another on top", third, again, false, reason.CommitGone)
	check("on top of what was there before", second, again, true, "")
	check("on top of what was there long before", first, again, false, "")
	gitIn(t, dir, "commit", "-q", "--amend", "--allow-empty", "-m", "commit: 5")
	amended := gitIn(t, dir, "rev-parse", "HEAD")
	check("amended", again, amended, false, reason.CommitGone)
	gitIn(t, dir, "checkout", "-q", "-b", "side", first)
	side := commit(t, dir, "6")
	gitIn(t, dir, "merge", "-q", "--no-ff", "-m", "7", "main")
	check("merged", side, gitIn(t, dir, "rev-parse", "HEAD"), false, "")
	check("a commit that is not there", strings.Repeat("0", 40), amended, false, reason.CommitUnknown)
	check("a branch without a commit", second, "", false, reason.CommitGone)
	if err := os.Remove(filepath.Join(dir, ".git", "logs", "HEAD")); err != nil {
		t.Fatal(err)
	}
	check("without a log", first, side, false, "")
	t.Setenv("PATH", nowhere[0][len("PATH="):])
	if got := repo.history(first, side, nowhere); got != reason.CommitUnknown {
		t.Errorf("without git and a log: %q", got)
	}
	for _, git := range []string{"exit 128", "exit 2", "exec sleep 60", "kill -9 $$"} {
		path := t.TempDir()
		put(t, filepath.Join(path, "git"), "#!/bin/sh\n"+git+"\n")
		if err := os.Chmod(filepath.Join(path, "git"), 0o700); err != nil {
			t.Fatal(err)
		}
		func() {
			defer func(before time.Duration) { gitTimeout = before }(gitTimeout)
			gitTimeout = time.Second
			t.Setenv("PATH", path+":/usr/bin:/bin")
			if got := repo.history(first, side, []string{"PATH=" + os.Getenv("PATH")}); got != reason.CommitUnknown {
				t.Errorf("git does %q: %q", git, got)
			}
		}()
	}
}

// What a repository's configuration names is not run, and nothing is fetched for an answer.
func TestGitRunsNothing(t *testing.T) {
	dir := newRepository(t)
	first := commit(t, dir, "1")
	mark := filepath.Join(t.TempDir(), "mark")
	evil := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho $0 $* >>"+mark+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	second := commit(t, dir, "2")
	gitIn(t, dir, "gc", "-q")
	for key, value := range map[string]string{
		"core.fsmonitor": evil, "core.sshCommand": evil, "core.pager": evil, "core.hooksPath": filepath.Dir(evil), "core.editor": evil,
		"alias.merge-base": "!" + evil, "diff.external": evil, "core.gitProxy": evil, "credential.helper": "!" + evil,
		"remote.origin.url": "ssh://host/x", "remote.origin.promisor": "true", "extensions.partialClone": "origin",
		"core.repositoryFormatVersion": "1", "uploadpack.packObjectsHook": evil,
	} {
		gitIn(t, dir, "config", key, value)
	}
	repo, err := findRepository(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, ".git", "logs", "HEAD")); err != nil {
		t.Fatal(err)
	}
	if repo.history(first, second, os.Environ()) != "" || repo.history(strings.Repeat("1", 40), second, os.Environ()) == "" {
		t.Error("git does not answer")
	}
	if text, err := os.ReadFile(mark); err == nil {
		t.Errorf("git has run %s", text)
	}
}

func TestRemotes(t *testing.T) {
	dir := newRepository(t)
	gitIn(t, dir, "remote", "add", "origin", "https://x-access-token:SECRET@host:443/a/b.git")
	gitIn(t, dir, "remote", "add", "other", "git@host:a/c.git")
	repo, err := findRepository(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := repo.remotes(), "https://host:443/a/b.git\ngit@host:a/c.git"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
