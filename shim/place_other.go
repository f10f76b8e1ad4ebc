//go:build !linux

package shim

import (
	"fmt"
	"os"
	"syscall"
)

// directoryID tells a directory from another one that has taken its name.
func directoryID(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	st, _ := info.Sys().(*syscall.Stat_t)
	if st == nil {
		return ""
	}
	return fmt.Sprintf("%d %d", st.Dev, st.Ino)
}
