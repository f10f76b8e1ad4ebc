package shim

// #include "exec.h"
//
// extern char **environ;
import "C"

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// An Env is all that a call can see of the world: nothing else in this package
// reads os.Args, the environment or the clock.
type Env struct {
	Args                  []string // with argv[0]
	Environ               []string
	Stdin, Stdout, Stderr *os.File
	Now                   func() time.Time
	// AccountHome is the home directory of the user's account where files of ours may be
	// although HOME is another one; "" to look below HOME alone.
	AccountHome string
}

// OSEnv is the environment of this process.
func OSEnv() Env {
	return Env{
		Args: os.Args, Environ: environ(), Now: time.Now,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}
}

// environ returns the variables as the caller has set them. Of several entries of one name
// os.Environ has only the first.
func environ() (entries []string) {
	for at := C.environ; at != nil && *at != nil; at = (**C.char)(unsafe.Add(unsafe.Pointer(at), unsafe.Sizeof(*at))) {
		entries = append(entries, C.GoString(*at))
	}
	return entries
}

// Get returns a variable, "" where it is not set. Of several entries of one name the
// first counts, as it does for getenv.
func (e Env) Get(name string) string {
	for _, entry := range e.Environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// path returns PATH, or the system's default path where it is not set.
func (e Env) path() string {
	for _, entry := range e.Environ {
		if strings.HasPrefix(entry, "PATH=") {
			return e.Get("PATH")
		}
	}
	var none [1]*C.char
	return C.GoString(C.reprise_path(&none[0]))
}

// without returns an environment in which none of the names is set.
func without(environ, names []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name)
	})
}

// with returns an environment in which a variable is set.
func with(environ []string, name, value string) []string {
	out := make([]string, 0, len(environ)+1)
	for _, entry := range environ {
		if !strings.HasPrefix(entry, name+"=") {
			out = append(out, entry)
		}
	}
	return append(out, name+"="+value)
}

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
