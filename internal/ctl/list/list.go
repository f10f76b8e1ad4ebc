// Package list fetches the list of tested versions of a release, and checks it as install.sh checks the programs.
//
// It never asks the network unless the user has typed it. Its invariant: a list that was not checked replaces nothing.
package list

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/textfile"
	"reprise/internal/tested"
	"reprise/rewrite"

	"github.com/spf13/cobra"
)

const (
	sums    = "SHA256SUMS"
	another = "nothing was changed; if it happens again, do not trust the place it comes from"
)

func Command(a *app.App) *cobra.Command {
	var from string
	var unsigned bool
	c := &cobra.Command{
		Use: "update-list", Short: "fetch the list of tested versions",
		Long: `Fetches the list of tested versions of a release for doctor, into the data directory, and says what was checked:
its checksum and, with cosign or gh, its signature. An older list does not replace a newer one.`,
		Args: app.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := findRelease(from)
			if err != nil {
				return err
			}
			return update(a, r, signer{a, app.ModulePath(), unsigned})
		},
	}
	c.Flags().StringVar(&from, "from", "", "a `RELEASE`, as a directory or https URL (default: the latest; needed in checkouts)")
	c.Flags().BoolVar(&unsigned, "unsigned", false, "do not check the signature")
	return c
}

// update fetches the list, checks it, and puts it in place of an older one.
func update(a *app.App, r release, s signer) error {
	path, err := config.TestedFile(a.Own)
	if err != nil {
		return err
	}
	text, err := fetch(a, r, s)
	if err != nil {
		return err
	}
	fetched, err := tested.Parse(text)
	if err != nil {
		return err
	}
	if fetched.Released == nil {
		return app.WithHint(errors.New("the list does not say when it was released"), "take one that scripts/release made")
	}
	var before tested.List // empty if there is none that can be read: doctor says what is wrong with it
	if text, err := os.ReadFile(path); err == nil {
		before, _ = tested.Parse(text)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	when := func(l tested.List) string { return l.Released.UTC().Format(time.DateTime) }
	if before.Released != nil && fetched.Released.Before(*before.Released) {
		return app.WithHint(fmt.Errorf("that list is of %s, the one here of %s", when(fetched), when(before)), "nothing was changed; delete "+path+" to take the older one")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	if err := textfile.WriteFile(path, 0o600, text); err != nil {
		return err
	}
	a.Stdout.Notice(fmt.Sprintf("stored the list of %s in %s", when(fetched), a.Tilde(path)))
	for _, name := range rewrite.Names {
		was := tested.Merged(name, tested.Own(), before)
		now := tested.Merged(name, tested.Own(), before, fetched)
		if len(was) > 0 && was[len(was)-1] != now[len(now)-1] {
			a.Stdout.Notice(fmt.Sprintf("%s %s was tested since %s", name, now[len(now)-1].Version, was[len(was)-1].Version))
		}
	}
	return nil
}

var sumOfList = regexp.MustCompile(`(?m)^([0-9a-f]{64})  ` + regexp.QuoteMeta(tested.File) + `$`)

// fetch returns the text of the list, after the checks.
func fetch(a *app.App, r release, s signer) ([]byte, error) {
	listed, err := r.read(sums)
	if err != nil {
		return nil, err
	}
	lines := sumOfList.FindAllSubmatch(listed, -1)
	if len(lines) != 1 {
		return nil, app.WithHint(fmt.Errorf("%s does not list one %s", r.name(sums), tested.File), "name the directory of one release with --from")
	}
	text, err := r.read(tested.File)
	if err != nil {
		return nil, err
	}
	if fmt.Sprintf("%x", sha256.Sum256(text)) != string(lines[0][1]) {
		return nil, app.WithHint(fmt.Errorf("%s does not have the checksum that %s lists", tested.File, sums), another)
	}
	fmt.Fprintln(a.Stdout, "its checksum is right")
	return text, s.check(r, map[string][]byte{sums: listed, tested.File: text})
}
