package front

// #include "exec.h"
// #include "inherit.h"
import "C"

import (
	"runtime"
	"syscall"
	"unsafe"
)

// argv[0] of the shim where it starts itself for a task that Go cannot do in a child. See
// start_tool and witness in exec.c. Both tasks end before Go starts.
const (
	StartName   = C.REPRISE_START
	WitnessName = C.REPRISE_WITNESS
)

// Signals returns three sets of signals: the caller ignores them, it blocks them, or it blocks them
// and they have arrived before Handle. Bit 0 is signal 1.
func Signals() (ignored, blocked, pending uint64) {
	var i, b, p C.ulonglong
	C.inherit_signals(&i, &b, &p)
	return uint64(i), uint64(b), uint64(p)
}

// Blocked calls start while this thread blocks the caller's blocked signals, or all.
func Blocked(everything bool, start func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	old := C.inherit_block(C.bool(everything))
	defer C.inherit_unblock(old)
	start()
}

// Closed reports whether a descriptor is 0, 1 or 2 and was closed when the shim was started. The Go
// runtime has opened it since.
func Closed(fd uintptr) bool { return C.inherit_closed(C.int(fd)) != 0 }

// HandleAsTool has signals do to this process, until HandleInGo, as they would to the tool. Go
// would ignore some, print a traceback for others, and unblock them. A shim's process is hidden
// from the start on.
func HandleAsTool() { C.inherit_default() }

// HandleInGo gives signals to Go's handlers.
func HandleInGo() { C.inherit_handle() }

// Restore ignores and blocks the caller's signals again, and closes the closed descriptors, in this
// thread and before an exec.
func Restore() { C.inherit_restore() }

// Feed starts a process that writes data to a descriptor, and then everything from another one.
func Feed(data string, from, to uintptr) error {
	n := C.inherit_feeder((*C.char)(unsafe.Pointer(unsafe.StringData(data))), C.size_t(len(data)),
		C.int(from), C.int(to))
	if n == 0 {
		return nil
	}
	return syscall.Errno(n)
}

// Stop stops this process as a signal has stopped the tool with that PID.
func Stop(tool int, sig syscall.Signal) { C.inherit_stop(C.pid_t(tool), C.int(sig)) }

// Die ends this process by a signal, with that signal's default action.
func Die(sig syscall.Signal) { C.inherit_die(C.int(sig)) }
