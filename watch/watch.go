package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"reprise/rewrite"

	"github.com/fsnotify/fsnotify"
)

// settle is how long changes are collected before files are checked. It counts from the first
// change, so that a file that changes constantly is checked too.
const settle = 5 * time.Millisecond

// readPause is the time between two reads of the growing files when events are no longer used.
const readPause = 200 * time.Millisecond

// A Watcher follows files until it is stopped.
type Watcher struct {
	trees   []*tree
	source  *source // nil if there are no events
	watched map[string]bool
	dirty   map[string]bool // files to check

	relaxing, stopping chan struct{}
	relax, stop        func() // close these channels, once
	done               chan struct{}
}

// Start starts following files. From then on handle is called, always from one goroutine, with a
// file's path and its new content: one line with the newline (the last of a file can lack it), or a
// whole file. A file that is written in place can be passed on half written, and then again. The
// data are valid until handle returns. Files that cannot be read are skipped; an error means that a
// directory or a pattern is invalid.
func Start(follows []rewrite.Follow, handle func(path string, data []byte)) (*Watcher, error) {
	src, _ := newSource() // without events, Stop will find everything
	return begin(follows, handle, src)
}

func begin(follows []rewrite.Follow, handle func(path string, data []byte), src *source) (*Watcher,
	error) {
	w := &Watcher{
		source: src, watched: map[string]bool{}, dirty: map[string]bool{},
		relaxing: make(chan struct{}), stopping: make(chan struct{}), done: make(chan struct{}),
	}
	w.relax = sync.OnceFunc(func() { close(w.relaxing) })
	w.stop = sync.OnceFunc(func() { close(w.stopping) })
	for _, f := range follows {
		t, err := newTree(f, handle)
		if err != nil {
			w.quit()
			return nil, fmt.Errorf("follow %s: %w", filepath.Join(f.Dir, f.Name), err)
		}
		w.trees = append(w.trees, t)
	}
	for _, t := range w.trees {
		w.survey(t, t.files.note)
	}
	go w.loop()
	return w, nil
}

// Relax ends the use of events. From then on the files that have grown are read now and then, and
// all others by Stop. The system takes ten milliseconds to release watches, and would hold up the
// end of the process by them. It can be called again.
func (w *Watcher) Relax() { w.relax() }

// Stop passes on all new lines, and ends. It can be called again.
func (w *Watcher) Stop() {
	w.stop()
	<-w.done
}

// loop owns everything that Start has set up.
func (w *Watcher) loop() {
	defer close(w.done)
	var events <-chan fsnotify.Event
	var lost <-chan struct{}
	if w.source != nil {
		events, lost = w.source.events, w.source.lost
	}
	var settled, reads <-chan time.Time
	relaxing := w.relaxing
	for {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			w.handleEvent(e)
		case <-lost:
			w.rescan()
		case <-settled:
			settled = nil
			w.checkDirty()
		case <-relaxing:
			relaxing, events, lost = nil, nil, nil
			w.quit()
			reads = time.Tick(readPause)
		case <-reads:
			w.readOn()
		case <-w.stopping:
			w.quit()
			w.finish()
			return
		}
		if len(w.dirty) > 0 && settled == nil {
			settled = time.After(settle)
		}
	}
}

// handleEvent handles an event. Directories are entered at once, since new files in them must not
// be missed; files can wait.
func (w *Watcher) handleEvent(e fsnotify.Event) {
	path := filepath.Clean(e.Name)
	if e.Has(fsnotify.Remove | fsnotify.Rename) {
		w.forget(path, e.Has(fsnotify.Remove))
	}
	if !e.Has(fsnotify.Create | fsnotify.Write) {
		return
	}
	info, err := os.Lstat(path)
	for _, t := range w.trees {
		switch {
		case within(t.dir, path):
			w.reach(t)
		case err != nil || !within(path, t.dir):
		case info.IsDir():
			if e.Has(fsnotify.Create) && t.root == "" {
				w.enter(t, path)
			}
		case t.holds(path):
			w.dirty[path] = true
		}
	}
}

// forget drops a path that no longer names a file.
func (w *Watcher) forget(path string, removed bool) {
	for _, t := range w.trees {
		if t.holds(path) {
			t.files.gone(path, removed)
		}
	}
	if w.watched[path] {
		delete(w.watched, path)
		for _, t := range w.trees {
			w.reach(t)
		}
	}
}

func (w *Watcher) checkDirty() {
	for path := range w.dirty {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		for _, t := range w.trees {
			if t.holds(path) {
				t.files.check(path, info)
			}
		}
	}
	clear(w.dirty)
}

// readOn reads the files that have grown before.
func (w *Watcher) readOn() {
	for _, t := range w.trees {
		t.files.readOn()
	}
}

// rescan makes up for lost events.
func (w *Watcher) rescan() {
	for _, t := range w.trees {
		w.survey(t, t.files.check)
	}
}

// finish checks every file once more. A file that is not where it was expected is looked for
// elsewhere.
func (w *Watcher) finish() {
	for _, t := range w.trees {
		found := false
		check := func(path string, info fs.FileInfo) {
			found = true
			t.files.check(path, info)
		}
		t.walk(t.dir, func(string) {}, check)
		if t.root != "" && !found {
			t.dir, t.root = t.root, ""
			t.walk(t.dir, func(string) {}, check)
		}
		t.files.end()
	}
}

// quit stops using events.
func (w *Watcher) quit() {
	if w.source != nil {
		w.source.close()
		w.source = nil
	}
}

// watch subscribes to the events of a directory, if that is possible.
func (w *Watcher) watch(dir string) {
	if w.source == nil || w.watched[dir] || len(w.watched) >= maxWatched {
		return
	}
	switch err := w.source.add(dir); {
	case err == nil:
		w.watched[dir] = true
	case isLimit(err):
		w.quit()
	}
}

// isLimit reports whether any further watch would fail with the same error.
func isLimit(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) ||
		errors.Is(err, syscall.ENFILE)
}
