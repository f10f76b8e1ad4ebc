package toolbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Write writes a file and the directories above it.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := Put(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Put is Write with a mode. Users who can read the file can enter the directories.
func Put(path, text string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o100|mode|mode&0o044>>2); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), mode)
}

// Program writes a program and returns its path. No process can be started meanwhile: until its
// exec it would have the file open for writing, and the program could not be run.
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

// Output runs a program and returns its stdout. An error has that, and the output on
// stderr.
func Output(name string, args ...string) (string, error) { return Run(exec.Command(name, args...)) }

// Run is Output of a command.
func Run(cmd *exec.Cmd) (string, error) {
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("%s: %w\n%s%s", strings.Join(cmd.Args, " "), err, out, exit.Stderr)
	}
	return string(out), err
}

// Cache returns a directory in the user's cache.
func Cache(name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache directory: %w", err)
	}
	return filepath.Join(cache, "reprise", name), nil
}

// Whole makes a directory, and has it filled, unless it is there. A directory of that name is
// whole: the name is a link to a directory that has been filled, since a virtual environment cannot
// be moved.
func Whole(dir string, fill func(dir string) error) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("make cache directory: %w", err)
	}
	half, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+"-")
	if err != nil {
		return fmt.Errorf("make cache directory: %w", err)
	}
	if err = fill(half); err == nil {
		if err = os.Symlink(filepath.Base(half), dir); err == nil {
			return nil
		}
	}
	if errors.Is(err, fs.ErrExist) { // another process was faster; its result is as good
		err = nil
	}
	return errors.Join(err, os.RemoveAll(half))
}

// StartAnew starts a test's program anew if a shell has it ignore signals, as it does for jobs in
// the background. ignored are the signals that were ignored before Go ran, the first in bit 0: a
// shim goes by these.
func StartAnew(ignored uint64) {
	if ignored&(1<<(syscall.SIGINT-1)|1<<(syscall.SIGQUIT-1)|1<<(syscall.SIGHUP-1)) != 0 {
		RestoreSignals()
		program, err := os.Executable()
		if err == nil {
			err = syscall.Exec(program, os.Args, os.Environ())
		}
		panic(err)
	}
}
