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

// guardEnv carries what keeps shims from finding each other for ever.
const guardEnv = "REPRISE_GUARD"

// maxHops is how often one call may pass through a shim of ours.
const maxHops = C.REPRISE_MAX_HOPS

// identify tells a file from others whatever name it is found under: it gives an id,
// "" where there is no file.
func identify(path string) string {
	text := C.CString(path)
	defer C.free(unsafe.Pointer(text))
	var id [C.REPRISE_ID_SIZE]C.char
	C.reprise_identify(text, &id[0])
	return C.GoString(&id[0])
}

// self identifies the running program, also after its file was replaced.
func self() string {
	var id [C.REPRISE_ID_SIZE]C.char
	C.reprise_self(&id[0])
	return C.GoString(&id[0])
}

// A guard is the chain of shims that a call has come through.
type guard C.struct_reprise_guard

func readGuard(value string, pid int, self string) guard {
	text, id := C.CString(value), C.CString(self)
	defer C.free(unsafe.Pointer(text))
	defer C.free(unsafe.Pointer(id))
	var g C.struct_reprise_guard
	C.reprise_read_guard(text, C.long(pid), id, &g)
	return guard(g)
}

// with returns the guard's value for one target more.
func (g guard) with(target string, pid int) string {
	id := C.CString(target)
	defer C.free(unsafe.Pointer(id))
	var value [2 * C.REPRISE_GUARD_SIZE]C.char
	C.reprise_write_guard((*C.struct_reprise_guard)(&g), id, C.long(pid), &value[0])
	return C.GoString(&value[0])
}

// skip are the ids of the files that are not the real binary: the running program, and what was
// tried before.
func (g guard) skip() string { return C.GoString(&g.tried[0]) }

// A target is a real binary.
type target struct {
	path string // as it was found
	real string // the same without links
	info fs.FileInfo
	id   string
}

var (
	errNotFound = errors.New("not found")
	errLoop     = errors.New("loop")
)

// resolve finds the real binary: the configured path, else the next executable of
// that name on PATH which is none of those to be skipped, ids with commas between.
// See reprise_find.
func resolve(name, configured, path string, skip string) (target, error) {
	return find(name, configured, path, skip, func(name, configured, path, skip *C.char, found *C.struct_reprise_target) bool {
		return bool(C.reprise_find(name, configured, path, skip, found))
	})
}

// resolveBehind finds the real binary behind all that was tried. See reprise_find_behind.
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
		return target{}, errNotFound // gone in between
	}
	t.real = canonical(t.path)
	return t, nil
}

func executablePath() string {
	path, _ := os.Executable() // "" is then not found either
	return path
}

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
