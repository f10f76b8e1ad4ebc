package config

import (
	"errors"
	"fmt"
	"path/filepath"
)

// ConfigFile is the configuration file: REPRISE_CONFIG, or config.toml in the user's configuration directory.
func ConfigFile(getenv func(string) string) (string, error) {
	return override(getenv, "REPRISE_CONFIG", func() (string, error) {
		return under(getenv, "XDG_CONFIG_HOME", ".config", "config.toml")
	})
}

// PricesFile is the user's own price list, beside the usual place of the configuration file.
func PricesFile(getenv func(string) string) (string, error) {
	return under(getenv, "XDG_CONFIG_HOME", ".config", "prices.toml")
}

// StateDir is the directory of the ledger and the log.
func StateDir(getenv func(string) string) (string, error) {
	return under(getenv, "XDG_STATE_HOME", ".local/state", "")
}

// LedgerFile is the SQLite file of chains, sessions and invocations.
func LedgerFile(getenv func(string) string) (string, error) {
	return under(getenv, "XDG_STATE_HOME", ".local/state", "ledger.db")
}

// LogFile is the shim's log.
func LogFile(getenv func(string) string) (string, error) {
	return under(getenv, "XDG_STATE_HOME", ".local/state", "shim.log")
}

// BinDir is the directory of the shims and shimctl. install.sh finds it by the same rules.
func BinDir(getenv func(string) string) (string, error) {
	return override(getenv, "REPRISE_BIN_DIR", func() (string, error) {
		return under(getenv, "XDG_DATA_HOME", ".local/share", "bin")
	})
}

// override returns the path that the variable names, or otherwise's. A relative path is refused: it would
// be another file in each directory that a shim is called in.
func override(getenv func(string) string, name string, otherwise func() (string, error)) (string, error) {
	path := getenv(name)
	switch {
	case path == "":
		return otherwise()
	case !filepath.IsAbs(path):
		return "", fmt.Errorf("read %s: %q is not an absolute path", name, path)
	}
	return filepath.Clean(path), nil
}

// under returns name in our directory of an XDG base directory. The XDG specification asks that a base which is
// not absolute be ignored.
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
