package shim

// #include "inherit.h"
import "C"

// leave ends the shim as the tool ended, and gives the exit code where that was
// one.
func (s status) leave() int {
	if s.signal == 0 {
		return s.exit
	}
	C.inherit_die(C.int(s.signal))
	return 128 + int(s.signal)
}
