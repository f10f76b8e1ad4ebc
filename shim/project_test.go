package shim

import (
	"testing"

	"reprise/config"
	"reprise/test/gitrepo"
)

func TestProject(t *testing.T) {
	dir := gitrepo.New(t)
	if got := ProjectName(dir, config.Store{}); got != "" {
		t.Errorf("without a remote git.Repository: %q", got)
	}
	gitrepo.Run(t, dir, "remote", "add", "upstream", "https://host.org/other/repo")
	if got := ProjectName(dir, config.Store{}); got != "" {
		t.Errorf("without an origin: %q", got)
	}
	gitrepo.Run(t, dir, "remote", "add", "origin", "https://token@host.org/org/repo.git")
	gitrepo.Run(t, dir, "config", "url.https://mirror.org/.insteadOf", "https://token@host.org/")
	if got := ProjectName(dir, config.Store{}); got != "host.org/org/repo" {
		t.Errorf("origin: %q", got)
	}
	if got := ProjectName(dir, config.Store{Project: "mine"}); got != "mine" {
		t.Errorf("configured: %q", got)
	}
	if got := ProjectName(t.TempDir(), config.Store{}); got != "" {
		t.Errorf("without a git.Repository: %q", got)
	}
}
