package shim

import (
	"reprise/config"
	"reprise/shim/git"
)

// ProjectName returns the name that a directory's project has in a store: the configured one, or
// the URL of the repository's origin, "" if there is none. A clone of a local directory has none.
func ProjectName(dir string, s config.Store) string {
	if s.Project != "" {
		return s.Project
	}
	repo, err := git.Find(dir)
	if err != nil {
		return ""
	}
	return repo.Origin()
}
