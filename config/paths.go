package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ConfigFile returns the path of the configuration file: REPRISE_CONFIG, or config.toml in the
// user's configuration directory.
func ConfigFile(getenv func(string) string) (string, error) {
	if path, err := override(getenv, "REPRISE_CONFIG"); path != "" || err != nil {
		return path, err
	}
	return under(getenv, "XDG_CONFIG_HOME", ".config", "config.toml")
}

// PricesFile returns the path of the user's own price list, beside the default configuration file.
func PricesFile(getenv func(string) string) (string, error) {
	return under(getenv, "XDG_CONFIG_HOME", ".config", "prices.toml")
}

// StateDir returns the directory of the ledger and the log.
func StateDir(getenv func(string) string) (string, error) {
	return state(getenv, "")
}

// LedgerFile returns the path of the SQLite file of chains, sessions and calls.
func LedgerFile(getenv func(string) string) (string, error) {
	return state(getenv, "ledger.db")
}

// LogFile returns the path of the shim's log.
func LogFile(getenv func(string) string) (string, error) {
	return state(getenv, "shim.log")
}

// StoreFailureFile returns the path of the note of the store's last failure.
func StoreFailureFile(getenv func(string) string) (string, error) {
	return state(getenv, "store-failure.json")
}

// BinDir returns the directory of the shims and shimctl. install.sh finds it by the same rules.
func BinDir(getenv func(string) string) (string, error) {
	if path, err := override(getenv, "REPRISE_BIN_DIR"); path != "" || err != nil {
		return path, err
	}
	return under(getenv, "XDG_DATA_HOME", ".local/share", "bin")
}

// ErrNotOurs is the error for files of ours that would be below another user's directory.
var ErrNotOurs = errors.New("belongs to another user")

// state returns the path of name in our directory for state. It fails if the base directory belongs
// to another user, as under sudo -E: files there would keep that user out. A directory of root is
// everyone's who can write to it: containers run as any user in such a HOME.
func state(getenv func(string) string, name string) (string, error) {
	base := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		base = getenv("HOME")
	}
	if info, err := os.Stat(base); err == nil {
		if owner, ok := info.Sys().(*syscall.Stat_t); ok && owner.Uid != 0 &&
			int(owner.Uid) != os.Geteuid() {
			return "", fmt.Errorf("%s %w, number %d", base, ErrNotOurs, owner.Uid)
		}
	}
	return under(getenv, "XDG_STATE_HOME", ".local/state", name)
}

// override returns the path that the variable names, "" for none. A relative path is an error: it
// would be another file in each working directory.
func override(getenv func(string) string, name string) (string, error) {
	path := getenv(name)
	switch {
	case path == "":
		return "", nil
	case !filepath.IsAbs(path):
		return "", fmt.Errorf("read %s: %q is not an absolute path", name, path)
	}
	return filepath.Clean(path), nil
}

// under returns the path of name in our directory below an XDG base directory. The XDG
// specification requires that a relative base is ignored.
func under(getenv func(string) string, variable, fallback, name string) (string, error) {
	if base := getenv(variable); filepath.IsAbs(base) {
		return filepath.Join(base, "reprise", name), nil
	}
	home, err := homeDir(getenv)
	if err != nil {
		return "", err
	}
	return filepath.Join(home, fallback, "reprise", name), nil
}

func homeDir(getenv func(string) string) (string, error) {
	home := getenv("HOME")
	switch {
	case home == "":
		return "", errors.New("find home directory: HOME is not set")
	case !filepath.IsAbs(home):
		return "", fmt.Errorf("find home directory: HOME is %q, not an absolute path", home)
	}
	return home, nil
}
