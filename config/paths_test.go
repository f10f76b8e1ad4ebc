package config

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Below another user's directory nothing of ours is made, wherever its name comes from. One of
// root's that a container lends to any user is fine.
func TestStateInAnotherUsersHome(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	theirs, ours := t.TempDir(), t.TempDir()
	if err := os.Chown(theirs, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		env  []string
		want string
	}{
		{env("HOME=" + theirs), ""},
		{env("HOME=" + ours), ours + "/.local/state/reprise/ledger.db"},
		{env("HOME="+theirs, "XDG_STATE_HOME="+ours), ours + "/reprise/ledger.db"},
		{env("HOME="+theirs, "XDG_STATE_HOME="+ours+"/new"), ours + "/new/reprise/ledger.db"},
		{env("HOME="+ours, "XDG_STATE_HOME="+theirs), ""},
	} {
		path, err := LedgerFile(lookup(test.env))
		if path != test.want || errors.Is(err, ErrNotOurs) != (test.want == "") {
			t.Errorf("want %q: %q, %v", test.want, path, err)
		}
	}
	if left, err := filepath.Glob(theirs + "/.*/*"); err != nil || len(left) > 0 {
		t.Errorf("%q, %v", left, err)
	}
}

func TestPaths(t *testing.T) {
	const home = "HOME=/h"
	cases := []struct {
		name string
		path func(func(string) string) (string, error)
		env  []string
		want string // empty: an error
	}{
		{"config, home", ConfigFile, env(home), "/h/.config/reprise/config.toml"},
		{"config, xdg", ConfigFile, env(home, "XDG_CONFIG_HOME=/c"), "/c/reprise/config.toml"},
		{"config, xdg without home", ConfigFile, env("XDG_CONFIG_HOME=/c/"),
			"/c/reprise/config.toml"},
		{"config, relative xdg is ignored", ConfigFile, env(home, "XDG_CONFIG_HOME=c"),
			"/h/.config/reprise/config.toml"},
		{"config, no home", ConfigFile, env(), ""},
		{"config, relative home", ConfigFile, env("HOME=h"), ""},
		{"config, named", ConfigFile, env(home, "REPRISE_CONFIG=/x//y.toml"), "/x/y.toml"},
		{"config, named without home", ConfigFile, env("REPRISE_CONFIG=/y.toml"), "/y.toml"},
		{"config, named from the working directory", ConfigFile, env(home, "REPRISE_CONFIG=y.toml"),
			""},
		{"state, home", StateDir, env(home), "/h/.local/state/reprise"},
		{"state, xdg", StateDir, env(home, "XDG_STATE_HOME=/s"), "/s/reprise"},
		{"state, relative xdg is ignored", StateDir, env(home, "XDG_STATE_HOME=./s"),
			"/h/.local/state/reprise"},
		{"state, no home", StateDir, env("REPRISE_CONFIG=/y.toml"), ""},
		{"ledger", LedgerFile, env(home), "/h/.local/state/reprise/ledger.db"},
		{"ledger, xdg", LedgerFile, env("XDG_STATE_HOME=/s"), "/s/reprise/ledger.db"},
		{"ledger, no home", LedgerFile, env(), ""},
		{"log", LogFile, env(home), "/h/.local/state/reprise/shim.log"},
		{"log, no home", LogFile, env(), ""},
		{"store failure", StoreFailureFile, env(home, "XDG_STATE_HOME=/s"),
			"/s/reprise/store-failure.json"},
		{"bin, home", BinDir, env(home), "/h/.local/share/reprise/bin"},
		{"bin, xdg", BinDir, env(home, "XDG_DATA_HOME=/d"), "/d/reprise/bin"},
		{"bin, named", BinDir, env(home, "XDG_DATA_HOME=/d", "REPRISE_BIN_DIR=/b/"), "/b"},
		{"bin, named from the working directory", BinDir, env(home, "REPRISE_BIN_DIR=b"), ""},
		{"bin, no home", BinDir, env(), ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.path(lookup(c.env))
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func env(pairs ...string) []string { return pairs }

// lookup is os.Getenv over a list of pairs.
func lookup(pairs []string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if len(p) > len(name) && p[:len(name)+1] == name+"=" {
				return p[len(name)+1:]
			}
		}
		return ""
	}
}
