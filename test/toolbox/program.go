package toolbox

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// Program writes a program and returns its path. No process may be started meanwhile: until its exec it would have the file
// open for writing, and the program could not be run.
func Program(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// StartAnew starts a test's program anew if a shell has it ignore signals, as it does for jobs in the background. ignored
// reports what was so before Go ran: that is what a shim goes by.
func StartAnew(ignored func(syscall.Signal) bool) {
	if slices.ContainsFunc([]syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP}, ignored) {
		RestoreSignals()
		program, err := os.Executable()
		if err == nil {
			err = syscall.Exec(program, os.Args, os.Environ())
		}
		panic(err)
	}
}
