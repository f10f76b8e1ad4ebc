package config

import (
	"errors"
	"fmt"
	"path/filepath"
)

// ConfigFile returns the path of the configuration file: REPRISE_CONFIG, or config.toml in the
// user's configuration directory.
func ConfigFile(getenv func(string) string) (string, error) {
	return override(getenv, "REPRISE_CONFIG", func() (string, error) {
		return under(getenv, "XDG_CONFIG_HOME", ".config", "config.toml")
	})
}

// PricesFile returns the path of the user's own price list, beside the default configuration file.
func PricesFile(getenv func(string) string) (string, error) {
	return under(getenv, "XDG_CONFIG_HOME", ".config", "prices.toml")
}

// StateDir returns the directory of the ledger and the log.
func StateDir(getenv func(string) string) (string, error) {
	return under(getenv, "XDG_STATE_HOME", ".local/state", "")
}

// LedgerFile returns the path of the SQLite file of chains, sessions and invocations.
func LedgerFile(getenv func(string) string) (string, error) {
	return under(getenv, "XDG_STATE_HOME", ".local/state", "ledger.db")
}

// LogFile returns the path of the shim's log.
func LogFile(getenv func(string) string) (string, error) {
	return under(getenv, "XDG_STATE_HOME", ".local/state", "shim.log")
}

// StoreFailureFile returns the path of the note of the store's last failure.
func StoreFailureFile(getenv func(string) string) (string, error) {
	return under(getenv, "XDG_STATE_HOME", ".local/state", "store-failure.json")
}

// BinDir returns the directory of the shims and shimctl. install.sh finds it by the same rules.
func BinDir(getenv func(string) string) (string, error) {
	return override(getenv, "REPRISE_BIN_DIR", func() (string, error) {
		return under(getenv, "XDG_DATA_HOME", ".local/share", "bin")
	})
}

// override returns the path that the variable names, or otherwise's. A relative path is an error:
// it would be another file in each working directory.
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
