package test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// released is a site with a release of the stand-ins, and without Go and a C compiler.
func released(t *testing.T) *site {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("releases are for Linux")
	}
	s := newSite(t)
	s.pack("v1", "first")
	s.write("alone/install.sh", read(t, "../install.sh"))
	s.repo = s.at("alone")
	s.toolbox("uname", "tar", "gzip", "sha256sum", "curl", "chmod", "tail")
	return s
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pack builds the stand-ins, has them say a word, and makes a release of that version, as
// scripts/release does.
func (s *site) pack(version, word string) {
	s.t.Helper()
	checkout := *s
	checkout.repo = s.at("repo")
	checkout.env = append(slices.Clone(s.env), "PATH="+s.path)
	checkout.revise("first", word)
	checkout.write("repo/config/version.go",
		"package config\n\nvar Version, Commit = \"dev\", \"\"\n")
	name := "reprise-" + version + "-linux-" + runtime.GOARCH
	checkout.install("--store", "--bin-dir", s.at("release/"+name+"/bin"))
	checkout.script(`cd release
		rm -f *.tar.gz "$1/bin/.reprise"
		tar czf "$1.tar.gz" "$1"
		sha256sum "$1.tar.gz" >SHA256SUMS
		rm -r "$1"`, name)
}

// script runs a script in the site's directory.
func (s *site) script(text string, args ...string) {
	s.t.Helper()
	cmd := exec.Command("sh", append([]string{"-ec", text, "sh"}, args...)...)
	cmd.Dir = s.at("")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", text, err, out)
	}
}

func (s *site) archive() string {
	return filepath.Join(s.at("release"), "reprise-v1-linux-"+runtime.GOARCH+".tar.gz")
}

func TestInstallRelease(t *testing.T) {
	s := released(t)
	out := s.install("--from", s.at("release"))
	contains(t, out, "fetching reprise-v1-linux-", "its checksum is right\n",
		"version dev, linked: static\n", "shimctl' setup\n")
	s.checkInstalled("first")
	if !s.sameFile("claude", "vibe") {
		t.Error("the shims are not one file")
	}
	// an empty first element is not that directory, wherever the script is called
	contains(t, s.runShell("-c", `cd "$0" && PATH=:$PATH "$1" "$2" --from "$3"`, s.bin, shell(t),
		s.repo+"/install.sh", s.at("release")).stdout, "next: put that directory first on PATH.")
	s.install("--uninstall")
	s.gone(filepath.Dir(s.bin))

	server := httptest.NewServer(http.FileServer(http.Dir(s.at("release"))))
	defer server.Close()
	s.install("--from=" + server.URL + "/")
	s.checkInstalled("first")
	s.script("rm tools/curl")
	s.refused(1, "neither curl nor wget is on PATH",
		"install one, or fetch the release and name its directory with --from", "--from",
		server.URL)
	s.write("tools/wget", "#!/bin/sh\n[ \"$1 $2 $4\" = '-q -O --' ] && exec "+tool(t,
		"curl")+" -fsS -o \"$3\" \"$5\"\n")
	s.install("--from", server.URL)
	s.checkInstalled("first")
}

func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("no " + name)
	}
	return path
}

// One line downloads the script and has it install from the place that it came from. A proxy is not
// asked for files of this machine.
func TestInstallInOneLine(t *testing.T) {
	s := released(t)
	s.write("release/install.sh", read(t, "../install.sh"))
	server := httptest.NewServer(http.FileServer(http.Dir(s.at("release"))))
	defer server.Close()
	run := func() (string, error) {
		cmd := exec.Command("sh", "-c", "curl -fsSL $1/install.sh | "+
			"http_proxy=http://127.0.0.1:1 sh -s -- --from $1 --demo", "sh", server.URL)
		cmd.Env, cmd.Dir = s.env, s.home
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	contains(t, out, "its checksum is right\n",
		"its signature was not checked: this install.sh does not know which repository signs "+
			"its releases\n",
		"the demo of "+s.bin+"/shimctl")
	s.checkInstalled("first")

	s.install("--uninstall")
	s.script(`printf changed | dd of="$1" bs=1 seek=1000 conv=notrunc status=none`, s.archive())
	if out, err = run(); err == nil ||
		!strings.Contains(out, "does not have the checksum that SHA256SUMS lists\n") {
		t.Errorf("%v:\n%s", err, out)
	}
	s.gone(filepath.Dir(s.bin))
}

// With cosign or gh on PATH a release of a repository must be signed by its workflow, unless the
// user renounces that.
func TestReleaseSignatures(t *testing.T) {
	s := released(t)
	s.write("alone/install.sh", strings.Replace(read(t, "../install.sh"), "repository='' #",
		"repository='github.com/you/re.prise' #", 1))
	contains(t, s.install("--from", s.at("release")),
		"its signature was not checked: neither cosign nor gh is on PATH\n")

	s.write("tools/gh", "#!/bin/sh\necho \"$*\" >>\"$HOME/asked\"\n[ \"$3\" = --help ] || grep "+
		"-qx good \"$5\"\n")
	missing := func(name string) {
		t.Helper()
		if r := s.run("--from", s.at("release")); r.code != 1 ||
			!strings.Contains(r.stderr, "error: "+s.at("release")+"/"+name+" cannot be read\n") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
		contains(t, s.install("--from", s.at("release"), "--unsigned"),
			"its signature was not checked: --unsigned was given\n")
	}
	missing("provenance.sigstore.json")
	s.write("release/provenance.sigstore.json", "good\n")
	contains(t, s.install("--from", s.at("release")),
		"its signature is right: gh confirms that the release workflow of "+
			"github.com/you/re.prise made it\n")
	contains(t, read(t, s.home+"/asked"), "attestation verify ",
		"/provenance.sigstore.json --repo you/re.prise --signer-workflow "+
			"you/re.prise/.github/workflows/release.yml\n")

	s.write("tools/cosign", "#!/bin/sh\necho \"$*\" >>\"$HOME/asked\"\ngrep -x good \"$3\"\n")
	missing("SHA256SUMS.sigstore.json")
	s.write("release/SHA256SUMS.sigstore.json", "good\n")
	contains(t, s.install("--from", s.at("release")),
		"its signature is right: cosign confirms that the release workflow of "+
			"github.com/you/re.prise made it\n")
	contains(t, read(t, s.home+"/asked"), "verify-blob --bundle ",
		` --certificate-identity-regexp ^https://github\.com/you/re\.prise/\.github/workflows/release\.yml@refs/tags/v `+
			"--certificate-oidc-issuer https://token.actions.githubusercontent.com ",
		"/SHA256SUMS\n")
	marker := read(t, s.bin+"/.reprise")
	s.write("release/SHA256SUMS.sigstore.json", "forged\n")
	r := s.run("--from", s.at("release"))
	if r.code != 1 || !strings.Contains(r.stderr,
		"error: cosign does not confirm that github.com/you/re.prise released reprise-v1-linux-") {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
	if now := read(t, s.bin+"/.reprise"); now != marker {
		t.Errorf("the marker was\n%s\nis\n%s", marker, now)
	}
}

// Files beside the script are taken: a release, or the package that it is part of. A checkout is
// built.
func TestInstallWhatLiesBeside(t *testing.T) {
	s := released(t)
	s.write("release/install.sh", read(t, "../install.sh"))
	s.repo = s.at("release")
	contains(t, s.install(), "its checksum is right\n")
	s.checkInstalled("first")

	s.script(`tar xzf "$1" && mv reprise-* package && cp release/install.sh package`, s.archive())
	s.repo = s.at("package")
	s.install()
	s.checkInstalled("first")
	// as in a package that holds no links
	s.script("cd package/bin && mv claude shim && rm codex gemini vibe && chmod -x shim")
	s.install()
	s.checkInstalled("first")
	if got := s.install("--where"); got != s.bin+"\n" {
		t.Errorf("installs into %q", got)
	}

	s.script("cp release/* repo")
	s.repo = s.at("repo")
	s.refused(1, "go is not on PATH", getGo)
}

// A release that cannot be fetched or does not hold leaves everything as it was.
func TestRefusedReleases(t *testing.T) {
	s := released(t)
	none := func(problem, hint string, args ...string) {
		t.Helper()
		s.refused(1, problem, hint, args...)
		if len(s.list()) == 0 {
			s.gone(filepath.Dir(s.bin))
		}
	}
	const untrusted = "nothing was installed; if it happens again, do not trust the place it " +
		"comes from"
	release, name := s.at("release"), filepath.Base(s.archive())
	s.script(`cp -r release other; echo >>"other/$1"`, name)
	none(name+" does not have the checksum that SHA256SUMS lists", untrusted, "--from",
		s.at("other"))
	for _, url := range []string{
		"http://example.invalid", "http://localhost.example.invalid/x",
		"http://localhost:x@example.invalid", "http://127.0.0.1:80@example.invalid/",
		"http://example.invalid/\nhttp://localhost/",
	} {
		none(strings.TrimSuffix(url, "/")+" is not an https URL",
			"plain http is only for this machine: 127.0.0.1, [::1] or localhost", "--from", url)
	}
	none("ftp://127.0.0.1 is not an https URL",
		"what came over another way could have been changed", "--from", "ftp://127.0.0.1")
	s.script(`sed "s/linux-[a-z0-9]*/linux-mips/" release/SHA256SUMS >other/SHA256SUMS`)
	none(s.at("other")+"/SHA256SUMS does not list one archive for linux-"+runtime.GOARCH,
		"name the directory of one release with --from", "--from", s.at("other"))
	s.script(`cat release/SHA256SUMS release/SHA256SUMS >other/SHA256SUMS`)
	none(s.at("other")+"/SHA256SUMS does not list one archive for linux-"+runtime.GOARCH,
		"name the directory of one release with --from", "--from", s.at("other"))

	s.install("--from", release) // from here on there is something to lose
	marker := read(t, s.bin+"/.reprise")
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := []byte(read(t, filepath.Join(release, r.URL.Path)))
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		if strings.HasSuffix(r.URL.Path, ".gz") {
			text = text[:len(text)/2]
		}
		w.Write(text)
	}))
	defer cut.Close()
	if r := s.run("--from", cut.URL); r.code != 1 ||
		!strings.HasSuffix(r.stderr, "error: "+cut.URL+"/"+name+" cannot be fetched\nhint: the "+
			"lines above say why\n") {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
	s.script(`cd other && tar xzf "$2" && echo no program >"$1/bin/shimctl" && tar czf "$1.tar.gz" "$1"`, strings.TrimSuffix(name, ".tar.gz"), s.archive())
	sum := sha256.Sum256([]byte(read(t, filepath.Join(s.at("other"), name))))
	s.write("other/SHA256SUMS", fmt.Sprintf("%x  %s\n", sum, name))
	if r := s.run("--from", s.at("other")); r.code != 1 ||
		!strings.Contains(r.stderr, "error: the programs do not start on this machine\n") {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
	s.checkInstalled("first")
	if now := read(t, s.bin+"/.reprise"); now != marker {
		t.Errorf("the marker was\n%s\nis\n%s", marker, now)
	}
}

// An update takes a running shim's name, not its program.
func TestUpdateWhileAShimRuns(t *testing.T) {
	s := released(t)
	s.install("--from", s.at("release"))
	cmd := exec.Command(filepath.Join(s.bin, "claude"), "hold")
	stdin, _ := cmd.StdinPipe()
	stdout, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if n, err := stdout.Read(make([]byte, 8)); n != 8 {
		t.Fatalf("the shim does not run: %v", err)
	}
	s.pack("v2", "second")
	s.install("--from", s.at("release"))
	s.checkInstalled("second")
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the running shim was broken: %v", err)
	}
}
