package list

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup/shells"
	"reprise/internal/ctl/view"
	"reprise/internal/tested"
)

// A signer checks signatures of the workflow that releases a module.
type signer struct {
	app      *app.App
	module   string
	unsigned bool
}

// check checks, with cosign or gh if this machine has one of them, that the repository's own workflow made the release, and
// says what was checked. install.sh asks the same questions.
func (s signer) check(r release, files map[string][]byte) error {
	repository := app.RepositoryOf(s.module)
	workflow := repository + "/.github/workflows/release.yml"
	path := filepath.SplitList(s.app.Getenv("PATH"))
	cosign, gh := shells.LookUp("cosign", path), shells.LookUp("gh", path)
	why := ""
	switch {
	case s.unsigned:
		why = "--unsigned was given"
	case repository == "":
		why = "this program does not know which repository signs its releases"
	case cosign != "":
		return s.ask(r, files, repository, "SHA256SUMS.sigstore.json", cosign, "verify-blob", "--bundle", "SHA256SUMS.sigstore.json",
			"--certificate-identity-regexp", "^https://"+regexp.QuoteMeta(workflow)+"@refs/tags/v",
			"--certificate-oidc-issuer", "https://token.actions.githubusercontent.com", sums)
	case gh != "" && exec.Command(gh, "attestation", "verify", "--help").Run() == nil:
		return s.ask(r, files, repository, "provenance.sigstore.json", gh, "attestation", "verify", tested.File, "--bundle", "provenance.sigstore.json",
			"--repo", strings.TrimPrefix(repository, "github.com/"), "--signer-workflow", strings.TrimPrefix(workflow, "github.com/"))
	default:
		why = "neither cosign nor gh is on PATH"
	}
	fmt.Fprintf(s.app.Stdout, "its signature was not checked: %s\n", why)
	return nil
}

// ask fetches the bundle, and runs the command that checks the signature beside the files.
func (s signer) ask(r release, files map[string][]byte, repository, bundle, program string, args ...string) error {
	text, err := r.read(bundle)
	if err != nil {
		return app.WithHint(err, "a release that you built has no signature: --unsigned takes it")
	}
	dir, err := os.MkdirTemp("", "reprise-list-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	err = os.WriteFile(filepath.Join(dir, bundle), text, 0o600)
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	if err != nil {
		return err
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, s.app.Environ
	name := filepath.Base(program)
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprint(s.app.Stderr, view.PrintableLines(string(out)))
		return app.WithHint(fmt.Errorf("%s does not confirm that %s released the list", name, repository), "nothing was changed; the lines above say why")
	}
	fmt.Fprintf(s.app.Stdout, "its signature is right: %s confirms that the release workflow of %s made it\n", name, repository)
	return nil
}
