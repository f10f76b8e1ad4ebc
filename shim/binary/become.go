package binary

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"reprise/shim/front"
	"reprise/shim/supervise"

	"golang.org/x/sys/unix"
)

// exitNotFound is the exit code if there is no binary, as in shells.
const exitNotFound = 127

// Become replaces this process by the real binary, with the call's arguments, descriptors and pid,
// and an environment that has the guard besides. If stdin is not nil, it replaces the caller's,
// which has been read. Become returns an exit code only if it fails.
func (s *Search) Become(environ []string, stdin *os.File) int {
	if stdin != nil {
		if err := unix.Dup2(int(stdin.Fd()), 0); err != nil {
			return s.CannotRun(fmt.Errorf("hand on stdin: %w", err))
		}
	}
	for {
		p, err := s.Program()
		if err != nil {
			return s.CannotRun(cmp.Or(s.unstarted, err))
		}
		runtime.LockOSThread()
		front.Restore()
		err = execOrSh(p.Path, s.Args, s.Guarded(environ))
		if errors.Is(err, unix.E2BIG) { // perhaps because of the guard
			err = execOrSh(p.Path, s.Args, environ)
		}
		if !passedOver(err) {
			return s.CannotRun(fmt.Errorf("run %s: %w", p.Path, err))
		}
		s.passOver(p, err)
	}
}

// passedOver reports whether execvp would try the next program on PATH after this error of an exec.
func passedOver(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) ||
		errors.Is(err, unix.ESTALE) || mustNotRun(err)
}

// mustNotRun reports whether a program is there that the system refuses to run.
func mustNotRun(err error) bool {
	return errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOEXEC)
}

// passOver has Program return the next program. Like execvp, the shim reports that a program was
// there if one must not be run.
func (s *Search) passOver(p Program, err error) {
	if !mustNotRun(s.unstarted) {
		s.unstarted = fmt.Errorf("%s: %w", p.Path, err)
	}
	s.skip += "," + p.ID
	s.found = Program{}
}

// execOrSh replaces this process by a program, or like a shell by a script without "#!". It returns
// only if that fails.
func execOrSh(path string, args, environ []string) error {
	err := unix.Exec(path, args, environ)
	if errors.Is(err, unix.ENOEXEC) && front.IsScript(path) {
		err = unix.Exec("/bin/sh", append([]string{"sh", path}, args[1:]...), environ)
	}
	return err
}

// CannotRun reports on stderr why no tool can be run, and returns the exit code.
func (s *Search) CannotRun(err error) int {
	s.Fault("cannot run the tool", err)
	switch {
	case errors.Is(err, ErrNotFound):
		fmt.Fprintf(s.Stderr, "reprise: %s: no other executable of that name on PATH\n"+
			"reprise: hint: install it, or name it in the configuration: [tool.%s] path = "+
			"\"/...\"\n", s.Name, s.Name)
		return exitNotFound
	case errors.Is(err, errLoop):
		fmt.Fprintf(s.Stderr, "reprise: %s: gave up after %d shims that lead to each other\n"+
			"reprise: hint: tried on PATH: %s\n", s.Name, s.guard.Hops(),
			strings.Join(s.candidates(), ", "))
		return supervise.CannotRun
	}
	fmt.Fprintf(s.Stderr, "reprise: %s: %v\n", s.Name, err)
	if err == s.unstarted && !mustNotRun(err) {
		return exitNotFound
	}
	return supervise.CannotRun
}
