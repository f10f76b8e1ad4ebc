package shim

// #include "exec.h"
import "C"

import (
	"os"
	"path/filepath"
)

// AccountHome returns the home directory that the system has for this user, whatever HOME
// says; "" if it has none.
func AccountHome() string {
	var home [C.PATH_MAX]C.char
	if !C.reprise_account_home(&home[0]) {
		return ""
	}
	return C.GoString(&home[0])
}

// Own returns a variable as it holds for files of our own. A caller may give a tool a HOME
// of its own: configuration, ledger and log are then still those of the account, if reprise
// has been used there. What names their place explicitly wins.
func (e Env) Own(name string) string {
	value := e.Get(name)
	if name == "HOME" && filepath.IsAbs(value) && e.AccountHome != value && hasOwnFiles(e.AccountHome) {
		return e.AccountHome
	}
	return value
}

// hasOwnFiles reports whether a home directory has configuration, ledger or shims of ours.
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
