package jobs

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/standin"
	"reprise/test/harness"
	"reprise/test/markers"
	"reprise/test/realcli"
	"reprise/test/servers"
)

// A fleet is machines that share a store: each has an empty home and a clone of the project, at the
// same paths, and namespaces of its own for mounts, processes and the name.
type fleet struct {
	*world
	env []string
	uid []int // of the machines' users
}

func newFleet(t *testing.T, pin realcli.Pin, env []string) *fleet {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may make machines")
	}
	w := newWorldWith(t, pin, true, markers.Options{})
	f := &fleet{w, append([]string{"REPRISE_VERBOSE=1", "REPRISE_TASK=job", "REPRISE_ROLE=coder",
		"TMPDIR=" + filepath.Join(w.Root, "tmp")}, env...), []int{0, 1234, 0}}
	// on a busy machine all takes longer
	put(t, filepath.Join(w.home(), ".config", "reprise", "config.toml"),
		"gate_timeout = '5m'\ndearer = 'resume'\n[store]\ntimeout = '1m'\n")
	put(t, filepath.Join(w.Project, "main.go"), "package main\n")
	f.git(w.Project, "add", ".")
	f.git(w.Project, "commit", "-q", "-m", "Begin")
	f.git(w.Root, "clone", "-q", "--bare", "project", "origin.git")
	w.copyAll(w.home(), filepath.Join(w.Root, "empty home"))
	real, err := realcli.Install(pin)
	if err != nil {
		t.Fatal(err)
	}
	readable := []string{w.Root, shimBin}
	for dir := real; filepath.Base(dir) != "cli"; dir = filepath.Dir(dir) {
		readable = append(readable, dir)
	}
	for _, dir := range readable {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func (f *fleet) git(dir string, args ...string) {
	f.t.Helper()
	git := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c",
		"user.email=t@example.org"}, args...)...)
	// claude names commits
	git.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z",
		"GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	if out, err := git.CombinedOutput(); err != nil {
		f.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// machine makes machine n with a new clone of the project, and returns its directory.
func (f *fleet) machine(n int) (dir string) {
	f.t.Helper()
	dir = filepath.Join(f.Root, f.named(n))
	mkdir(f.t, dir)
	f.copyAll(filepath.Join(f.Root, "empty home"), filepath.Join(dir, "home"))
	mkdir(f.t, filepath.Join(dir, "tmp"))
	f.git(dir, "clone", "-q", filepath.Join(f.Root, "origin.git"), "project")
	f.own(n, dir)
	return dir
}

func (f *fleet) named(n int) string { return fmt.Sprint("runner-", n) }

func (f *fleet) log(n int) string {
	text, _ := os.ReadFile(filepath.Join(f.Root, f.named(n), "home/.local/state/reprise/shim.log"))
	return string(text)
}

func (f *fleet) own(n int, dir string) {
	f.t.Helper()
	if out, err := exec.Command("chown", "-R", fmt.Sprint(f.uid[n], ":", f.uid[n]),
		dir).CombinedOutput(); err != nil {
		f.t.Fatalf("%v: %s", err, out)
	}
}

// on runs the tool on machine n. The CLIs lie in the home of the tests' user, which another one can
// not enter: the machine has a home of that name with nothing else in it.
func (f *fleet) on(n int, args ...string) result {
	f.t.Helper()
	account, err := user.Current() // whatever HOME says
	if err != nil {
		f.t.Fatal(err)
	}
	script := fmt.Sprintf(`exec unshare --mount --uts --pid --fork --mount-proc --kill-child sh -ec '
		hostname %[1]s
		mount --bind %[2]s/home %[3]s/home
		mount --bind %[2]s/project %[3]s/project
		mount --bind %[2]s/tmp %[3]s/tmp
		for dir in .cache/reprise .pyenv; do
			[ -e %[4]s/$dir ] || continue
			mkdir -p %[2]s/kept/$dir
			mount --bind %[4]s/$dir %[2]s/kept/$dir
		done
		mount -t tmpfs -o mode=755 home %[4]s
		mkdir -p %[2]s/kept
		cd %[2]s/kept
		for dir in .cache/reprise .pyenv; do
			[ -e $dir ] || continue
			mkdir -p %[4]s/$dir
			mount --move $dir %[4]s/$dir
		done
		cd %[3]s/project
		exec setpriv --reuid=%[5]d --regid=%[5]d --clear-groups "$0" "$@"' "$0" "$@"`,
		f.named(n), filepath.Join(f.Root, f.named(n)), f.Root, account.HomeDir, f.uid[n])
	return f.run(f.Tool, harness.Call{Args: args, Around: script, Env: f.env})
}

// Three rounds on three machines send the model the same requests as on one.
func TestFleet(t *testing.T) {
	table := map[string]func(t *testing.T){}
	for name, does := range travelers {
		for _, kind := range []servers.Kind{servers.Versitygw} {
			table[name+" on "+kind.Name] = func(t *testing.T) {
				threeRounds(t, does, startStore(t, kind))
			}
		}
	}
	each(t, table, func(t *testing.T, _ string, test func(*testing.T)) { test(t) })
}

// startStore returns the variables of a new store. It skips the test where there is no such server.
func startStore(t *testing.T, kind servers.Kind) (env []string) {
	t.Helper()
	server, err := kind.Start(t.Context(), false)
	if errors.Is(err, servers.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	url := server.Fresh()
	key := make([]byte, 32)
	rand.Read(key)
	env = []string{"REPRISE_STORE=" + url, "REPRISE_STORE_KEY=" + hex.EncodeToString(key),
		"REPRISE_PROJECT=org/repo"}
	for name, value := range server.Env {
		env = append(env, name+"="+value)
	}
	return env
}

func threeRounds(t *testing.T, does traveler, env []string) {
	f, alone := newFleet(t, does.pin, env), newFleet(t, does.pin, nil)
	alone.machine(0)
	prompt := round("RUN<<echo travels>>")
	for n := range 3 {
		if n > 0 {
			prompt += fmt.Sprintf("\n\n## Rejection %d\n\nYour change fails a test. What number "+
				"was it?", n)
		}
		args := append(does.first[:len(does.first):len(does.first)], prompt)
		f.machine(n)
		want := map[bool]string{true: "fresh (first_call)", false: "resume (extends)"}[n == 0]
		r, stayed := f.on(n, args...), alone.on(0, args...)
		for where, out := range map[string]result{f.named(n): r, "one machine": stayed} {
			if !strings.Contains(out.Stderr, want) || out.Exit != 0 {
				t.Fatalf("on %s: exit %d, stderr %q, stdout %q\n%s", where, out.Exit, out.Stderr,
					out.Stdout, f.log(n))
			}
		}
		if n > 0 && strings.Contains(standin.LastUser(r.last(t)), "Rule 1:") {
			t.Errorf("on %s the whole prompt was sent\n%s", f.named(n), f.log(n))
		}
		r.Stderr, stayed.Stderr = "", "" // codex prints there how much was cached
		for _, d := range harness.Compare(alone.World, f.World, stayed.Result, r.Result) {
			t.Errorf("on %s: %s", f.named(n), d)
		}
	}
}
