package doctor

import (
	"path/filepath"
	"slices"
	"strings"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup"
	"reprise/internal/ctl/setup/shells"
	"reprise/shim"
)

// checkOrder lists every executable of a tool's name on PATH, in the order of a caller's search.
func checkOrder(a *app.App, p shim.Place) []setup.Check {
	var list, seen []string
	for _, dir := range filepath.SplitList(a.Getenv("PATH")) {
		path := filepath.Join(dir, p.Name)
		if !shells.Runnable(path) || slices.Contains(seen, path) {
			continue
		}
		seen = append(seen, path)
		shown := a.Tilde(path)
		switch {
		case len(list) == 0 && p.Ours:
			shown += " (shim)"
		case path == p.Real:
			shown += " (real)"
		}
		list = append(list, shown)
	}
	if list == nil {
		return nil
	}
	return []setup.Check{setup.OK(p.Name+" on PATH", strings.Join(list, ", then "))}
}
