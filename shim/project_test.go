package shim

import (
	"testing"

	"reprise/config"
)

func TestProjectOf(t *testing.T) {
	for remote, want := range map[string]string{
		"git@host.org:org/repo.git":                       "host.org/org/repo",
		"git@host.org:/org/repo":                          "host.org/org/repo",
		"host.org:org/repo/":                              "host.org/org/repo",
		"https://host.org/org/repo":                       "host.org/org/repo",
		"https://token@host.org/org/repo.git":             "host.org/org/repo",
		"https://user:to%2Fken@Host.ORG/org//repo.git/":   "host.org/org/repo",
		"https://x-access-token:t@host.org:8443/org/repo": "host.org/org/repo",
		"ssh://git@host.org/org/repo.git":                 "host.org/org/repo",
		"ssh://git@host.org:2222/org/repo.git":            "host.org/org/repo",
		"git+ssh://git@host.org/org/repo":                 "host.org/org/repo",
		"git://host.org/org/repo.git?x=y#z":               "host.org/org/repo",
		"[git@host.org:2222]:org/repo":                    "host.org/org/repo",
		"[git@::1]:org/repo":                              "::1/org/repo",
		"git@[::1]:org/repo":                              "::1/org/repo",
		"ssh://[::1]:22/org/repo":                         "::1/org/repo",
		"https://host.org/Group/sub/Repo.git":             "host.org/Group/sub/Repo",
		"https://host.org/a%20b":                          "host.org/a b",
		"/srv/repo.git":                                   "",
		"../repo":                                         "",
		"./a:b":                                           "",
		"repo":                                            "",
		"":                                                "",
		"file:///srv/repo.git":                            "",
		"ext::sh -c x":                                    "",
		"https://host.org/":                               "",
		"https://host.org":                                "",
		"https:///org/repo":                               "",
		"https://token@%zz/org/repo":                      "",
		"git@host.org:\x1borg/repo":                       "",
		"git@host.org:org/repo\nmore":                     "",
	} {
		if got := projectOf(remote); got != want {
			t.Errorf("%q: %q, want %q", remote, got, want)
		}
	}
}

func TestProject(t *testing.T) {
	dir := newRepository(t)
	if got := ProjectName(dir, config.Store{}); got != "" {
		t.Errorf("without a remote repository: %q", got)
	}
	gitIn(t, dir, "remote", "add", "upstream", "https://host.org/other/repo")
	if got := ProjectName(dir, config.Store{}); got != "" {
		t.Errorf("without an origin: %q", got)
	}
	gitIn(t, dir, "remote", "add", "origin", "https://token@host.org/org/repo.git")
	gitIn(t, dir, "config", "url.https://mirror.org/.insteadOf", "https://token@host.org/")
	if got := ProjectName(dir, config.Store{}); got != "host.org/org/repo" {
		t.Errorf("origin: %q", got)
	}
	if got := ProjectName(dir, config.Store{Project: "mine"}); got != "mine" {
		t.Errorf("configured: %q", got)
	}
	if got := ProjectName(t.TempDir(), config.Store{}); got != "" {
		t.Errorf("without a repository: %q", got)
	}
}
