package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// replaceFile writes a file as a whole or not at all. One that exists keeps its
// permissions and its owner. It writes into anything but a regular file, such as
// /dev/stdout. A link stays one.
func replaceFile(path string, mode fs.FileMode, write func(io.Writer) error) error {
	if err := replace(path, mode, write); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func replace(path string, mode fs.FileMode, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return errors.New("is a directory")
	}
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(writeAll(f, write), f.Close())
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)),
		renameio.WithStaticPermissions(mode), renameio.WithExistingPermissions())
	if err != nil {
		return err
	}
	if err := errors.Join(keepOwner(f.File, info), writeAll(f, write)); err != nil {
		return errors.Join(err, f.Cleanup())
	}
	return f.CloseAtomicallyReplace()
}

// keepOwner gives the file the owner and the group of the one that it replaces, if any.
func keepOwner(f *os.File, replaced fs.FileInfo) error {
	if replaced == nil {
		return nil
	}
	fresh, err := f.Stat()
	if err != nil {
		return err
	}
	was, is := replaced.Sys().(*syscall.Stat_t), fresh.Sys().(*syscall.Stat_t)
	if was.Uid == is.Uid && was.Gid == is.Gid {
		return nil
	}
	return f.Chown(int(was.Uid), int(was.Gid))
}

func writeAll(to io.Writer, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(to, 1<<16)
	return errors.Join(write(w), w.Flush())
}
