package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/disk"
	"reprise/shim/front"
)

// stat is os.Stat for a file that can be read. It fails with disk.ErrNotRegular for anything but
// regular files and directories, which merely opening could change, and for the file that is
// the call's stdin.
func (a *asked) stat(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return info, nil
	case !info.Mode().IsRegular() || a.isStdin(info):
		return info, disk.ErrNotRegular
	}
	return info, nil
}

// isStdin reports whether a file is the call's stdin, as /dev/stdin can be.
func (a *asked) isStdin(info fs.FileInfo) bool {
	if a.env.Stdin == nil {
		return false
	}
	stdin, err := a.env.Stdin.Stat()
	return err == nil && os.SameFile(stdin, info)
}

// checkFiles checks all files that the call's settings depend on before any of them is read. It
// fails with a pass if one of them cannot be read without a change to the tool's input.
func (f *found) checkFiles() error {
	if f.line.Mode != rewrite.Fresh {
		return nil
	}
	for _, s := range f.line.Settings {
		if !s.File {
			continue
		}
		for _, path := range s.Paths() {
			if info, err := f.stat(path); errors.Is(err, disk.ErrNotRegular) ||
				err == nil && info.IsDir() {
				return reason.Unreadable
			}
		}
	}
	for _, path := range f.line.SettingsFiles {
		info, err := f.stat(f.placeOf(path))
		if errors.Is(err, disk.ErrNotRegular) ||
			err == nil && !info.IsDir() && info.Size() > maxSize(path) {
			return reason.Unreadable
		}
	}
	return nil
}

// placeOf returns the path of a settings file, which can be relative to the tool's directory. It is
// not cleaned: behind a symbolic link, as PWD can be, ".." is above the link's target, and opencode
// 1.18.33 looks there too.
func (f *found) placeOf(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return f.cwd + "/" + path
}

// maxSize returns the limit for reading a settings file.
func maxSize(path string) int64 {
	if filepath.Base(path) == ".claude.json" { // the size grows with the number of projects
		return disk.MaxOwnState
	}
	return disk.MaxSettings
}

// fileContent returns a file's content for comparison. For a file that is not read, or is
// larger than max bytes, it returns an identification of the present state instead.
func (a *asked) fileContent(path string, max int64) (content string, present bool) {
	info, err := a.stat(path)
	switch {
	case info == nil:
		return "", !disk.IsAbsent(err)
	case info.IsDir():
		return "", false
	case !info.Mode().IsRegular():
		return a.unique(), true
	case err == nil:
		if text, err := disk.Read(path, max); err == nil {
			return "content " + text, true
		}
	}
	return fmt.Sprintf("file %s %d %d", front.Identify(path), info.Size(),
		info.ModTime().UnixNano()), true
}

// unique returns a text that no other call has. It stands for an unknown content, so that it
// differs from every other call's.
func (a *asked) unique() string { return fmt.Sprint(os.Getpid(), " ", a.started.UnixNano()) }

// workingDir returns the directory that the tool will work in, with symbolic links resolved.
func workingDir(asked string) (string, error) {
	dir, err := filepath.Abs(asked)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}
