package watch

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// A fileID identifies a file under any name.
type fileID struct{ dev, ino uint64 }

// A stamp is a file's metadata. If the content changes, the stamp nearly always does.
type stamp struct {
	id      fileID
	size    int64
	changed int64
}

func newStamp(info fs.FileInfo) stamp {
	st := info.Sys().(*syscall.Stat_t)
	return stamp{id: fileID{uint64(st.Dev), uint64(st.Ino)}, size: info.Size(),
		changed: info.ModTime().UnixNano()}
}

// open opens a regular file. It neither blocks on a pipe nor follows a symbolic link that replaced
// the file.
func open(path string) (*os.File, stamp, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, stamp{}, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, stamp{}, errors.Join(err, f.Close())
	}
	return f, newStamp(info), nil
}
