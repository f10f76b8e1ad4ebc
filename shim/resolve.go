package shim

/*
#include <stdlib.h>
#include "exec.h"
*/
import "C"

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"reprise/rewrite"
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

// fingerprint tells one build of a binary from another: a shim of ours never asks
// the binary itself for it.
func (t target) fingerprint() string {
	return fmt.Sprintf("%s %s %d %d", t.real, t.id, t.info.Size(), t.info.ModTime().UnixNano())
}

// version is the binary's version as its place tells it, without running it: a
// file named by its version, as claude's own installer lays them, the npm package
// that it is a command of, or the Python package that it is a script of; "" where
// none is found.
func (t target) version() string {
	if name := filepath.Base(t.real); strings.Count(name, ".") == 2 && strings.Trim(name, "0123456789.") == "" {
		return name
	}
	dir := t.real
	for range 3 {
		dir = filepath.Dir(dir)
		var pkg struct {
			Version string
			Bin     map[string]string
		}
		text, _ := os.ReadFile(filepath.Join(dir, "package.json"))
		_ = json.Unmarshal(text, &pkg) // what is none names no command
		for _, command := range pkg.Bin {
			if filepath.Join(dir, command) == t.real {
				return pkg.Version
			}
		}
	}
	return pythonVersion(t.real)
}

// pythonVersion is the version of the Python package that a script belongs to: the
// one installed beside it whose entry points name it; "" if there are none, or
// several of different versions.
func pythonVersion(script string) string {
	bin, name := filepath.Split(script)
	files, err := filepath.Glob(filepath.Join(rewrite.Literal(bin), "../lib/python3*/*-packages/*.dist-info/entry_points.txt"))
	if err != nil {
		return "" // the pattern is broken
	}
	version := ""
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !hasEntry(string(text), name) {
			continue
		}
		_, v, _ := strings.Cut(filepath.Base(filepath.Dir(file)), "-") // a package's own name has no dash there
		v = strings.TrimSuffix(v, ".dist-info")
		if version != "" && v != version {
			return ""
		}
		version = v
	}
	return version
}

// hasEntry reports whether a file of entry points has one of that name.
func hasEntry(text, name string) bool {
	for line := range strings.Lines(text) {
		if entry, _, ok := strings.Cut(line, "="); ok && strings.TrimRight(entry, " \t") == name {
			return true
		}
	}
	return false
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
