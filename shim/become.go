package shim

// #include "inherit.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Exit codes of the shim's own failures, as shells use them.
const (
	exitCannotRun = 126
	exitNotFound  = 127
)

// execReal replaces this process by the real binary: same arguments, environment
// (but for the guard), descriptors and pid. stdin, where it is not nil, takes the
// place of the caller's, for what was read of that. It returns only if that
// fails.
func (c *call) execReal(stdin *os.File) int {
	t, err := c.target()
	if err != nil {
		return c.cannotRun(err)
	}
	if stdin != nil {
		if err := unix.Dup2(int(stdin.Fd()), 0); err != nil {
			return c.cannotRun(fmt.Errorf("hand on stdin: %w", err))
		}
	}
	runtime.LockOSThread()
	C.inherit_ignore()
	C.inherit_close()
	environ := with(c.env.Environ, guardEnv, c.guard.with(t.id, os.Getpid()))
	err = unix.Exec(t.path, c.env.Args, environ)
	if errors.Is(err, unix.ENOEXEC) { // a script without a first line: a shell would run it itself
		err = unix.Exec("/bin/sh", append([]string{"sh", t.path}, c.env.Args[1:]...), environ)
	}
	return c.cannotRun(fmt.Errorf("run %s: %w", t.path, err))
}

// cannotRun says why there is no tool to run.
func (c *call) cannotRun(err error) int {
	c.log.fault("cannot run the tool", err)
	switch {
	case errors.Is(err, errNotFound):
		fmt.Fprintf(c.env.Stderr, "reprise: %s: no other executable of that name on PATH\n"+
			"reprise: hint: install it, or name it in the configuration: [tool.%s] path = \"/...\"\n", c.name, c.name)
		return exitNotFound
	case errors.Is(err, errLoop):
		fmt.Fprintf(c.env.Stderr, "reprise: %s: gave up after %d shims that lead to each other\n"+
			"reprise: hint: tried on PATH: %s\n", c.name, c.guard.hops, strings.Join(c.candidates(), ", "))
		return exitCannotRun
	}
	fmt.Fprintf(c.env.Stderr, "reprise: %s: %v\n", c.name, err)
	return exitCannotRun
}

// candidates lists every executable of the tool's name on PATH, each once.
func (c *call) candidates() []string {
	var found []string
	skip := ""
	for {
		t, err := resolve(c.name, "", c.env.path(), skip)
		if err != nil {
			return found
		}
		found, skip = append(found, t.path), skip+","+t.id
	}
}
