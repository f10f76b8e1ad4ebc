package shim

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reprise/config"
	"reprise/ledger"
	"reprise/shim/front"

	"golang.org/x/sys/unix"
)

// An Env is the outside world of a call. Nothing else in this package reads os.Args, the
// environment or the clock.
type Env struct {
	Args                  []string // with argv[0]
	Environ               []string
	Stdin, Stdout, Stderr *os.File
	Now                   func() time.Time
	// NewID returns a new ID for a session: a random UUID in lower case.
	NewID func() string
	// AccountHome is the home directory of the user's account, where reprise's files can be
	// even if HOME is another directory; "" to look below HOME only.
	AccountHome string
	// OpenRemote opens a store that machines share, nil for a program that uses none.
	OpenRemote ledger.OpenRemote
}

// OSEnv is the environment of this process.
func OSEnv() Env {
	return Env{
		Args: os.Args, Environ: front.Environ(), Now: time.Now, NewID: randomUUID,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}
}

// randomUUID returns a UUID of version 4.
func randomUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Get returns a variable, "" if it is not set. Of several entries of one name the first
// counts, as for getenv.
func (e Env) Get(name string) string {
	for _, entry := range e.Environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// path returns PATH, or the system's default path if PATH is not set.
func (e Env) path() string {
	for _, entry := range e.Environ {
		if strings.HasPrefix(entry, "PATH=") {
			return e.Get("PATH")
		}
	}
	return front.DefaultPath()
}

// unsetEnv returns a copy of an environment for another program, without any of the names,
// nor a variable that can contain the store's password or key.
func unsetEnv(environ, names []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name) || slices.Contains(config.StoreVariables, name)
	})
}

// setEnv returns a copy of an environment with a variable set.
func setEnv(environ []string, name, value string) []string {
	out := make([]string, 0, len(environ)+1)
	for _, entry := range environ {
		if !strings.HasPrefix(entry, name+"=") {
			out = append(out, entry)
		}
	}
	return append(out, name+"="+value)
}

// Own returns the value of a variable for finding reprise's own files. A caller can give a tool
// another HOME. Configuration, ledger and log are then still those of the account, if reprise
// has been used there. For root they are so in another user's home too, where what root makes would shut the user out, unless
// reprise has been used in that one. Variables that name a file's place explicitly are not changed.
func (e Env) Own(name string) string {
	value := e.Get(name)
	if name == "HOME" && filepath.IsAbs(value) && e.AccountHome != value && (hasOwnFiles(e.AccountHome) || filepath.IsAbs(e.AccountHome) && rootsGuest(value) && !hasOwnFiles(value)) {
		return e.AccountHome
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
