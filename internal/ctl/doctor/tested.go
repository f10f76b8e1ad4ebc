package doctor

import (
	"errors"
	"io/fs"
	"os"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup"
	"reprise/internal/tested"
)

// testedLists returns the list of tested versions that this program has, and that which shimctl update-list has fetched.
func testedLists(a *app.App) ([]setup.Check, []tested.List) {
	lists := []tested.List{tested.Own()}
	path, err := config.TestedFile(a.Own)
	if err != nil {
		return nil, lists // the check of PATH says why
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, lists
	}
	var fetched tested.List
	if err == nil {
		fetched, err = tested.Parse(text)
	}
	if err != nil {
		return []setup.Check{setup.Note("tested versions", a.TildeIn(err.Error()), orUpdate(app.ModulePath(), "delete "+a.Tilde(path)))}, lists
	}
	return nil, append(lists, fetched)
}

// orUpdate adds update-list to a remedy where it can be typed as it is, in a program that knows its releases.
func orUpdate(module, remedy string) string {
	if app.RepositoryOf(module) == "" {
		return remedy
	}
	return "shimctl update-list, or " + remedy
}
