package binary

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/shim/front"
	"reprise/test/toolbox"

	"golang.org/x/sys/unix"
)

// A child that a program leaves behind with its output is not waited for, and does not lose the
// program's output.
func TestAskWaitsForNoChild(t *testing.T) {
	path := toolbox.Program(t, t.TempDir(), "tool",
		"#!/bin/sh\n(sleep 20; echo late) &\necho $! $*\n")
	out, err := ask(path, os.Environ(), 10*time.Second, "--help")
	pid, said, _ := strings.Cut(string(out), " ")
	if err != nil || said != "--help\n" {
		t.Errorf("%q, %v", out, err)
	}
	child, _ := strconv.Atoi(pid)
	if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
		t.Errorf("the child: %v", err)
	}
}

// A descriptor that the caller has left open is for the tool, not for the probe, which can live
// longer.
func TestAskKeepsDescriptorsBack(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	fd, err := unix.FcntlInt(w.Fd(), unix.F_DUPFD, 100) // a shell opens its script as 10
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	path := toolbox.Program(t, t.TempDir(), "tool",
		fmt.Sprintf("#!/bin/sh\n[ -e /proc/self/fd/%d ] && echo open || echo closed\n", fd))
	if out, err := ask(path, os.Environ(), 10*time.Second); err != nil ||
		string(out) != "closed\n" {
		t.Errorf("%q, %v", out, err)
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags != 0 {
		t.Errorf("the tool does not get it: flags %d, %v", flags, err)
	}
}

// Some programs write their help to stderr.
func TestAskReadsStderrOfASilentProgram(t *testing.T) {
	for script, want := range map[string]string{"echo help >&2": "help\n",
		"echo warning >&2; echo help": "help\n"} {
		path := toolbox.Program(t, t.TempDir(), "tool", "#!/bin/sh\n"+script+"\n")
		if out, err := ask(path, os.Environ(), 10*time.Second, "--help"); err != nil ||
			string(out) != want {
			t.Errorf("%s: %q, %v", script, out, err)
		}
	}
}

// When the time is up all that still runs is ended, children too.
func TestAskKeepsItsLimit(t *testing.T) {
	dir := t.TempDir()
	path := toolbox.Program(t, dir, "tool",
		"#!/bin/sh\ntrap '' TERM INT HUP\nsleep 60 &\necho $! >"+dir+"/pid\nwait\n")
	done := make(chan error, 1)
	go func() {
		_, err := ask(path, os.Environ(), 500*time.Millisecond)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("no error")
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it is waited for all the same")
	}
	text, err := os.ReadFile(dir + "/pid")
	if err != nil {
		t.Fatal(err)
	}
	child, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	for range 500 {
		if state, err := os.ReadFile("/proc/" + strconv.Itoa(child) + "/stat"); err != nil ||
			strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("its child lives on")
}

// Two builds of a binary have two fingerprints, be they of one size or of one time; one build has
// one.
func TestFingerprint(t *testing.T) {
	path := toolbox.Program(t, t.TempDir(), "tool", "#!/bin/sh\necho one\n")
	fingerprint := func() string {
		t.Helper()
		found, err := Resolve("tool", path, "", "")
		if err != nil || found.ID != front.Identify(path) {
			t.Fatalf("%q, %v", found.ID, err)
		}
		return found.Fingerprint()
	}
	then := time.Now().Add(-time.Hour)
	seen := map[string]string{}
	for _, tt := range []struct {
		what, text string
		age        time.Duration
	}{
		{"first", "#!/bin/sh\necho one\n", 0},
		{"another time", "#!/bin/sh\necho two\n", time.Nanosecond},
		{"another size", "#!/bin/sh\necho more\n", 0},
	} {
		if err := os.WriteFile(path, []byte(tt.text), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, then, then.Add(-tt.age)); err != nil {
			t.Fatal(err)
		}
		got := fingerprint()
		if was, ok := seen[got]; ok || got != fingerprint() {
			t.Errorf("%s: %q, as %q", tt.what, got, was)
		}
		seen[got] = tt.what
	}
}

func TestExecutablePath(t *testing.T) {
	if got := front.Identify(Executable()); got != front.Self() {
		t.Errorf("%s is %q", Executable(), got)
	}
}

func TestVersionWithoutRunning(t *testing.T) {
	const entry = "[console_scripts]\nother=x:main\ntool = pkg.cli:main\n"
	tests := []struct {
		name  string
		files map[string]string
		path  string
		want  string
	}{
		{"named by it", map[string]string{"versions/2.1.329": ""}, "versions/2.1.329", "2.1.329"},
		{"npm",
			map[string]string{"pkg/package.json": `{"version":"0.61.0","bin":{"tool":"bundle/tool"}}`, "pkg/bundle/tool": ""}, "pkg/bundle/tool", "0.61.0"},
		{"no version: two numbers", map[string]string{"versions/2.1": ""}, "versions/2.1", ""},
		{"no version: words", map[string]string{"versions/a.b.c": ""}, "versions/a.b.c", ""},
		{"npm, as deep as is looked",
			map[string]string{"pkg/package.json": `{"version":"1.2.3","bin":{"tool":"a/b/tool"}}`,
				"pkg/a/b/tool": ""}, "pkg/a/b/tool", "1.2.3"},
		{"npm, deeper",
			map[string]string{"pkg/package.json": `{"version":"1.2.3","bin":{"tool":"a/b/c/tool"}}`,
				"pkg/a/b/c/tool": ""}, "pkg/a/b/c/tool", ""},
		{"npm, in a directory with a package of another kind", map[string]string{
			"pkg/package.json":     `{"version":"1.2.3","bin":{"tool":"bin/tool"}}`,
			"pkg/bin/package.json": "{", "pkg/bin/tool": ""}, "pkg/bin/tool", "1.2.3"},
		{"a version manager's program", map[string]string{
			"pkg/package.json": `{"version":"1.2.3","bin":{"mise":"bin/mise"}}`,
			"pkg/bin/mise":     ""}, "pkg/bin/mise", ""},
		{"npm, for one platform", map[string]string{
			"node_modules/pkg/package.json": `{"version":"1.2.3"}`,
			"node_modules/pkg/bin/tool":     ""}, "node_modules/pkg/bin/tool", "1.2.3"},
		{"somebody's own package",
			map[string]string{"pkg/package.json": `{"version":"1.0.0"}`, "pkg/bin/tool": ""},
			"pkg/bin/tool", ""},
		{"another package's",
			map[string]string{"pkg/package.json": `{"version":"1.0.0","bin":{"x":"y"}}`,
				"pkg/bin/tool": ""}, "pkg/bin/tool", ""},
		{"python", map[string]string{
			"bin/tool": "",
			"lib/python3.12/site-packages/a_tool-3.0.3.dist-info/entry_points.txt": entry,
			"lib/python3.12/site-packages/b-9.9.dist-info/entry_points.txt":        "[console_scripts]\ntoolbox=b:main\n",
		}, "bin/tool", "3.0.3"},
		{"two pythons, one version", map[string]string{
			"bin/tool": "",
			"lib/python3.12/site-packages/a_tool-3.0.3.dist-info/entry_points.txt": entry,
			"lib/python3.13/dist-packages/a_tool-3.0.3.dist-info/entry_points.txt": entry,
		}, "bin/tool", "3.0.3"},
		{"two versions", map[string]string{
			"bin/tool": "",
			"lib/python3.12/site-packages/a_tool-3.0.3.dist-info/entry_points.txt": entry,
			"lib/python3.13/site-packages/a_tool-3.0.4.dist-info/entry_points.txt": entry,
		}, "bin/tool", ""},
		{"nothing", map[string]string{"bin/tool": ""}, "bin/tool", ""},
		{"a name that is no UTF-8", map[string]string{"bin/t\xe9": ""}, "bin/t\xe9", ""},
	}
	for _, tt := range tests {
		root := t.TempDir()
		for name, text := range tt.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		link := filepath.Join(root, "link")
		if err := os.Symlink(filepath.Join(root, tt.path), link); err != nil {
			t.Fatal(err)
		}
		real, err := Resolve(filepath.Base(link), link, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if got := real.Version(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if got := Version(link, nil); got != tt.want { // none of the files would print a version
			t.Errorf("%s: %q where it may be asked, want %q", tt.name, got, tt.want)
		}
	}
}

// An entry beside a binary that is no regular file does not tell the version, and is not waited
// for.
func TestVersionBesideAFIFO(t *testing.T) {
	dir := t.TempDir()
	for _, fifo := range []string{"package.json",
		"lib/python3.12/site-packages/x-1.0.dist-info/entry_points.txt"} {
		path := filepath.Join(dir, fifo)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if version := (Program{Real: filepath.Join(dir, "bin/tool")}).Version(); version != "" {
		t.Error(version)
	}
}
