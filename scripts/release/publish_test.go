package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reprise/test/toolbox"
)

// published is a checkout of a repository that is ready to release v0.9.0, with a release and
// stand-ins for cosign and gh, which note their arguments.
func published(t *testing.T) (dir string, publish func(tag, repository string) (string, error)) {
	t.Helper()
	dir = t.TempDir()
	if err := toolbox.Make(filepath.Join(dir, "tools"), "sha256sum"); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"scripts/release/notes.sh",
		"scripts/release/publish.sh", "install.sh"} {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		write(name, strings.Replace(string(text), "repository='' #",
			"repository='github.com/you/reprise' #", 1))
	}
	write("CHANGELOG.md", "# Changes\n\n## Unreleased\n\nsoon\n\n## 0.9.0 - 2026-11-25\n\n- what "+
		"is new\n\n## 0.8.0\n\nold\n")
	write("provenance", "who made it")
	write("release/one.tar.gz", "one")
	shell(t, filepath.Join(dir, "release"), "sha256sum one.tar.gz >SHA256SUMS")
	write("tools/cosign", "#!/bin/sh\necho \"$*\" >>../asked\necho signed >\"$4\"\n")
	write("tools/gh", "#!/bin/sh\necho \"$*\" >>../asked\ncat >../notes\n")
	return dir, func(tag, repository string) (string, error) {
		cmd := exec.Command("scripts/release/publish.sh", "release", "provenance", tag, repository)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + filepath.Join(dir, "tools")}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}

// The release workflow signs the checksums, and uploads every file with the version's section of
// the changelog.
func TestPublish(t *testing.T) {
	dir, publish := published(t)
	if out, err := publish("v0.9.0", "you/reprise"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := `sign-blob --yes --bundle SHA256SUMS.sigstore.json SHA256SUMS
release create v0.9.0 --repo you/reprise --verify-tag --latest --title reprise 0.9.0 --notes-file - ` +
		"./SHA256SUMS ./SHA256SUMS.sigstore.json ./one.tar.gz ./provenance.sigstore.json\n"
	if asked := shell(t, dir, "cat asked"); asked != want {
		t.Errorf("asked\n%s\nwant\n%s", asked, want)
	}
	if notes := shell(t, dir, "cat notes"); strings.TrimSpace(notes) != "- what is new" {
		t.Errorf("notes: %q", notes)
	}
}

// A file that differs from the built one, or that the release's own install.sh would refuse, is
// neither signed nor uploaded.
func TestPublishRefuses(t *testing.T) {
	for _, test := range []struct{ break_, tag, repository, want string }{
		{"", "v0.9.1", "you/reprise", "error: CHANGELOG.md has no section 0.9.1\n"},
		{"", "v0.9.0", "they/reprise",
			"error: install.sh expects the signatures of another repository\nhint: scripts/home " +
				"github.com/they/reprise sets it\n"},
		{"echo two >release/one.tar.gz", "v0.9.0", "you/reprise", "one.tar.gz: FAILED\n"},
	} {
		dir, publish := published(t)
		shell(t, dir, test.break_)
		if out, err := publish(test.tag, test.repository); err == nil ||
			!strings.Contains(out, test.want) {
			t.Errorf("%v, says %s, want %s", err, out, test.want)
		}
		if _, err := os.Stat(filepath.Join(dir, "asked")); err == nil {
			t.Errorf("%s: cosign or gh was asked", test.want)
		}
	}
}

// The notes of the first release are written for users.
func TestNotesAreShort(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	_, notes, found := strings.Cut(string(text), "\n## 0.1.0\n")
	notes, _, _ = strings.Cut(notes, "\n## ")
	if words := len(strings.Fields(notes)); !found || words < 100 || words > 600 {
		t.Errorf("the notes of 0.1.0 have %d words", words)
	}
}
