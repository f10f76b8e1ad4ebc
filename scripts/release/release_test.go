package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// checkout copies what git knows of the working tree.
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
	for _, tool := range []string{"dpkg-deb", "go", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs " + tool)
		}
	}
	if os.Getenv("REPRISE_E2E") == "" || runtime.GOOS != "linux" {
		t.Skip("set REPRISE_E2E to build releases, on Linux")
	}
	out := filepath.Join(t.TempDir(), "out")
	r := release{root: root, out: out, arches: []string{runtime.GOARCH}, version: "v1.2.3", commit: "abc", time: time.Unix(1_700_000_000, 0).UTC(), maintainer: noMaintainer}
	if err := r.build(); err != nil {
		t.Fatal(err)
	}
	return out
}

// The same source gives the same bytes, in another directory and at another time; what is built can be installed, starts, and
// goes without a trace.
func TestRelease(t *testing.T) {
	one := built(t, "../..")
	two := built(t, checkout(t))
	entries, err := os.ReadDir(one)
	if err != nil || len(entries) != 4 {
		t.Fatalf("%d files, %v", len(entries), err)
	}
	for _, e := range entries {
		a, err := os.ReadFile(filepath.Join(one, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(two, e.Name()))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs between two builds (%v)", e.Name(), err)
		}
	}
	shell(t, one, "sha256sum -c --quiet SHA256SUMS")
	bill, err := os.ReadFile(filepath.Join(one, "reprise-v1.2.3-linux-"+runtime.GOARCH+".cdx.json"))
	if err != nil || !strings.Contains(string(bill), `"pkg:golang/github.com/mattn/go-sqlite3@`) {
		t.Errorf("the list of what is in it lacks SQLite (%v): %s", err, bill)
	}

	unpacked := t.TempDir()
	shell(t, unpacked, "tar xzf "+one+"/*.tar.gz --strip-components=1")
	if said := shell(t, unpacked, "bin/shimctl version"); said != "reprise v1.2.3 (abc)\n" {
		t.Errorf("shimctl says %q", said)
	}
	if said := shell(t, unpacked, "HOME=$PWD/home PATH=$PWD/none bin/vibe --version 2>&1 || true"); !strings.HasPrefix(said, "reprise: vibe: ") {
		t.Errorf("the shim says %q", said)
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "sbom.cdx.json", "completions/_shimctl"} {
		if _, err := os.Stat(filepath.Join(unpacked, name)); err != nil {
			t.Error(err)
		}
	}
	t.Run("dpkg", func(t *testing.T) { install(t, one) })
}

// install puts the package into a system of its own and takes it away again.
func install(t *testing.T, packages string) {
	if _, err := exec.LookPath("dpkg"); err != nil || os.Geteuid() != 0 {
		t.Skip("needs root and dpkg")
	}
	system := t.TempDir()
	shell(t, system, "mkdir -p var/lib/dpkg/info var/lib/dpkg/updates usr/bin && touch var/lib/dpkg/status && cp /bin/true usr/bin/claude")
	tree := func() (list []string) {
		err := filepath.WalkDir(system, func(path string, _ fs.DirEntry, err error) error {
			if !strings.HasPrefix(path, filepath.Join(system, "var/lib/dpkg")) {
				list = append(list, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	before := tree()
	dpkg := "dpkg --root=. --force-not-root --force-bad-path --log=/dev/null "
	shell(t, system, dpkg+"-i "+packages+"/*.deb")
	for _, name := range []string{"claude", "codex", "gemini", "vibe", "shimctl"} {
		if info, err := os.Stat(filepath.Join(system, shims, name)); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if said := shell(t, system, "dpkg-query --admindir=var/lib/dpkg -W -f '${Status}, ${Maintainer}' reprise"); said != "install ok installed, "+noMaintainer {
		t.Errorf("dpkg says %q", said)
	}
	if said := shell(t, system, "grep -c . var/lib/dpkg/info/reprise.md5sums; "+dpkg+"-V reprise"); strings.Count(said, "\n") != 1 || said == "0\n" {
		t.Errorf("dpkg cannot verify what it installed: %s", said)
	}
	// The tool in /usr/bin is the real one, although shimctl is found there too.
	said := shell(t, system, "HOME=$PWD/home PATH=$PWD/usr/lib/reprise/bin:$PWD/usr/bin usr/bin/shimctl doctor")
	if want := system + "/usr/lib/reprise/bin/claude in front of " + system + "/usr/bin/claude"; !strings.Contains(said, want) {
		t.Errorf("doctor says %s", said)
	}
	shell(t, system, "rm -r home; "+dpkg+"-r reprise; "+dpkg+"-P reprise")
	if after := tree(); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("left: %q, was %q", after, before)
	}
}

func shell(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

func TestDebianVersions(t *testing.T) {
	at := time.Unix(1_700_000_000, 0).UTC()
	for version, want := range map[string]string{
		"v1.2.3": "1.2.3", "v1.2.3-4-gabcdef": "1.2.3+4+gabcdef", "abcdef1": "0~20231114.abcdef1", "1234567": "0~20231114.1234567",
	} {
		if got := (&release{version: version, time: at}).debianVersion(); got != want {
			t.Errorf("%s: got %s, want %s", version, got, want)
		}
	}
}

func TestMaintainer(t *testing.T) {
	for maintainer, ok := range map[string]bool{
		noMaintainer: true, "Jo Doe <jo@example.org>": true, "": false, "Jo Doe": false, "jo@example.org": false, "<jo@example.org>": false,
		"Jo <jo@example.org>\nEssential: yes": false,
	} {
		if err := (&release{maintainer: maintainer}).checkMaintainer(); (err == nil) != ok {
			t.Errorf("%q: %v", maintainer, err)
		}
	}
}
