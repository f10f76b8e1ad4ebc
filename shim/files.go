package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"reprise/ledger"
	"reprise/rewrite"

	"golang.org/x/sys/unix"
)

// Limits on what is read of a file that the working directory or the caller can
// choose, and of one that the tool itself keeps in the user's home.
const (
	maxSettings = 1 << 20
	maxOwnState = 16 << 20
)

// Errors of files that are not read.
var (
	errNotRegular = errors.New("not a regular file")
	errTooLarge   = errors.New("larger than what is read")
)

// lookAt reports what stands at a path, without opening it: to open a FIFO or a device
// can already change something. It fails with errNotRegular for what is neither a
// regular file nor a directory, and for the file that is also the call's stdin.
func (c *call) lookAt(path string) (fs.FileInfo, error) {
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

// isStdin reports whether a file is the call's stdin: /dev/stdin leads to a regular
// file where stdin is one.
func (c *call) isStdin(info fs.FileInfo) bool {
	if c.env.Stdin == nil {
		return false
	}
	stdin, err := c.env.Stdin.Stat()
	return err == nil && os.SameFile(stdin, info)
}

// readRegular reads a regular file of at most max bytes. It does not wait, whatever
// takes the file's place meanwhile.
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
	data := make([]byte, st.Size)
	n := 0
	for n < len(data) {
		m, err := unix.Pread(fd, data[n:], int64(n))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return "", err
		}
		if m == 0 {
			break
		}
		n += m
	}
	return string(data[:n]), nil
}

// checkFiles looks at each file that the call's settings depend on before any of them
// is read. A reason means that what the tool is going to read cannot be known, or
// would be used up: only the tool itself may read it.
func (c *call) checkFiles() rewrite.Reason {
	for _, s := range c.parsed.Settings {
		if !s.File {
			continue
		}
		for _, path := range s.Paths() {
			if info, err := c.lookAt(path); errors.Is(err, errNotRegular) || err == nil && info.IsDir() {
				return rewrite.FileNotRegular
			}
		}
	}
	for _, path := range c.parsed.SettingsFiles {
		switch info, err := c.lookAt(path); {
		case errors.Is(err, errNotRegular):
			return rewrite.FileNotRegular
		case err == nil && !info.IsDir() && info.Size() > maxSize(path):
			return rewrite.FileTooLarge
		}
	}
	return ""
}

// maxSize is how much of a settings file is read.
func maxSize(path string) int64 {
	if filepath.Base(path) == ".claude.json" { // grows with the number of projects
		return maxOwnState
	}
	return maxSettings
}

// isAbsent reports whether an error says that there is no such file, or that the text
// is no path at all.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) ||
		errors.Is(err, syscall.EINVAL)
}

// contentOf returns what stands for a file's content: the content itself, or for a file
// that is not read, or is larger than max, what tells it from another one under the same name.
func (c *call) contentOf(path string, max int64) (content string, present bool) {
	info, err := c.lookAt(path)
	if info == nil {
		return "", err != nil && !isAbsent(err)
	}
	if err == nil && !info.IsDir() {
		text, err := readRegular(path, max)
		if err == nil {
			return "content " + text, true
		}
	}
	switch {
	case info.IsDir():
		return "", false
	case !info.Mode().IsRegular():
		return c.unlikeAny(), true
	}
	return "file " + stateOf(info), true
}

// unlikeAny returns what stands for something that cannot be known: no other call has the
// same.
func (c *call) unlikeAny() string { return fmt.Sprint(os.Getpid(), " ", c.started.UnixNano()) }

// stateOf tells one state of a file from the next without reading it.
func stateOf(info fs.FileInfo) string {
	st, _ := info.Sys().(*syscall.Stat_t)
	if st == nil {
		return ""
	}
	return fmt.Sprintf("%d %d %d %d", st.Dev, st.Ino, info.Size(), info.ModTime().UnixNano())
}

// workingDir is the directory that the tool is going to work in, by its real
// name.
func workingDir(asked string) (string, error) {
	dir, err := filepath.Abs(asked)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// canonical returns a path's real name, or the name it has where it does not
// exist yet.
func canonical(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// fileState compares a session's file with what our last run left.
func fileState(path string, size int64) ledger.FileState {
	info, err := os.Stat(path)
	switch {
	case path == "" || err != nil || !info.Mode().IsRegular():
		return ledger.FileGone
	case info.Size() != size:
		return ledger.FileChanged
	}
	return ledger.FileSame
}
