package ledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

func makePrivate(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := restrictMode(dir, fs.ModeDir|0o700); err != nil {
		return err
	}
	err := restrictMode(path, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600); err == nil {
			err = f.Close()
		}
	}
	for _, part := range []string{"-wal", "-shm"} {
		if failed := restrictMode(path+part, 0o600); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// restrictMode removes permissions beyond most from a file's mode. It opens only a file that must
// be changed. It leaves a file of another type than most alone: a device's mode affects every user,
// and a directory in place of a file can be any user's home.
func restrictMode(path string, most fs.FileMode) error {
	info, err := os.Stat(path)
	if err != nil || !tooOpen(info, most) {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return narrowTo(f, most)
}

func narrowTo(f *os.File, most fs.FileMode) error {
	info, err := f.Stat()
	if err != nil || !tooOpen(info, most) {
		return err
	}
	return f.Chmod(info.Mode().Perm() & most)
}

func tooOpen(info fs.FileInfo, most fs.FileMode) bool {
	return info.Mode().Type() == most.Type() && info.Mode().Perm()&^most != 0
}
