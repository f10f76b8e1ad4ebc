//go:build !linux

package disk

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// DirectoryID identifies a directory, so that another one under the same name differs.
func DirectoryID(path string) string {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return ""
	}
	return fmt.Sprintf("%d %d", st.Dev, st.Ino)
}
