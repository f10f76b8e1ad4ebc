package list

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/internal/tested"
)

// A site is a user with a release, which has a newer claude, and programs on PATH.
type site struct {
	*testing.T
	app           *app.App
	release, home string
}

func newSite(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{T: t, release: filepath.Join(dir, "release"), home: filepath.Join(dir, "home")}
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	screen := view.NewScreen(out, func(string) string { return "" })
	s.app = &app.App{Stdout: screen, Stderr: screen, Environ: []string{"HOME=" + s.home, "PATH=" + filepath.Join(dir, "tools") + ":/usr/bin:/bin"}}
	s.publish("99.0.0", time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC))
	return s
}

func (s *site) write(path, text string) {
	s.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		s.Fatal(err)
	}
}

// publish makes a release of a list with that claude.
func (s *site) publish(claude string, at time.Time) {
	s.Helper()
	own, err := tested.Stamped(at)
	if err != nil {
		s.Fatal(err)
	}
	text := strings.Replace(string(own), tested.Own().Tool("claude").Pin, "@anthropic-ai/claude-code@"+claude, 1)
	s.write(filepath.Join(s.release, tested.File), text)
	s.write(filepath.Join(s.release, sums), fmt.Sprintf("%064d  another\n%x  %s\n", 0, sha256.Sum256([]byte(text)), tested.File))
}

// update runs the command, and returns what it prints since the last time.
func (s *site) update(from, module string, unsigned bool) (string, error) {
	s.Helper()
	path := filepath.Join(filepath.Dir(s.home), "out")
	before, err := os.ReadFile(path)
	if err != nil {
		s.Fatal(err)
	}
	r, err := findRelease(from)
	if err == nil {
		err = update(s.app, r, signer{s.app, module, unsigned})
	}
	after, readErr := os.ReadFile(path)
	if readErr != nil {
		s.Fatal(readErr)
	}
	return strings.TrimPrefix(string(after), string(before)), err
}

// The list comes from a directory, its file, or a server. What was checked is said.
func TestUpdate(t *testing.T) {
	s := newSite(t)
	server := httptest.NewServer(http.FileServer(http.Dir(s.release)))
	defer server.Close()
	was := tested.Own().Tool("claude").Version()
	want := "its checksum is right\nits signature was not checked: this program does not know which repository signs its releases\n" +
		"stored the list of 2026-12-01 09:00:00 in ~/.local/share/reprise/tested.json\n"
	for i, from := range []string{s.release, filepath.Join(s.release, tested.File), server.URL + "/"} {
		if i == 0 {
			want += "claude 99.0.0 was tested since " + was + "\n"
		}
		if got, err := s.update(from, "reprise", false); err != nil || got != want {
			t.Errorf("%s: %v, says %s", from, err, got)
		}
		want = strings.TrimSuffix(want, "claude 99.0.0 was tested since "+was+"\n")
	}
}

// Nothing is changed by what is damaged, older or of nowhere.
func TestUpdateRefuses(t *testing.T) {
	s := newSite(t)
	if _, err := s.update(s.release, "reprise", false); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.home, ".local/share/reprise", tested.File)
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(want string, from string) {
		t.Helper()
		if _, err := s.update(from, "reprise", false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != string(kept) {
			t.Errorf("%s: the list was changed, %v", want, err)
		}
	}
	s.publish("98.0.0", time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC))
	refused("that list is of 2026-11-30 09:00:00, the one here of 2026-12-01 09:00:00", s.release)
	s.publish("99.1.0", time.Date(2026, 12, 2, 9, 0, 0, 0, time.UTC))
	text, err := os.ReadFile(filepath.Join(s.release, tested.File))
	if err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join(s.release, tested.File), strings.Replace(string(text), "99.1.0", "99.1.1", 1))
	refused("tested.json does not have the checksum that SHA256SUMS lists", s.release)
	s.write(filepath.Join(s.release, sums), "")
	refused("does not list one tested.json", s.release)
	refused("no such file", filepath.Join(s.release, "nowhere"))
	refused("is not an https URL", "http://example.org/")
	refused("is not an https URL", "http://127.0.0.1:80@example.org/")
	refused("is not an https URL", "ftp://example.org/")
	refused("--from is missing", "")
	astray := httptest.NewServer(http.RedirectHandler("http://example.invalid/list", http.StatusFound))
	defer astray.Close()
	refused("it leads to http://example.invalid/list", astray.URL)
	lost := httptest.NewServer(http.NotFoundHandler())
	defer lost.Close()
	refused("404 Not Found", lost.URL)
}

// Where the repository is known and cosign or gh is there, the signature must be its workflow's. They are asked as install.sh asks them.
func TestSignature(t *testing.T) {
	const module = "github.com/you/re.prise"
	s := newSite(t)
	s.app.Environ[1] = "PATH=" + filepath.Join(filepath.Dir(s.home), "tools") // without those of this machine
	tool := func(name, text string) {
		s.write(filepath.Join(filepath.Dir(s.home), "tools", name), "#!/bin/sh\n"+text)
	}
	bundle := func(name, text string) { s.write(filepath.Join(s.release, name), text) }
	says := func(want string, unsigned bool) {
		t.Helper()
		if got, err := s.update(s.release, module, unsigned); err != nil || !strings.Contains(got, want) {
			t.Errorf("%v, says %s, want %s", err, got, want)
		}
	}
	says("its signature was not checked: neither cosign nor gh is on PATH\n", false)
	asked := filepath.Join(s.home, "asked")
	tool("gh", `[ "$3" = --help ] || { echo "$*" >>"$HOME/asked"; read -r text <"$5" && [ "$text" = good ] && [ -s "$3" ]; }`)
	if _, err := s.update(s.release, module, false); err == nil || !strings.Contains(err.Error(), "provenance.sigstore.json") {
		t.Errorf("without a signature: %v", err)
	}
	bundle("provenance.sigstore.json", "good\n")
	says("its signature is right: gh confirms that the release workflow of github.com/you/re.prise made it\n", false)
	tool("cosign", `echo "$*" >>"$HOME/asked"; read -r text <"$3"; [ "$text" = good ] && [ -s "$8" ]`)
	bundle("SHA256SUMS.sigstore.json", "forged\n")
	if _, err := s.update(s.release, module, false); err == nil || !strings.Contains(err.Error(), "cosign does not confirm that github.com/you/re.prise released the list") {
		t.Errorf("forged: %v", err)
	}
	says("its signature was not checked: --unsigned was given\n", true)
	bundle("SHA256SUMS.sigstore.json", "good\n")
	says("its signature is right: cosign confirms", false)
	const cosign = `verify-blob --bundle SHA256SUMS.sigstore.json --certificate-identity-regexp ^https://github\.com/you/re\.prise/\.github/workflows/release\.yml@refs/tags/v` +
		" --certificate-oidc-issuer https://token.actions.githubusercontent.com SHA256SUMS\n"
	want := "attestation verify tested.json --bundle provenance.sigstore.json --repo you/re.prise --signer-workflow you/re.prise/.github/workflows/release.yml\n" + cosign + cosign
	if got, err := os.ReadFile(asked); err != nil || string(got) != want {
		t.Errorf("%v, asked\n%s\nwant\n%s", err, got, want)
	}
}

func TestRepositoryOf(t *testing.T) {
	for module, want := range map[string]string{"reprise": "", "github.com/you/reprise": "github.com/you/reprise", "github.com/you/all/reprise": "github.com/you/all", "example.org/you/reprise": ""} {
		if got := app.RepositoryOf(module); got != want {
			t.Errorf("%s: %q", module, got)
		}
	}
}
