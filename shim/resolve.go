package shim

// #include <stdlib.h>
// #include "exec.h"
// #include "inherit.h"
import "C"

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// guardEnv is the variable that keeps shims from finding each other for ever.
const guardEnv = "REPRISE_GUARD"

// maxHops is how often one call may pass through shims of reprise.
const maxHops = C.REPRISE_MAX_HOPS

// identify returns an ID of the file at a path, the same under any name; "" if there is none.
func identify(path string) string {
	text := C.CString(path)
	defer C.free(unsafe.Pointer(text))
	var id [C.REPRISE_ID_SIZE]C.char
	C.reprise_identify(text, &id[0])
	return C.GoString(&id[0])
}

// self returns the ID of the running program, even if its file was replaced.
func self() string {
	var id [C.REPRISE_ID_SIZE]C.char
	C.reprise_self(&id[0])
	return C.GoString(&id[0])
}

// A guard lists the shims that a call has passed through.
type guard C.struct_reprise_guard

func readGuard(value string, pid int, self string) guard {
	text, id := C.CString(value), C.CString(self)
	defer C.free(unsafe.Pointer(text))
	defer C.free(unsafe.Pointer(id))
	var g C.struct_reprise_guard
	C.reprise_read_guard(text, C.long(pid), id, &g)
	return guard(g)
}

// with returns the variable's value after one more target.
func (g guard) with(target string, pid int) string {
	id := C.CString(target)
	defer C.free(unsafe.Pointer(id))
	var value [2 * C.REPRISE_GUARD_SIZE]C.char
	C.reprise_write_guard((*C.struct_reprise_guard)(&g), id, C.long(pid), &value[0])
	return C.GoString(&value[0])
}

// skip returns the IDs of the files that are not the real binary: the running program, and all
// that were tried before.
func (g guard) skip() string { return C.GoString(&g.tried[0]) }

// A target is a real binary.
type target struct {
	path string // as found
	real string // with symbolic links resolved
	info fs.FileInfo
	id   string
}

var (
	errNotFound = errors.New("not found")
	errLoop     = errors.New("loop")
)

// resolve finds the real binary: the configured path, or else the first executable of that
// name on PATH whose ID is not in skip, a list separated by commas. See reprise_find.
func resolve(name, configured, path string, skip string) (target, error) {
	return find(name, configured, path, skip, func(name, configured, path, skip *C.char, found *C.struct_reprise_target) bool {
		return bool(C.reprise_find(name, configured, path, skip, found))
	})
}

// resolveBehind finds the next binary after those that were tried. See reprise_find_behind.
func resolveBehind(name, configured, path string, tried string) (target, error) {
	return find(name, configured, path, tried, func(name, configured, path, tried *C.char, found *C.struct_reprise_target) bool {
		return bool(C.reprise_find_behind(name, configured, path, tried, found))
	})
}

func find(name, configured, path, ids string, by func(name, configured, path, ids *C.char, found *C.struct_reprise_target) bool) (target, error) {
	var in [4]*C.char
	for i, text := range []string{name, configured, path, ids} {
		in[i] = C.CString(text)
		defer C.free(unsafe.Pointer(in[i]))
	}
	var found C.struct_reprise_target
	if !by(in[0], in[1], in[2], in[3], &found) {
		return target{}, errNotFound
	}
	t := target{path: C.GoString(&found.path[0]), id: C.GoString(&found.id[0])}
	var err error
	if t.info, err = os.Stat(t.path); err != nil {
		return target{}, errNotFound // removed since
	}
	t.real = canonical(t.path)
	return t, nil
}

func executablePath() string {
	path, _ := os.Executable() // callers do not find anything under ""
	return path
}

// Exit codes of the shim's own failures, the same as those of shells.
const (
	exitCannotRun = 126
	exitNotFound  = 127
)

// execReal replaces this process by the real binary, with the same arguments, environment
// (except the guard and the store's variables), descriptors and pid. If stdin is not nil, it replaces the caller's, which
// has been read. execReal returns an exit code only if it fails.
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
	environ := unsetEnv(c.env.Environ, nil)
	err = execOrSh(t.path, c.env.Args, setEnv(environ, guardEnv, c.guard.with(t.id, os.Getpid())))
	if errors.Is(err, unix.E2BIG) { // the guard may be what is too much
		err = execOrSh(t.path, c.env.Args, environ)
	}
	return c.cannotRun(fmt.Errorf("run %s: %w", t.path, err))
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
			"reprise: hint: tried on PATH: %s\n", c.name, c.guard.hops, strings.Join(c.candidates(), ", "))
		return exitCannotRun
	}
	fmt.Fprintf(c.env.Stderr, "reprise: %s: %v\n", c.name, err)
	return exitCannotRun
}

// candidates returns the paths of all executables of the tool's name on PATH, each once.
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
