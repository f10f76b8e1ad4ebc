// Package disk reads files that the working directory or the caller can choose.
//
// Invariant: it opens only regular files, never blocks, and reads up to a limit.
package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Limits, in bytes, for reading a file that the working directory or the caller can choose, and
// for the tool's own files in the user's home.
const (
	MaxSettings = 1 << 20
	MaxOwnState = 16 << 20
)

// Errors for files that are not read.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("larger than the limit")
)

// Read reads a regular file of at most max bytes. It never blocks, even if a FIFO
// replaces the file meanwhile.
func Read(path string, max int64) (string, error) {
	info, err := os.Stat(path) // to open anything else could change it
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		return "", err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err = file.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", ErrNotRegular
	case info.Size() > max:
		return "", ErrTooLarge
	}
	return ReadAt(file, 0, info.Size())
}

// ReadAt reads size bytes from an offset on, or fewer if the file ends before. The file's own
// offset stays.
func ReadAt(file *os.File, offset, size int64) (string, error) {
	data := make([]byte, size)
	n, err := file.ReadAt(data, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return string(data[:n]), err
}

// Replace writes a file that only the user can read. It renames another one, with a name that
// begins with half, so that no reader sees a part of it and no link is followed.
func Replace(path, half string, text []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), half)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// IsAbsent reports whether an error says that a file does not exist, or that the path is not
// valid.
func IsAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ENAMETOOLONG) ||
		errors.Is(err, syscall.EINVAL)
}

// Matches returns the files that match a pattern, none if the pattern is malformed. If only the
// directory part has wildcards, it does not list the directories: one can contain thousands of
// sessions.
func Matches(pattern string) []string {
	dir, name := filepath.Split(pattern)
	if strings.ContainsAny(name, `*?[\`) {
		found, _ := filepath.Glob(pattern)
		return found
	}
	dirs, _ := filepath.Glob(filepath.Clean(dir))
	var found []string
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			found = append(found, path)
		}
	}
	return found
}

// RemoveOld removes the remains of killed calls: whatever in a directory matches a pattern and was
// changed longer ago than age.
func RemoveOld(dir, pattern string, age time.Duration) {
	names, _ := fs.Glob(os.DirFS(dir), pattern) // the pattern is a valid one
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > age {
			_ = os.RemoveAll(path) // the next call tries again
		}
	}
}

// Absolute returns a path, which can be relative to base, as an absolute one.
func Absolute(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// Resolve resolves the symbolic links of a path; the end need not exist.
func Resolve(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(Resolve(dir), filepath.Base(path))
}
