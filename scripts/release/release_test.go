package main

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/test/toolbox"
)

// checkout copies the files of the working tree that git knows.
func checkout(t *testing.T) string {
	t.Helper()
	list, err := exec.Command("git", "-C", "../..", "ls-files", "-z").Output()
	if err != nil {
		t.Skip("not in a git checkout")
	}
	dir := t.TempDir()
	for _, name := range strings.Split(strings.TrimRight(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			continue // removed, and not committed yet
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func built(t *testing.T, root string) string {
	t.Helper()
	needs(t, "go", "git")
	if os.Getenv("REPRISE_E2E") != "1" || runtime.GOOS != "linux" {
		t.Skip("set REPRISE_E2E=1 to build releases, on Linux")
	}
	r := release{
		root: root, out: filepath.Join(t.TempDir(), "out"), arches: []string{runtime.GOARCH},
		version: "v1.2.3", commit: "abc", time: time.Unix(1_700_000_000, 0).UTC(),
	}
	if toolbox.Everything() {
		r.arches = slices.DeleteFunc(slices.Sorted(maps.Keys(compilers)), func(arch string) bool {
			_, err := compilerFor(arch)
			return err != nil
		})
	}
	if err := r.build(); err != nil {
		t.Fatal(err)
	}
	return r.out
}

// The same source gives the same bytes, in another directory and at another time. Each package can
// be installed, starts, and goes without a trace.
func TestRelease(t *testing.T) {
	first := built(t, "../..")
	sameFiles(t, first, built(t, checkout(t)))
	shell(t, first, "sha256sum -c --quiet SHA256SUMS")
	for name, test := range packages {
		t.Run(name, func(t *testing.T) { test(t, first) })
	}
	t.Run("arm64", func(t *testing.T) { testEmulated(t, first) })
}

// sameFiles checks that each file of one directory is the same in another.
func sameFiles(t *testing.T, first, second string) {
	t.Helper()
	entries, err := os.ReadDir(first)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		a, err := os.ReadFile(filepath.Join(first, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(second, e.Name()))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs between two builds (%v)", e.Name(), err)
		}
	}
}

// testEmulated starts the programs of another machine.
func testEmulated(t *testing.T, release string) {
	needs(t, "qemu-aarch64-static")
	archive := filepath.Join(release, "reprise-v1.2.3-linux-arm64.tar.gz")
	if _, err := os.Stat(archive); err != nil {
		t.Skip("set REPRISE_ALL=1 to build it")
	}
	dir := t.TempDir()
	shell(t, dir, "tar xzf "+archive+" --strip-components=1")
	said := shell(t, dir, "qemu-aarch64-static bin/shimctl version")
	if said != "reprise v1.2.3 (abc)\n" {
		t.Errorf("shimctl says %q", said)
	}
	said = shell(t, dir, "HOME=$PWD PATH=/none "+tool(t, "qemu-aarch64-static")+
		" bin/vibe --version 2>&1 || true")
	if !strings.HasPrefix(said, "reprise: vibe: ") {
		t.Errorf("the shim says %q", said)
	}
}

// The licence of each module that is linked is in the release.
func TestLicenses(t *testing.T) {
	toolbox.Long(t)
	programs := t.TempDir()
	for _, p := range all {
		shell(t, "../..", "CGO_ENABLED="+map[bool]string{true: "1", false: "0"}[p.c]+
			" go build -o "+filepath.Join(programs, p.name)+" ./cmd/"+p.name)
	}
	r := &release{root: "../.."}
	linked, err := modules(programs)
	if err != nil {
		t.Fatal(err)
	}
	text, err := r.licenses(linked)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range linked {
		if !strings.Contains(string(text), "\n"+m.Path+" "+m.Version+"\n") {
			t.Errorf("%s is missing", m.Path)
		}
	}
	if n := strings.Count(string(text), "Copyright"); n < 20 || len(linked) < 20 {
		t.Errorf("%d copyrights of %d modules", n, len(linked))
	}
	if _, err := licenseTexts(programs); err == nil {
		t.Error("a module without a licence is accepted")
	}
}

func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestVersions(t *testing.T) {
	at := time.Unix(1_700_000_000, 0).UTC()
	const untagged = "0.0.0-0.20231114.g0123456"
	for described, want := range map[string]string{
		"v1.2.3":                 "1.2.3",
		"v1.2.3-4-gabcdef":       untagged,
		"v1.2.3-rc.1":            "1.2.3-rc.1",
		"v1.2.3-rc.1-4-g0123456": untagged,
		"abcdef1":                untagged,
		"0123456":                untagged,
	} {
		r := release{version: described, commit: "0123456", time: at}
		if got := r.npmVersion(); got != want {
			t.Errorf("%s: got %q, want %q", described, got, want)
		}
	}
}

func TestOut(t *testing.T) {
	for out, ok := range map[string]bool{"": false, "../..": false, "../../bin/release": false,
		"../../../elsewhere": true, "/elsewhere": true, "/": false} {
		if err := (&release{root: "../..", out: out}).checkOut(); (err == nil) != ok {
			t.Errorf("%q: %v", out, err)
		}
	}
}
