package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"reprise/rewrite/reason"
	"reprise/shim/supervise"

	"golang.org/x/sys/unix"
)

// Limits, in bytes, for reading a file that the working directory or the caller can choose, and
// for one that the tool itself keeps in the user's home.
const (
	maxSettings = 1 << 20
	maxOwnState = 16 << 20
)

// Errors for files that are not read.
var (
	errNotRegular = errors.New("not a regular file")
	errTooLarge   = errors.New("larger than the limit")
)

// stat is os.Stat for a file that can be read. It fails with errNotRegular for anything but
// regular files and directories, which merely opening could change, and for the file that is
// the call's stdin.
func (c *call) stat(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return info, nil
	case !info.Mode().IsRegular() || c.isStdin(info):
		return info, errNotRegular
	}
	return info, nil
}

// isStdin reports whether a file is the call's stdin, as /dev/stdin can be.
func (c *call) isStdin(info fs.FileInfo) bool {
	if c.env.Stdin == nil {
		return false
	}
	stdin, err := c.env.Stdin.Stat()
	return err == nil && os.SameFile(stdin, info)
}

// readRegular reads a regular file of at most max bytes. It never blocks, even if a FIFO
// replaces the file meanwhile.
func readRegular(path string, max int64) (string, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return "", err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return "", errNotRegular
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	if err := unix.Fstat(fd, &st); err != nil {
		return "", err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return "", errNotRegular
	case st.Size > max:
		return "", errTooLarge
	}
	return supervise.ReadAt(fd, 0, st.Size)
}

// checkFiles checks all files that the call's settings depend on before any of them is read. It
// returns a reason if one of them cannot be read without a change to the tool's input.
func (c *call) checkFiles() reason.Code {
	for _, s := range c.parsed.Settings {
		if !s.File {
			continue
		}
		for _, path := range s.Paths() {
			if info, err := c.stat(path); errors.Is(err, errNotRegular) || err == nil && info.IsDir() {
				return reason.Unreadable
			}
		}
	}
	for _, path := range c.parsed.SettingsFiles {
		info, err := c.stat(path)
		if errors.Is(err, errNotRegular) || err == nil && !info.IsDir() && info.Size() > maxSize(path) {
			return reason.Unreadable
		}
	}
	return ""
}

// maxSize returns the limit for reading a settings file.
func maxSize(path string) int64 {
	if filepath.Base(path) == ".claude.json" { // the size grows with the number of projects
		return maxOwnState
	}
	return maxSettings
}

// isAbsent reports whether an error says that a file does not exist, or that the path is not
// valid.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) ||
		errors.Is(err, syscall.EINVAL)
}

// fileContent returns a file's content for comparison. For a file that is not read, or is
// larger than max bytes, it returns an identification of the present state instead.
func (c *call) fileContent(path string, max int64) (content string, present bool) {
	info, err := c.stat(path)
	switch {
	case info == nil:
		return "", !isAbsent(err)
	case info.IsDir():
		return "", false
	case !info.Mode().IsRegular():
		return c.unique(), true
	case err == nil:
		if text, err := readRegular(path, max); err == nil {
			return "content " + text, true
		}
	}
	return "file " + identity(info), true
}

// unique returns a text that no other call has. It stands for what cannot be known, so that it
// differs from every other call's.
func (c *call) unique() string { return fmt.Sprint(os.Getpid(), " ", c.started.UnixNano()) }

// identity identifies the present state of a file without reading it.
func identity(info fs.FileInfo) string {
	st, _ := info.Sys().(*syscall.Stat_t)
	if st == nil {
		return ""
	}
	return fmt.Sprintf("%d %d %d %d", st.Dev, st.Ino, info.Size(), info.ModTime().UnixNano())
}

// workingDir returns the directory that the tool will work in, with symbolic links resolved.
func workingDir(asked string) (string, error) {
	dir, err := filepath.Abs(asked)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// canonical returns a path with symbolic links resolved, or only cleaned if it does not exist.
func canonical(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
