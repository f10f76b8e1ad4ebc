package shim

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// directoryID tells a directory from another one that has taken its name. A file system
// may give a new directory the number of one that was removed, so the time at which it
// was made counts as well.
func directoryID(path string) string {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d %d %d.%d", st.Dev_major, st.Dev_minor, st.Ino, st.Btime.Sec, st.Btime.Nsec)
}
