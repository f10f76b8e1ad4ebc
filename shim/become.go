package shim

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/front"
	"reprise/shim/supervise"

	"golang.org/x/sys/unix"
)

// exitNotFound is the exit code if there is no binary, the same as that of shells.
const exitNotFound = 127

// execReal replaces this process by the real binary, with the same arguments, environment
// (except the guard and the store's variables), descriptors and pid. If stdin is not nil, it replaces the caller's, which
// has been read. execReal returns an exit code only if it fails.
func (c *call) execReal(stdin *os.File) int {
	return c.execWith(unsetEnv(c.env.Environ, nil), stdin)
}

// execWith is execReal with another environment.
func (c *call) execWith(environ []string, stdin *os.File) int {
	if stdin != nil {
		if err := unix.Dup2(int(stdin.Fd()), 0); err != nil {
			return c.cannotRun(fmt.Errorf("hand on stdin: %w", err))
		}
	}
	for {
		t, err := c.target()
		if err != nil {
			return c.cannotRun(cmp.Or(c.unstarted, err))
		}
		runtime.LockOSThread()
		front.Restore()
		err = execOrSh(t.path, c.env.Args, setEnv(environ, guardEnv, c.guard.With(t.id, os.Getpid())))
		if errors.Is(err, unix.E2BIG) { // perhaps because of the guard
			err = execOrSh(t.path, c.env.Args, environ)
		}
		if !passedOver(err) {
			return c.cannotRun(fmt.Errorf("run %s: %w", t.path, err))
		}
		c.passOver(t, err)
	}
}

// passedOver reports whether execvp would try the next program on PATH after this error of an exec.
func passedOver(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ESTALE) || errors.Is(err, unix.EACCES)
}

// passOver has target return the next program. Like execvp, the shim reports that a program was there if one must not be run.
func (c *call) passOver(t target, err error) {
	if !errors.Is(c.unstarted, unix.EACCES) {
		c.unstarted = fmt.Errorf("%s: %w", t.path, err)
	}
	c.skip += "," + t.id
	c.real = target{}
}

// passthrough becomes the real binary, with all of the caller's stdin. It returns only if that
// fails.
func (c *call) passthrough(why reason.Code) int {
	c.log.passthrough(why)
	c.printVerbose(rewrite.Passthrough, why)
	c.runSteps(func() reason.Code { return c.countPassed(why) })
	stdin, err := c.stdin.HandOn()
	if err != nil {
		return c.cannotRun(cmp.Or(c.failed, err)) // why it must be handed on at all, if that is a failure
	}
	c.book().close()
	return c.execReal(stdin)
}

// execOrSh replaces this process by a program, or like a shell by a script without "#!". It returns
// only if that fails.
func execOrSh(path string, args, environ []string) error {
	err := unix.Exec(path, args, environ)
	if errors.Is(err, unix.ENOEXEC) {
		err = unix.Exec("/bin/sh", append([]string{"sh", path}, args[1:]...), environ)
	}
	return err
}

// cannotRun reports on stderr why no tool can be run, and returns the exit code.
func (c *call) cannotRun(err error) int {
	c.log.fault("cannot run the tool", err)
	switch {
	case errors.Is(err, errNotFound):
		fmt.Fprintf(c.env.Stderr, "reprise: %s: no other executable of that name on PATH\n"+
			"reprise: hint: install it, or name it in the configuration: [tool.%s] path = \"/...\"\n", c.name, c.name)
		return exitNotFound
	case errors.Is(err, errLoop):
		fmt.Fprintf(c.env.Stderr, "reprise: %s: gave up after %d shims that lead to each other\n"+
			"reprise: hint: tried on PATH: %s\n", c.name, c.guard.Hops(), strings.Join(c.candidates(), ", "))
		return supervise.CannotRun
	}
	fmt.Fprintf(c.env.Stderr, "reprise: %s: %v\n", c.name, err)
	if err == c.unstarted && !errors.Is(err, unix.EACCES) {
		return exitNotFound
	}
	return supervise.CannotRun
}
