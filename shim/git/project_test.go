package git

import "testing"

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
