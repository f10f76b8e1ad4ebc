package front

// #include <stdlib.h>
// #include "exec.h"
//
// extern char **environ;
import "C"

import "unsafe"

// DefaultPath counts where PATH is not set.
const DefaultPath = C.REPRISE_PATH

// MaxHops is how often one call can pass through shims of reprise.
const MaxHops = C.REPRISE_MAX_HOPS

// Identify returns an ID of the file at a path, the same under any name; "" if there is none.
func Identify(path string) string {
	text := C.CString(path)
	defer C.free(unsafe.Pointer(text))
	var id [C.REPRISE_ID_SIZE]C.char
	C.reprise_identify(text, &id[0])
	return C.GoString(&id[0])
}

// Shim returns the name of the shim, "" if the program has another one. See called in exec.c.
func Shim() string { return C.GoString(C.reprise_shim) }

// Self returns the ID of the running program, even if the file was replaced.
func Self() string {
	var id [C.REPRISE_ID_SIZE]C.char
	C.reprise_self(&id[0])
	return C.GoString(&id[0])
}

// A Guard lists the shims that a call has passed through.
type Guard struct{ list C.struct_reprise_guard }

// ReadGuard reads the value that a process with this PID, and a program with the ID self, has
// inherited.
func ReadGuard(value string, pid int, self string) (g Guard) {
	text, id := C.CString(value), C.CString(self)
	defer C.free(unsafe.Pointer(text))
	defer C.free(unsafe.Pointer(id))
	C.reprise_read_guard(text, C.long(pid), id, &g.list)
	return g
}

// With returns the variable's value after one more target.
func (g Guard) With(target string, pid int) string {
	id := C.CString(target)
	defer C.free(unsafe.Pointer(id))
	var value [2 * C.REPRISE_GUARD_SIZE]C.char
	C.reprise_write_guard(&g.list, id, C.long(pid), &value[0])
	return C.GoString(&value[0])
}

// Skip returns the IDs of the files that are not the real binary, apart by commas: the running
// program, and all that were tried before.
func (g Guard) Skip() string { return C.GoString(&g.list.tried[0]) }

// Hops returns the number of shims.
func (g Guard) Hops() int { return int(g.list.hops) }

// Find finds the real binary, see reprise_find. The path is "" if there is none.
func Find(name, configured, path, skip string, again bool) (found, id string) {
	var in [4]*C.char
	for i, text := range []string{name, configured, path, skip} {
		in[i] = C.CString(text)
		defer C.free(unsafe.Pointer(in[i]))
	}
	var t C.struct_reprise_target
	C.reprise_find(in[0], in[1], in[2], in[3], C.bool(again), &t)
	return C.GoString(&t.path[0]), C.GoString(&t.id[0])
}

// Environ returns the variables as the caller has set them. Unlike os.Environ it keeps several
// entries of one name.
func Environ() (entries []string) {
	for at := C.environ; at != nil &&
		*at != nil; at = (**C.char)(unsafe.Add(unsafe.Pointer(at), unsafe.Sizeof(*at))) {
		entries = append(entries, C.GoString(*at))
	}
	return entries
}

// AccountHome returns the home directory of this user's account, regardless of HOME; "" if it
// has none.
func AccountHome() string {
	var home [C.PATH_MAX]C.char
	if !C.reprise_account_home(&home[0]) {
		return ""
	}
	return C.GoString(&home[0])
}

// IsScript reports whether a shell takes a file that the system cannot run for a script. See
// reprise_is_script.
func IsScript(path string) bool {
	text := C.CString(path)
	defer C.free(unsafe.Pointer(text))
	return bool(C.reprise_is_script(text))
}
