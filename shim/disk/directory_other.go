//go:build !linux

package disk

import (
	"fmt"
	"os"
	"syscall"
)

// DirectoryID identifies a directory, so that another one under the same name differs.
func DirectoryID(path string) string {
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
