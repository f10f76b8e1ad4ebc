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

// How many directories are watched: those that changed last, and those that appear
// later. What happens elsewhere is found at the end.
const (
	maxFirst   = 256
	maxWatched = 1024
)

// A tree is one directory with the files below it that are followed.
type tree struct {
	dir, name string
	files     files
}

// files is what is known of the files of a tree, and how they are read.
type files interface {
	note(path string, info fs.FileInfo) // it is there already, and of no interest
	look(path string, info fs.FileInfo) // hand on what is new in it
	gone(path string, removed bool)     // it has no longer that name, or is no more
	end()                               // hand on what was waiting to be complete
}

func newTree(f rewrite.Follow, handle func(string, []byte)) (*tree, error) {
	if _, err := filepath.Match(f.Name, ""); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(f.Dir)
	if err != nil {
		return nil, err
	}
	t := &tree{dir: dir, name: f.Name, files: newWholes(handle)}
	if f.Lines {
		t.files = newTails(handle)
	}
	return t, nil
}

func (t *tree) matches(path string) bool {
	ok, _ := filepath.Match(t.name, filepath.Base(path)) // the pattern was checked
	return ok
}

func (t *tree) holds(path string) bool {
	return path != t.dir && within(path, t.dir) && t.matches(path)
}

// survey sees all files of a tree, and watches the directories that changed last, or
// the one that the tree will appear in. A directory changes with its files.
func (w *Watcher) survey(t *tree, see func(string, fs.FileInfo)) {
	type folder struct {
		path    string
		changed time.Time
	}
	var folders []folder
	t.walk(t.dir, func(path string) {
		f := folder{path: path}
		if info, err := os.Stat(path); err == nil {
			f.changed = info.ModTime()
		}
		folders = append(folders, f)
	}, func(path string, info fs.FileInfo) {
		see(path, info)
		if last := &folders[len(folders)-1]; info.ModTime().After(last.changed) {
			last.changed = info.ModTime()
		}
	})
	if len(folders) == 0 {
		w.reach(t)
		return
	}
	w.watch(t.dir)
	slices.SortFunc(folders, func(a, b folder) int { return b.changed.Compare(a.changed) })
	for _, f := range folders[:min(len(folders), maxFirst)] {
		w.watch(f.path)
	}
}

// reach watches the tree's directory. Where there is none it watches the nearest
// directory above; when the directory has come to be it is entered.
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

// nearest is the lowest directory on the way to dir that exists.
func nearest(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// enter watches a directory that has appeared, and looks at all that is in it
// already.
func (w *Watcher) enter(t *tree, dir string) {
	t.walk(dir, func(path string) { w.watch(path) }, t.files.look)
}

// walk goes through a directory: first the directory itself, then the tree's files in
// it, then the directories. What cannot be read is passed over.
func (t *tree) walk(dir string, enter func(string), see func(string, fs.FileInfo)) {
	// What is no directory is not to be opened: it may be a pipe.
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		t.walkFolder(dir, enter, see)
	}
}

func (t *tree) walkFolder(dir string, enter func(string), see func(string, fs.FileInfo)) {
	enter(dir)
	entries, _ := os.ReadDir(dir) // as far as it can be read
	for _, e := range entries {
		if !e.Type().IsRegular() || !t.matches(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil {
			see(filepath.Join(dir, e.Name()), info)
		}
	}
	for _, e := range entries {
		if e.IsDir() {
			t.walkFolder(filepath.Join(dir, e.Name()), enter, see)
		}
	}
}

func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
