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

// How many directories are watched: the most recently changed ones, and later ones as they appear.
// Changes elsewhere are found at the end.
const (
	maxFirst   = 256
	maxWatched = 1024
)

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
	return path != t.dir && within(path, t.dir) && t.matches(path)
}

// survey notes all files of a tree, and watches the most recently changed directories, or
// the directory where the tree will appear. A directory's time changes with the files in it.
func (w *Watcher) survey(t *tree) {
	type directory struct {
		path    string
		changed time.Time
	}
	var directories []directory
	t.walk(t.dir, func(path string) {
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
	if len(directories) == 0 {
		w.reach(t)
		return
	}
	w.watch(t.dir)
	slices.SortFunc(directories, func(a, b directory) int { return b.changed.Compare(a.changed) })
	for _, f := range directories[:min(len(directories), maxFirst)] {
		w.watch(f.path)
	}
}

// reach watches the tree's directory. If there is none it watches the nearest existing parent and
// enters the directory when it appears.
func (w *Watcher) reach(t *tree) {
	for w.source != nil && !w.watched[t.dir] {
		dir := nearest(t.dir)
		if dir == t.dir {
			w.enter(t, dir)
			return
		}
		w.watch(dir)
		if nearest(t.dir) == dir {
			return
		}
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

// enter watches a directory that has appeared, and checks everything already in it.
func (w *Watcher) enter(t *tree, dir string) {
	t.walk(dir, w.watch, t.tails.check)
}

// walk visits a directory: first the directory itself, then the tree's files in it, then the
// subdirectories. It skips unreadable files.
func (t *tree) walk(dir string, enter func(string), see func(string, fs.FileInfo)) {
	// Only a directory is opened: a pipe would block.
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		t.walkDirectory(dir, enter, see)
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

func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
