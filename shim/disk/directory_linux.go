package disk

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// DirectoryID identifies a directory, so that another one under the same name differs. A file
// system can reuse an inode number, so the time of creation is a part of it.
func DirectoryID(path string) string {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d %d %d.%d", st.Dev_major, st.Dev_minor, st.Ino, st.Btime.Sec,
		st.Btime.Nsec)
}
