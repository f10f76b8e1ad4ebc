package e2e

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/standin"
	"reprise/scripts/parity"
	"reprise/scripts/realcli"
	"reprise/scripts/servers"
)

// A fleet is machines that share a store: each has an empty home and a clone of the project, at the same paths,
// and namespaces of its own for mounts, processes and its name.
type fleet struct {
	*world
	env []string // of the store
	uid []int    // of the machines' users
}

func newFleet(t *testing.T, pin realcli.Pin, url string) *fleet {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may make machines")
	}
	w := newWorldWith(t, pin, true, standin.Options{})
	key := make([]byte, 32)
	rand.Read(key)
	f := &fleet{w, []string{"REPRISE_STORE=" + url, "REPRISE_STORE_KEY=" + hex.EncodeToString(key), "REPRISE_PROJECT=org/repo"}, []int{0, 1234, 0}}
	put(t, filepath.Join(w.Project, "main.go"), "package main\n")
	f.git(w.Project, "add", ".")
	f.git(w.Project, "commit", "-q", "-m", "Begin")
	f.git(w.Root, "clone", "-q", "--bare", "project", "origin.git")
	w.copyAll(w.home(), filepath.Join(w.Root, "empty home"))
	for _, dir := range []string{w.Root, shimBin} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func (f *fleet) git(dir string, args ...string) {
	f.t.Helper()
	git := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
	if out, err := git.CombinedOutput(); err != nil {
		f.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// machine makes machine n with a new clone of the project, and returns its directory.
func (f *fleet) machine(n int) (dir string) {
	f.t.Helper()
	dir = filepath.Join(f.Root, fmt.Sprint("machine", n))
	mkdir(f.t, dir)
	f.copyAll(filepath.Join(f.Root, "empty home"), filepath.Join(dir, "home"))
	f.git(dir, "clone", "-q", filepath.Join(f.Root, "origin.git"), "project")
	f.own(n, dir)
	return dir
}

func (f *fleet) own(n int, dir string) {
	f.t.Helper()
	if out, err := exec.Command("chown", "-R", fmt.Sprint(f.uid[n], ":", f.uid[n]), dir).CombinedOutput(); err != nil {
		f.t.Fatalf("%v: %s", err, out)
	}
}

// on runs the tool on machine n. The user may read the CLIs, which lie in another user's home.
func (f *fleet) on(n int, env []string, args ...string) result {
	f.t.Helper()
	user := fmt.Sprintf("setpriv --reuid=%d --regid=%[1]d --clear-groups --inh-caps=+dac_read_search --ambient-caps=+dac_read_search", f.uid[n])
	script := fmt.Sprintf(`exec unshare --mount --uts --pid --fork --mount-proc --kill-child sh -c '
		hostname runner-%d && mount --bind %[2]s/home %[3]s/home && mount --bind %[2]s/project %[3]s/project && cd %[3]s/project &&
		exec %[4]s "$0" "$@"' "$0" "$@"`, n, filepath.Join(f.Root, fmt.Sprint("machine", n)), f.Root, user)
	return f.run(f.Tool, parity.Call{Args: args, Around: script, Env: append(f.env[:len(f.env):len(f.env)], env...)})
}

// engines are the servers that machines share.
var engines = map[string]servers.Kind{"s3": servers.Versitygw}

// Three rounds on three machines send the model what they send it on one.
func TestFleet(t *testing.T) {
	each(t, travelers, func(t *testing.T, _ string, does traveler) {
		for engine, kind := range engines {
			t.Run(engine, func(t *testing.T) {
				server, err := kind.Start(t.Context(), false)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = server.Stop() })
				url, err := server.Fresh(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				threeRounds(t, does, server, url)
			})
		}
	})
}

func threeRounds(t *testing.T, does traveler, server *servers.Server, url string) {
	f := newFleet(t, does.pin, url)
	for name, value := range server.Env {
		f.env = append(f.env, name+"="+value)
	}
	alone := newWorldWith(t, does.pin, true, standin.Options{})
	prompt := round("RUN<<echo travels>>")
	for n := range 3 {
		if n > 0 {
			prompt += fmt.Sprintf("\n\n## Rejection %d\n\nYour change fails a test. What number was it?", n)
		}
		args := append(does.first[:len(does.first):len(does.first)], prompt)
		f.machine(n)
		r, one := f.on(n, []string{"REPRISE_VERBOSE=1"}, args...), alone.call(args...)
		if want := map[bool]string{true: "fresh", false: "resume"}[n == 0]; !strings.Contains(r.Stderr, ": "+want+" (") || r.Exit != 0 {
			log, _ := os.ReadFile(filepath.Join(f.Root, fmt.Sprint("machine", n), "home/.local/state/reprise/reprise.log"))
			t.Fatalf("on machine %d: exit %d, stderr %q, stdout %q\n%s", n, r.Exit, r.Stderr, r.Stdout, log)
		}
		if len(r.Asked) != len(one.Asked) {
			t.Fatalf("on machine %d the model was asked %d times, %d on one machine", n, len(r.Asked), len(one.Asked))
		}
	}
}
