package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// replaceFile writes a file as a whole or not at all. One that exists keeps its
// permissions. It writes into anything but a regular file, such as /dev/stdout. A link
// stays one.
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
	if err := writeAll(f, write); err != nil {
		return errors.Join(err, f.Cleanup())
	}
	return f.CloseAtomicallyReplace()
}

func writeAll(to io.Writer, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(to, 1<<16)
	return errors.Join(write(w), w.Flush())
}
