// Package gitrepo makes repositories for tests, with nothing of the user's configuration.
package gitrepo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Env is an environment that has git read nothing of the user's, and tidy nothing up.
func Env() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false",
		"GIT_CONFIG_KEY_1=init.defaultBranch", "GIT_CONFIG_VALUE_1=main")
}

// Run runs git in a directory, with nothing of the user's configuration.
func Run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return run(t, dir, "git", args...)
}

// Script is Run for a shell script.
func Script(t testing.TB, dir, script string) {
	t.Helper()
	run(t, dir, "sh", "-ec", script)
}

func run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(Env(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Commit makes a commit, and returns the ID.
func Commit(t testing.TB, dir, message string) string {
	t.Helper()
	Run(t, dir, "commit", "-q", "--allow-empty", "-m", message)
	return Run(t, dir, "rev-parse", "HEAD")
}

// New returns a new repository. From then on the test has a directory for state of its own.
func New(t testing.TB) string {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	return Init(t)
}

// Init returns a new repository, for a test with a state directory of its own.
func Init(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	Run(t, dir, "init", "-q")
	return dir
}
