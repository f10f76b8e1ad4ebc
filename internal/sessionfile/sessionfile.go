// Package sessionfile finds and removes the files of one session.
//
// It never follows a symbolic link, never leaves the tool's own directory, and removes nothing that
// has changed since it was checked. Invariant: a file is removed only if it has the same place,
// name, device and inode, size and time as the file that was found, and no other process has
// written to it since our last run ended.
package sessionfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"reprise/internal/prune"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
)

// Files are the files of a session.
type Files struct {
	Session ledger.SessionFile
	parts   rewrite.SessionFiles
	// the session's own first, a directory before the content: they are removed from the end
	entries []entry
}

type entry struct {
	path string // relative to the home
	info fs.FileInfo
}

// Bytes returns the size of all files together.
func (f *Files) Bytes() (n int64) {
	for _, e := range f.entries {
		if e.info.Mode().IsRegular() {
			n += e.info.Size()
		}
	}
	return n
}

// Named reports whether there are files that a copy of the session can name to the model.
func (f *Files) Named() bool {
	return slices.ContainsFunc(f.entries, func(e entry) bool {
		return slices.Contains(f.parts.Named, e.path)
	})
}

// Find finds a session's files. If they must stay, it returns the reason.
func (f *Finder) Find(s ledger.SessionFile) (*Files, prune.Reason) {
	tool, ok := rewrite.Lookup(s.Tool)
	if !ok || !tool.ValidID(s.NativeID) {
		return nil, prune.Foreign
	}
	if tool.Descriptor().SessionQuery != "" {
		return nil, prune.InDatabase
	}
	parts, ok := rewrite.FilesOf(tool, s.Home, s.NativeID, s.File)
	if !ok {
		return nil, prune.Foreign
	}
	files := &Files{Session: s, parts: parts}
	err := inHome(s.Home, func(root *os.Root) (err error) {
		if files.entries, err = inventory(root, parts.Paths); err != nil {
			return err
		}
		if err := files.check(root); err != nil {
			return err
		}
		return f.keeps(root, s, parts)
	})
	var why prune.Reason
	switch {
	case err == nil:
		return files, ""
	case errors.As(err, &why):
		return nil, why
	case errors.Is(err, fs.ErrNotExist):
		return nil, prune.Gone
	}
	return nil, prune.Unknown
}

// inHome opens a tool's directory by the real path.
func inHome(home string, do func(*os.Root) error) error {
	real, err := filepath.EvalSymlinks(home)
	if err != nil {
		return err
	}
	if real != home {
		return prune.Foreign
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root)
}

// check compares the found files with the state that our last run left.
func (f *Files) check(root *os.Root) error {
	s := f.Session
	own := strings.TrimPrefix(s.File, s.Home+"/")
	at := slices.IndexFunc(f.entries, func(e entry) bool { return e.path == own })
	if at < 0 || !f.entries[at].info.Mode().IsRegular() ||
		decide.FileStamp(f.entries[at].info) != s.Stamp {
		return prune.Changed
	}
	for _, e := range f.entries {
		if e.info.Mode().IsRegular() && e.info.ModTime().UnixMilli() > int64(s.LastUsed) {
			return prune.Changed
		}
	}
	if strings.Contains(own, s.NativeID) {
		return nil
	}
	head, err := firstLine(root, own)
	if err == nil && !strings.Contains(head, s.NativeID) {
		err = prune.Foreign
	}
	return err
}

// Remove removes the found files, the session's own file or directory last. A file that has changed
// since stays, and Remove returns an error.
func (f *Files) Remove() error {
	err := inHome(f.Session.Home, func(root *os.Root) error {
		unlock, err := lock(root, f.parts.Lock)
		if err != nil {
			return err
		}
		defer unlock()
		now, err := inventory(root, f.parts.Paths)
		if err != nil {
			return err
		}
		if !slices.EqualFunc(now, f.entries, entry.same) {
			return prune.Changed
		}
		for _, e := range slices.Backward(f.entries) {
			if err := remove(root, e); err != nil {
				return err
			}
		}
		return nil
	})
	var why prune.Reason
	if errors.As(err, &why) {
		return fmt.Errorf("remove session: it is %s", why)
	}
	if err != nil {
		return fmt.Errorf("remove session: %w", err)
	}
	return nil
}

func (e entry) same(other entry) bool {
	return e.path == other.path && os.SameFile(e.info, other.info) &&
		e.info.Mode() == other.info.Mode() &&
		(e.info.IsDir() || e.info.Size() == other.info.Size() &&
			e.info.ModTime().Equal(other.info.ModTime()))
}

func remove(root *os.Root, e entry) error {
	info, err := root.Lstat(e.path)
	if err != nil {
		return err
	}
	if !e.same(entry{e.path, info}) {
		return prune.Changed
	}
	return root.Remove(e.path)
}

// inventory lists the files at paths; only the first must exist.
func inventory(root *os.Root, paths []string) ([]entry, error) {
	var all []entry
	for i, p := range paths {
		found, err := list(root, p)
		if err != nil && (i == 0 || !errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// list returns the entry at p and, if it is a directory, all below it, whatever bytes the names
// have. It fails with prune.Foreign at a symbolic link, on the way there too.
func list(root *os.Root, p string) (all []entry, err error) {
	at, info := "", fs.FileInfo(nil)
	for name := range strings.SplitSeq(p, "/") {
		at = path.Join(at, name)
		if info, err = root.Lstat(at); err != nil {
			return nil, err
		}
		if info.Mode().Type()&^fs.ModeDir != 0 {
			return nil, prune.Foreign
		}
	}
	return below(root, entry{p, info})
}

// below returns an entry and all below it.
func below(root *os.Root, top entry) ([]entry, error) {
	if top.info.Mode().Type()&^fs.ModeDir != 0 {
		return nil, prune.Foreign
	}
	all := []entry{top}
	if !top.info.IsDir() {
		return all, nil
	}
	dir, err := root.Open(top.path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	slices.Sort(names)
	for _, name := range names {
		at := top.path + "/" + name
		info, err := root.Lstat(at)
		if err != nil {
			return nil, err
		}
		found, err := below(root, entry{at, info})
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, err
}

// lock takes the locks that the tool holds on a session while it has it open: on each file that
// matches the pattern. If there is no such file, no process has the session open.
func lock(root *os.Root, pattern string) (unlock func(), err error) {
	paths, err := fs.Glob(root.FS(), pattern)
	if err != nil {
		return nil, err
	}
	var held []*os.File
	unlock = func() {
		for _, f := range held {
			f.Close()
		}
	}
	for _, path := range paths {
		f, err := openRegular(root, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			held = append(held, f)
			if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err,
				syscall.EWOULDBLOCK) {
				err = prune.Open
			}
		}
		if err != nil {
			unlock()
			return nil, err
		}
	}
	return unlock, nil
}

// openRegular opens a file for reading. Anything but a regular file counts as missing, since
// opening it might block.
func openRegular(root *os.Root, p string) (*os.File, error) {
	f, err := root.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// A Finder finds the files of sessions. It reads the files that keep sessions only once, so each
// run needs a new one.
type Finder struct {
	read map[[2]string]mentions // by home and pattern
}

// mentions are the files of a pattern, by the IDs in their first lines. It fails if one of them
// exists and cannot be read: it might name any session.
type mentions struct {
	files map[string][]string
	err   error
}

// keeps returns why the tool itself still needs the session, nil if it does not.
func (f *Finder) keeps(root *os.Root, s ledger.SessionFile, parts rewrite.SessionFiles) error {
	unlock, err := lock(root, parts.Lock)
	if err != nil {
		return err
	}
	unlock()
	for i, pattern := range slices.Concat(parts.Running, parts.Forks) {
		why := prune.Open
		if i >= len(parts.Running) {
			why = prune.Forked
		}
		m := f.mentions(root, s.Home, pattern)
		if slices.ContainsFunc(m.files[s.NativeID], func(file string) bool {
			return file != parts.Paths[0]
		}) {
			return why
		}
		if m.err != nil {
			return m.err
		}
	}
	return nil
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

func (f *Finder) mentions(root *os.Root, home, pattern string) mentions {
	key := [2]string{home, pattern}
	if m, ok := f.read[key]; ok {
		return m
	}
	m := mentions{files: map[string][]string{}}
	var files []string
	files, m.err = fs.Glob(root.FS(), pattern)
	for _, file := range files {
		line, err := firstLine(root, file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			m.err = err
		}
		for _, id := range anyID.FindAllString(line, -1) {
			m.files[id] = append(m.files[id], file)
		}
	}
	if f.read == nil {
		f.read = map[[2]string]mentions{}
	}
	f.read[key] = m
	return m
}

// maxLine exceeds any first line that a tool writes.
const maxLine = 1 << 20

func firstLine(root *os.Root, file string) (string, error) {
	f, err := openRegular(root, file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, maxLine)).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return line, err
}
