package watch

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reprise/rewrite"
)

// maxFirst is how many directories are watched from the start: the most recently changed ones.
// Later ones are watched as they appear.
const maxFirst = 256

// A tree is one directory with the files below it that are followed.
type tree struct {
	dir, name string
	root      string // if not "": only the file of that name in dir itself, or at last below root
	tails     *tails
}

func newTree(f rewrite.Follow, handle func(string, []byte)) (*tree, error) {
	if _, err := filepath.Match(f.Name, ""); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(f.Dir)
	if err != nil {
		return nil, err
	}
	t := &tree{dir: dir, name: f.Name, tails: newTails(handle)}
	if f.Root != "" {
		if t.root, err = filepath.Abs(f.Root); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *tree) matches(path string) bool {
	if t.root != "" {
		return path == filepath.Join(t.dir, t.name)
	}
	ok, _ := filepath.Match(t.name, filepath.Base(path)) // the pattern was checked
	return ok
}

func (t *tree) holds(path string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(t.dir, "/")+"/") && t.matches(path)
}

// survey notes all files of a tree, and watches the most recently changed directories, or
// the directory where the tree will appear. A directory's time changes with the files in it.
func (w *Watcher) survey(t *tree) {
	type directory struct {
		path    string
		changed time.Time
	}
	var directories []directory
	t.walk(func(path string) {
		f := directory{path: path}
		if info, err := os.Stat(path); err == nil {
			f.changed = info.ModTime()
		}
		directories = append(directories, f)
	}, func(path string, info fs.FileInfo) {
		t.tails.note(path, info)
		if last := &directories[len(directories)-1]; info.ModTime().After(last.changed) {
			last.changed = info.ModTime()
		}
	})
	if len(directories) > 0 {
		w.watch(t.dir)
	}
	slices.SortFunc(directories, func(a, b directory) int { return b.changed.Compare(a.changed) })
	for i, f := range directories {
		if i < maxFirst {
			w.watch(f.path)
		}
		w.seen[f.path] = true
	}
	w.await(t)
}

// await watches the nearest parent of a tree's directory that is not there yet. If the directory
// has come meanwhile, nothing tells of it, so the tree is to be checked.
func (w *Watcher) await(t *tree) {
	if dir := nearest(t.dir); dir != t.dir {
		w.watch(dir)
		w.dirty = w.dirty || nearest(t.dir) != dir
	}
}

// nearest returns the deepest existing directory on the path to dir.
func nearest(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// walk visits each directory of a tree: first the directory itself, then the tree's files in it,
// then the subdirectories. It skips unreadable files.
func (t *tree) walk(enter func(string), see func(string, fs.FileInfo)) {
	// Only a directory is opened: a pipe would block.
	if info, err := os.Stat(t.dir); err == nil && info.IsDir() {
		t.walkDirectory(t.dir, enter, see)
	}
}

func (t *tree) walkDirectory(dir string, enter func(string), see func(string, fs.FileInfo)) {
	enter(dir)
	if t.root != "" {
		path := filepath.Join(dir, t.name)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			see(path, info)
		}
		return
	}
	entries, _ := os.ReadDir(dir) // as far as it can be read
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.Type().IsRegular() || !t.matches(path) {
			continue
		}
		if info, err := e.Info(); err == nil {
			see(path, info)
		}
	}
	for _, e := range entries {
		if e.IsDir() {
			t.walkDirectory(filepath.Join(dir, e.Name()), enter, see)
		}
	}
}
