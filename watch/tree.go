package watch

import (
	"io/fs"
	"os"
	"path/filepath"

	"reprise/rewrite"
)

// A tree is one directory with the files below it that are followed.
type tree struct {
	dir, name string
	root      string // if not "": only the file of that name in dir itself, or at last below root
	handle    func(path string, data []byte)
	known     map[fileID]*tail
	looks     int // looks so far
}

func newTree(f rewrite.Follow, handle func(string, []byte)) (*tree, error) {
	if _, err := filepath.Match(f.Name, ""); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(f.Dir)
	if err != nil {
		return nil, err
	}
	t := &tree{dir: dir, name: f.Name, handle: handle, known: map[fileID]*tail{}}
	if f.Root != "" {
		if t.root, err = filepath.Abs(f.Root); err != nil {
			return nil, err
		}
	}
	t.walk(t.note)
	return t, nil
}

// check passes on the new lines of the files, and reports whether there are any files.
func (t *tree) check() (found bool) {
	t.looks++
	t.readOn()
	t.walk(func(path string, info fs.FileInfo) {
		found = true
		t.see(path, info)
	})
	return found
}

// walk visits the files of a tree: first those in a directory itself, then those in the
// subdirectories. It skips unreadable files.
func (t *tree) walk(see func(string, fs.FileInfo)) {
	// Only a directory is opened: a pipe would block.
	if info, err := os.Stat(t.dir); err == nil && info.IsDir() {
		t.walkDirectory(t.dir, see)
	}
}

func (t *tree) walkDirectory(dir string, see func(string, fs.FileInfo)) {
	if t.root != "" {
		path := filepath.Join(dir, t.name)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			see(path, info)
		}
		return
	}
	entries, _ := os.ReadDir(dir) // as far as it can be read
	for _, e := range entries {
		matches, _ := filepath.Match(t.name, e.Name()) // the pattern was checked
		if !matches || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil {
			see(filepath.Join(dir, e.Name()), info)
		}
	}
	for _, e := range entries {
		if e.IsDir() {
			t.walkDirectory(filepath.Join(dir, e.Name()), see)
		}
	}
}
