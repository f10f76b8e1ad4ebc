// Package variables reads and changes the variables of an environment, as os.Environ returns them.
//
// Invariant: it never changes this process's environment, nor the slice that it is given.
package variables

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/config"
	"reprise/shim/front"

	"golang.org/x/sys/unix"
)

// Get returns a variable, "" if it is not set. Of several entries of one name the first
// counts, as for getenv.
func Get(environ []string, name string) string {
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// Path returns PATH, or the system's default path if PATH is not set.
func Path(environ []string) string {
	for _, entry := range environ {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			return path
		}
	}
	return front.DefaultPath
}

// Unset returns a copy of an environment for another program, without any of the names,
// nor a variable that can contain the store's password or key.
func Unset(environ []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name) || slices.Contains(config.StoreVariables, name)
	})
}

// Set returns a copy of an environment with a variable set.
func Set(environ []string, name, value string) []string {
	others := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		return strings.HasPrefix(entry, name+"=")
	})
	return append(others, name+"="+value)
}

// Own returns the value of a variable for finding reprise's own files. A caller can give a tool
// another HOME. Configuration, ledger and log are then still the account's, if reprise has been
// used there. For root they are so in another user's home too, where a file of root would shut the
// user out, unless reprise has been used there. Variables that name a file's place explicitly are
// not changed.
func Own(environ []string, accountHome, name string) string {
	value := Get(environ, name)
	if name == "HOME" && filepath.IsAbs(value) && accountHome != value &&
		(hasOwnFiles(accountHome) ||
			filepath.IsAbs(accountHome) && rootsGuest(value) && !hasOwnFiles(value)) {
		return accountHome
	}
	return value
}

// rootsGuest reports whether root runs in another user's home, as sudo can let it.
func rootsGuest(home string) bool {
	var st unix.Stat_t
	return os.Geteuid() == 0 && unix.Stat(home, &st) == nil && st.Uid != 0
}

// hasOwnFiles reports whether a home directory contains reprise's configuration, ledger or shims.
func hasOwnFiles(home string) bool {
	if !filepath.IsAbs(home) {
		return false
	}
	for _, base := range []string{".config", ".local/state", ".local/share"} {
		if info, err := os.Stat(filepath.Join(home, base, "reprise")); err == nil && info.IsDir() {
			return true
		}
	}
	return false
}
