// Package textfile changes files as a whole: a reader sees the old one or the new one.
//
// It knows nothing of the files' contents. Invariant: an interrupted change leaves the old file,
// with its permissions.
package textfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"reprise/config"
	"reprise/internal/ctl/app"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// An Edit is a change of a file of the user's.
type Edit struct {
	File     string
	Existed  bool
	Old, New string
	Remove   bool // the file was made by us, and nothing else is in it
}

// Config reads the user's configuration as an edit that changes nothing yet.
func Config(a *app.App) (e Edit, err error) {
	file, err := config.ConfigFile(a.Own)
	if err != nil {
		return e, err
	}
	return Open(file)
}

// Open reads a file as an edit that changes nothing yet.
func Open(file string) (e Edit, err error) {
	data, err := os.ReadFile(file)
	e = Edit{File: file, Existed: err == nil, Old: string(data), New: string(data)}
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(file); err == nil {
			return e, app.WithHint(fmt.Errorf("read %s: it is a link to nothing", file),
				"create the file that it names, or remove the link")
		}
		return e, nil
	}
	return e, err
}

// Changes reports whether there is anything to write.
func (e Edit) Changes() bool { return e.Old != e.New }

// Lines returns the lines of the one place that the edit changes: the old ones and the new ones.
func (e Edit) Lines() (gone, come []string) {
	gone, come = lines(e.Old), lines(e.New)
	for len(gone) > 0 && len(come) > 0 && gone[0] == come[0] {
		gone, come = gone[1:], come[1:]
	}
	for len(gone) > 0 && len(come) > 0 && gone[len(gone)-1] == come[len(come)-1] {
		gone, come = gone[:len(gone)-1], come[:len(come)-1]
	}
	return gone, come
}

func lines(text string) (list []string) {
	for line := range strings.Lines(text) {
		list = append(list, strings.TrimRight(line, "\r\n"))
	}
	return list
}

// Replace writes a file as a whole or not at all. A file that exists keeps the permissions and the
// owner, a link stays one. It writes into anything but a regular file, such as /dev/stdout. No
// error names the file.
func Replace(path string, mode fs.FileMode, text []byte) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return withoutPath(os.WriteFile(path, text, 0))
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)),
		renameio.WithStaticPermissions(mode), renameio.WithExistingPermissions())
	if err != nil {
		return withoutPath(err) // which is temporary
	}
	_, err = f.Write(text)
	if err := errors.Join(keepOwner(f.File, info), err); err != nil {
		return errors.Join(err, f.Cleanup())
	}
	return f.CloseAtomicallyReplace()
}

func withoutPath(err error) error {
	if named, is := errors.AsType[*fs.PathError](err); is {
		return named.Err
	}
	return err
}

// keepOwner gives the file the owner and the group of the file that it replaces, if any.
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

// Write writes or removes one file, unless another process has written it meanwhile. Of several
// that edit the same text at once one succeeds.
func (e Edit) Write() error {
	dir := filepath.Dir(e.File)
	if !e.Existed {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if lock, err := os.Open(dir); err == nil {
		defer lock.Close()
		_ = unix.Flock(int(lock.Fd()), unix.LOCK_EX) // some file systems have no locks
	}
	is, err := Open(e.File)
	if err != nil {
		return err
	}
	if is.Existed != e.Existed || is.Old != e.Old {
		return errors.New("it was changed meanwhile")
	}
	if e.Remove {
		return os.Remove(e.File)
	}
	mode := fs.FileMode(0o644)
	if !e.Existed && filepath.Ext(e.File) == ".toml" {
		mode = 0o600
	}
	if err := unix.Access(e.File, unix.W_OK); e.Existed && err != nil {
		return err // a file that is marked as not to be written would be replaced all the same
	}
	return Replace(e.File, mode, []byte(e.New))
}
