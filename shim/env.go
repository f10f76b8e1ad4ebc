package shim

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"reprise/ledger"
	"reprise/shim/binary"
	"reprise/shim/front"
	"reprise/shim/variables"
)

// An Env is the outside world of a call. Nothing else in this package reads os.Args or the
// environment, and only measurements of time read another clock.
type Env struct {
	Name                  string   // of the tool, or npx
	Args                  []string // with argv[0]
	Environ               []string
	Stdin, Stdout, Stderr *os.File
	Now                   func() time.Time
	// NewID returns a new ID for a session: a random UUID in lower case.
	NewID func() string
	// AccountHome is the home directory of the user's account, where reprise's files can be
	// even if HOME is another directory; "" to look below HOME only.
	AccountHome string
	// OpenRemote opens a store that machines share.
	OpenRemote ledger.OpenRemote
}

// OSEnv is the environment of this process.
func OSEnv() Env {
	return Env{
		Name: cmp.Or(front.Shim(), filepath.Base(binary.Executable())), Args: os.Args,
		Environ: front.Environ(), Now: time.Now, NewID: randomUUID,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}
}

func randomUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Get returns a variable, "" if it is not set.
func (e Env) Get(name string) string { return variables.Get(e.Environ, name) }

// Own returns the value of a variable for finding reprise's own files. See variables.Own.
func (e Env) Own(name string) string { return variables.Own(e.Environ, e.AccountHome, name) }
